import { describe, expect, test } from 'vitest'
import { ToolFailure } from '../../describe/tool-failure.ts'
import { ToolResult } from '../../describe/tool-result.ts'
import { answerCall } from './answer-call.ts'
import type { UpstreamTool } from './offer-tools.ts'
import { presentAnswer, readResult } from './read-result.ts'
import type { CallEnd } from './upstream-connection.ts'

const tool = (given: Partial<UpstreamTool> = {}): UpstreamTool => ({
  server: 's',
  name: 't',
  inputSchema: { type: 'object' },
  hasOutputSchema: false,
  reads: false,
  digest: 'd',
  ...given,
})
const failureOf = (end: CallEnd, given: Partial<UpstreamTool> = {}) => {
  const answer = answerCall(tool(given), end)
  if (!(answer instanceof ToolFailure)) throw new Error('it is no failure')
  return answer.options
}

describe('a result that is none of MCP is withheld', () => {
  test.each([
    ['nothing', undefined],
    ['a list', []],
    ['content that is no list', { content: 'x' }],
    ['no content at all', {}],
    ['an unknown kind of content', { content: [{ type: 'evil' }] }],
    ['content without a kind', { content: [{ text: 'x' }] }],
    ['a text that is none', { content: [{ type: 'text', text: 7 }] }],
    ['an image that is no Base64', { content: [{ type: 'image', data: '%%%', mimeType: 'image/png' }] }],
    ['an image of no type', { content: [{ type: 'image', data: 'aGk=' }] }],
    ['a resource without an address', { content: [{ type: 'resource', resource: { text: 'x' } }] }],
    ['a resource without content', { content: [{ type: 'resource', resource: { uri: 'file:///x' } }] }],
    ['a link without a name', { content: [{ type: 'resource_link', uri: 'file:///x' }] }],
    ['an error flag that is none', { content: [], isError: 'no' }],
    ['one bad part among good ones', { content: [{ type: 'text', text: 'x' }, { type: 'evil' }] }],
  ])('%s', (_what, result) => {
    expect(readResult(result).kind).toBe('malformed')
    expect(failureOf({ kind: 'result', result })).toMatchObject({ type: 'tool_crashed', effect: 'unknown' })
  })

  test('every kind of content comes through part by part, with what else it carries', () => {
    const content = [
      { type: 'text', text: 'x', annotations: { audience: ['user'] } },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'audio', data: 'aGk', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'file:///etc/passwd', name: 'a link, which is not followed' },
      { type: 'resource', resource: { uri: 'x:y', text: 'x', _meta: { a: 1 } } },
    ]
    expect(readResult({ content })).toMatchObject({ kind: 'ok', content })
  })
})

describe('the end of an upstream call', () => {
  test('a failure that the upstream reports keeps its own content whole', () => {
    const content = [{ type: 'text', text: 'the disk is full' }]
    expect(failureOf({ kind: 'result', result: { content, isError: true } }, { hasOutputSchema: true })).toMatchObject({
      code: 'upstream_error',
      content,
      effect: 'unknown',
    })
  })

  test('with an output schema the structured part is the value, and a missing one is no value', () => {
    const result = { content: [{ type: 'text', text: 'x' }], structuredContent: { temp: 1.5 } }
    expect(answerCall(tool({ hasOutputSchema: true }), { kind: 'result', result })).toEqual(
      new ToolResult({ temp: 1.5 }, result.content as never),
    )
    expect(answerCall(tool({ hasOutputSchema: true }), { kind: 'result', result: { content: [] } })).toEqual(
      new ToolResult(undefined, []),
    )
  })

  test('G28: where an upstream writes no content, what the model reads is made of the clean value', () => {
    const result = { content: [], structuredContent: [{ id: 1 }] }
    expect(answerCall(tool({ hasOutputSchema: true }), { kind: 'result', result })).toEqual([{ id: 1 }])
    const value = answerCall(tool(), { kind: 'result', result })
    expect(value).toEqual({ content: [], structuredContent: [{ id: 1 }] })
    expect(presentAnswer(value)).toEqual({ content: [{ type: 'text', text: '[{"id":1}]' }] })
  })

  test('without an output schema the value holds the content, and the structure where there is one', () => {
    const content = [{ type: 'text', text: 'x' }]
    expect(answerCall(tool(), { kind: 'result', result: { content } })).toMatchObject({ value: { content } })
    expect(answerCall(tool(), { kind: 'result', result: { content, structuredContent: [1] } })).toMatchObject({
      value: { content, structuredContent: [1] },
    })
  })

  test.each([
    [
      { kind: 'lost', reason: 'gone' },
      { type: 'outcome_unknown', effect: 'unknown', retry: 'never' },
      { type: 'tool_crashed', effect: 'none', retry: 'safe' },
    ],
    [{ kind: 'left' }, { type: 'outcome_unknown', effect: 'unknown' }, { type: 'tool_crashed', effect: 'none' }],
    [
      { kind: 'unsent', reason: 'refused' },
      { type: 'unavailable', effect: 'none' },
      { type: 'unavailable', effect: 'none' },
    ],
    [
      { kind: 'lost', reason: 'gone', limits: ['memoryBytes'] },
      { type: 'outcome_unknown', effect: 'unknown', details: { limit: 'memoryBytes' } },
      { type: 'tool_crashed', effect: 'none', details: { limit: 'memoryBytes' } },
    ],
    // A server that blames the request works.
    [
      { kind: 'refused', code: -32602, reason: 'no' },
      { type: 'tool_error', effect: 'unknown' },
      { type: 'tool_error', effect: 'none' },
    ],
    [
      { kind: 'refused', code: -32603, reason: 'no' },
      { type: 'tool_crashed', effect: 'unknown' },
      { type: 'tool_crashed', effect: 'none' },
    ],
    [
      { kind: 'malformed', reason: 'no' },
      { type: 'tool_crashed', effect: 'unknown' },
      { type: 'tool_crashed', effect: 'none' },
    ],
    [{ kind: 'oversized' }, { type: 'oversized', effect: 'unknown' }, { type: 'oversized', effect: 'none' }],
    [
      { kind: 'needs-input' },
      { code: 'input_required', effect: 'unknown' },
      { code: 'input_required', effect: 'none' },
    ],
  ] as const)('%j: an effect that nobody saw is unknown, unless the tool only reads', (end, acting, reading) => {
    expect(failureOf(end)).toMatchObject(acting)
    expect(failureOf(end, { reads: true })).toMatchObject(reading)
  })

  test('what the upstream says of its own faults is for the operator and not for the model', () => {
    const { message, help } = failureOf({ kind: 'refused', code: -32000, reason: 'at /srv/secret.js:7' })
    expect(message).not.toContain('secret')
    expect(help).toContain('secret')
  })
})
