// Goal: the checker says of every keyword what the official JSON Schema test suite says, in each dialect that it reads.
// Method: a checkout of the suite (github.com/json-schema-org/JSON-Schema-Test-Suite), named by JSON_SCHEMA_SUITE; without
// one this is skipped, since no registry carries the suite in a form that installs. Each case stands below a property,
// because arguments are objects. Left out by design: references to other documents, dynamic references whose target depends
// on the way, `__proto__` as a property, other meta-schemas; the code point rules of IDNA in the
// host name formats; and in draft 6 and 7 a constraint beside `$ref` holds, where the standard has it ignored.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compileCheck } from '../src/describe/schema/compile-check.ts'

const suite = process.env.JSON_SCHEMA_SUITE
const DIALECTS = {
  'draft2020-12': 'https://json-schema.org/draft/2020-12/schema',
  'draft2019-09': 'https://json-schema.org/draft/2019-09/schema',
  draft7: 'http://json-schema.org/draft-07/schema#',
  draft6: 'http://json-schema.org/draft-06/schema#',
} as const
const OTHER_RULES =
  /only an annotation by default|A-label|internationalized host names|C1 control in the local part|private-use char in query|ref overrides any sibling keywords/

type Group = {
  readonly description: string
  readonly schema: unknown
  readonly tests: readonly { readonly description: string; readonly data: never; readonly valid: boolean }[]
}

function below(schema: unknown, $schema: string): object {
  const inner = typeof schema === 'object' ? { $id: 'https://suite.example/inner', ...schema } : schema
  return {
    $schema,
    $id: 'https://suite.example/root',
    type: 'object',
    properties: { v: { $ref: '#/$defs/s' } },
    $defs: { s: inner },
  }
}

describe.skipIf(suite === undefined)('the official JSON Schema test suite', () => {
  test.each(Object.entries(DIALECTS))('%s', (dialect, $schema) => {
    const wrong: string[] = []
    let right = 0
    for (const folder of [dialect, `${dialect}/optional/format`]
      .map((name) => join(suite ?? '', 'tests', name))
      .filter((path) => existsSync(path))) {
      for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
        for (const group of JSON.parse(readFileSync(join(folder, file), 'utf8')) as readonly Group[]) {
          const check = compileCheck(below(group.schema, $schema) as never, { trusted: false })
          if (check.kind === 'bad') continue
          for (const one of group.tests) {
            const result = check.check({ v: one.data })
            if ('kind' in result && (result.kind === 'ok') === one.valid) right += 1
            else if (!OTHER_RULES.test(`${group.description} ${one.description}`))
              wrong.push(`${file}: ${group.description}: ${one.description}`)
          }
        }
      }
    }
    console.log(`${dialect}: ${right} right`)
    expect(wrong).toEqual([])
    expect(right).toBeGreaterThan(1_000)
  })
})
