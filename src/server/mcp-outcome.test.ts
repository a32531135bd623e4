import { describe, expect, test } from 'vitest'
import type { ToolListing } from '../describe/entry.ts'
import type { Outcome, OutcomeError } from '../describe/outcome.ts'
import { ERROR_META, mcpAnswer } from './mcp-outcome.ts'

const common = {
  content: [{ type: 'text', text: 'seen' }],
  elapsedMs: 1,
  meta: { callId: 'c', runId: 'r', tool: 't', attempts: 1 },
} as const
const error: OutcomeError = {
  type: 'tool_error',
  message: 'no',
  retry: { advice: 'never' },
  effect: 'none',
  fatal: false,
  help: 'rule 3 of /etc/gate.yaml',
  details: { code: 'x' },
}
const failed = (given: Partial<OutcomeError>): Outcome => ({ ...common, ok: false, error: { ...error, ...given } })
const listing = (outputSchema?: object): ToolListing => ({
  name: 't',
  description: 'd',
  inputSchema: {},
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as never }),
})

describe('an outcome as MCP says it', () => {
  test('a failure is a result that says so, typed beside its text, and what is for the operator stays here', () => {
    const answer = mcpAnswer(failed({}), listing())
    expect(answer).toEqual({
      kind: 'result',
      result: {
        content: common.content,
        isError: true,
        _meta: {
          [ERROR_META]: {
            type: 'tool_error',
            message: 'no',
            retry: { advice: 'never' },
            effect: 'none',
            fatal: false,
            details: { code: 'x' },
          },
        },
      },
    })
    expect(JSON.stringify(answer)).not.toContain('/etc/gate.yaml')
  })

  test.each(['permission_denied', 'approval_required', 'invalid_args', 'unavailable', 'timeout', 'internal'] as const)(
    '`%s` is a result',
    (type) => {
      expect(mcpAnswer(failed({ type }), listing())).toMatchObject({
        kind: 'result',
        result: { isError: true, _meta: { [ERROR_META]: { type } } },
      })
    },
  )

  test('only an unknown tool is an error of the protocol', () => {
    expect(mcpAnswer(failed({ type: 'not_found' }), undefined)).toEqual({ kind: 'unknown-tool', message: 'no' })
  })

  test('a value is sent as structure exactly where the tool lists an output schema', () => {
    const outcome: Outcome = { ...common, ok: true, value: { n: 1 } }
    expect(mcpAnswer(outcome, listing())).toEqual({ kind: 'result', result: { content: common.content } })
    expect(mcpAnswer(outcome, listing({ type: 'object' }))).toEqual({
      kind: 'result',
      result: { content: common.content, structuredContent: { n: 1 } },
    })
  })
})
