// Goal: the reference of error types is the table in the code, and a type once published keeps its name and meaning.
// Method: write docs/error-types.md from the table (`npx vitest run test/error-types-doc.test.ts -u` renews it), and pin the list.

import { describe, expect, test } from 'vitest'
import { ERROR_TYPES, type ErrorType, STAGES, type Stage } from '../src/describe/error-types.ts'

/** Names that an earlier version published and no longer uses. They never come back with another meaning. */
const RETIRED: readonly string[] = []

const ABOUT_STAGE: Readonly<Record<Stage, string>> = {
  discover: 'Is there such a tool, and can it be called now?',
  authorize: 'May this caller do this?',
  validate: 'Do the arguments hold?',
  audit: 'Is the question answered, and can the record be kept?',
  execute: 'What became of the run?',
  observe: 'A fault of the gate itself.',
}

const rows = Object.entries(ERROR_TYPES).map(([type, row]) => ({ type, ...row }))

function reference(): string {
  const sections = STAGES.map((stage) => {
    const lines = rows
      .filter((row) => row.stage === stage)
      .map(({ type, retry, http, means }) => `| \`${type}\` | \`${retry}\` | ${http} | ${means} |`)
    return [`## ${stage}`, '', ABOUT_STAGE[stage], '', '| Type | Retry | HTTP | Means |', '|---|---|---|---|', ...lines]
  })
  return `${[HEAD, ...sections.map((lines) => lines.join('\n'))].join('\n\n')}\n`
}

const HEAD = `# Error types

<!-- Generated from src/describe/error-types.ts by test/error-types-doc.test.ts. Do not edit by hand. -->

Every call that does not succeed ends as exactly one of these ${rows.length} types, in \`outcome.error.type\`. The page
[lifecycle](lifecycle.md) shows at which fork of a call each one arises.

- **Retry** is the usual \`error.retry.advice\`: \`never\` (the same call will end the same way, or must not be repeated),
  \`fix_args\` (mend the arguments), \`ask\` (a person has to answer), \`later\` (the same call may work later), \`safe\`
  (repeating does no harm). A single failure may carry other advice than its type: a read that timed out says \`safe\`.
- **HTTP** is the status of the type where an HTTP interface reports it as a problem of its own.
- Whether anything happened is never to be read off the type: \`error.effect\` says \`none\`, \`done\` or \`unknown\`.`

describe('the reference of error types', () => {
  test('docs/error-types.md is what the table says', async () => {
    await expect(reference()).toMatchFileSnapshot('../docs/error-types.md')
  })

  test('the list is pinned: a type is added on purpose, and none disappears unnoticed', () => {
    expect(rows.map(({ type }) => type)).toEqual([
      'not_found',
      'permission_denied',
      'approval_required',
      'approval_declined',
      'approval_expired',
      'invalid_args',
      'unsafe_args',
      'oversized',
      'input_required',
      'rate_limited',
      'busy',
      'unavailable',
      'timeout',
      'cancelled',
      'tool_error',
      'tool_crashed',
      'output_invalid',
      'outcome_unknown',
      'key_conflict',
      'audit_unavailable',
      'internal',
    ] satisfies ErrorType[])
    expect(rows).toHaveLength(21)
  })

  test('a retired name is never used again', () => {
    expect(RETIRED.filter((name) => Object.hasOwn(ERROR_TYPES, name))).toEqual([])
    expect(new Set(RETIRED).size).toBe(RETIRED.length)
  })
})
