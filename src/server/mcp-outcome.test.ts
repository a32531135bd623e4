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

  describe('G28: structure and content stay in step', () => {
    const upstream = (value: unknown, content: Outcome['content'] = []): Outcome => ({
      ...common,
      ...{ ok: true, value, content },
      meta: { ...common.meta, place: 'upstream' },
    })

    test('what an upstream gave as structured goes on, with a schema or without', () => {
      const both = { content: [], structuredContent: [1, 2] }
      expect(mcpAnswer(upstream(both, common.content), listing())).toEqual({
        kind: 'result',
        result: { content: common.content, structuredContent: [1, 2] },
      })
      expect(mcpAnswer(upstream({ content: [] }, common.content), listing())).toEqual({
        kind: 'result',
        result: { content: common.content },
      })
    })

    test('a value of a tool of ours that only looks like one does not', () => {
      const outcome: Outcome = { ...common, ok: true, value: { content: [], structuredContent: [1] } }
      expect(mcpAnswer(outcome, listing())).toEqual({ kind: 'result', result: { content: common.content } })
    })

    test('where nobody wrote content, the structure is its text', () => {
      expect(mcpAnswer(upstream([{ id: 1 }]), listing({ type: 'array' }))).toEqual({
        kind: 'result',
        result: { content: [{ type: 'text', text: '[{"id":1}]' }], structuredContent: [{ id: 1 }] },
      })
    })

    test('a structure above the budget is left out, and no client takes that for a broken result', () => {
      const large: Outcome = {
        ...common,
        ok: true,
        value: { a: 1 },
        meta: { ...common.meta, effect: 'write', valueTooLarge: true },
      }
      expect(mcpAnswer(large, listing({ type: 'object' }))).toMatchObject({
        kind: 'result',
        result: {
          content: common.content,
          isError: true,
          _meta: { [ERROR_META]: { type: 'oversized', effect: 'done' } },
        },
      })
      expect(mcpAnswer(large, listing({ type: 'object' }))).not.toHaveProperty('result.structuredContent')
    })
  })
})
