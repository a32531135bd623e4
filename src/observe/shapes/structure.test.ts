import { describe, expect, test } from 'vitest'
import type { Call, Ending } from '../../describe/call.ts'
import { textBytes } from '../fit-content.ts'
import type { Whole } from '../keep-whole.ts'
import { Shaper } from '../shape.ts'

const call = (entrance: string, tool: object): Call =>
  ({
    ...{ id: 'c', runId: 'r', request: { name: 't', entrance }, openedAtMs: 0, openedMonotonicMs: 0 },
    trail: { attempts: 1, marks: {}, entry: { tool } },
  }) as unknown as Call
const value = { list: Array.from({ length: 500 }, (_, id) => id) }
const text = JSON.stringify(value)

async function shaped(entrance: string, tool: object, ending: Ending) {
  const wholes: Whole[] = []
  const keepWhole = async (_call: Call, whole: Whole) => {
    wholes.push(whole)
    return { kind: 'kept', id: `art_${wholes.length}` } as const
  }
  const shaper = new Shaper({
    clock: { monotonic: () => 0 },
    resultBytes: 1_000,
    structuredBytes: 1_000,
    turnBytes: 2_000,
    keepWhole,
  })
  const outcome = await shaper.shape(call(entrance, tool), ending)
  const said = outcome.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  return { outcome, wholes, said }
}

describe('a structured value above the budget', () => {
  const short: Ending = { kind: 'value', value, content: [{ type: 'text', text: '500 numbers' }] }

  test('said-cut: is left out for a client that gets it beside the content, kept, and the content says so', async () => {
    const { outcome, wholes, said } = await shaped('mcp', { output: {} }, short)
    expect(outcome.meta).toMatchObject({ valueTooLarge: true, artifact: 'art_1' })
    expect(wholes).toEqual([{ mediaType: 'application/json', content: text }])
    expect(said).toContain(`${text.length} bytes`)
    expect(said).toContain('read_artifact {"id": "art_1"}')
    expect(outcome.ok && outcome.value).toBe(value)
  })

  test('is said once, also where an answer is given again', async () => {
    const first = await shaped('mcp', { output: {} }, short)
    const again = await shaped('mcp', { output: {} }, { kind: 'value', value, content: first.outcome.content })
    expect(again.said).toBe(first.said)
    expect(again.outcome.meta.valueTooLarge).toBe(true)
  })

  test('is kept once where the content is a part of it', async () => {
    const { outcome, wholes } = await shaped('mcp', { output: {} }, { kind: 'value', value })
    expect(wholes).toHaveLength(1)
    expect(textBytes(outcome.content)).toBeLessThanOrEqual(1_000)
  })

  test('of an upstream without a schema is the part that it gave so', async () => {
    const both = { content: [], structuredContent: value }
    const { outcome, wholes } = await shaped('mcp', { place: 'upstream' }, { ...short, value: both })
    expect(outcome.meta.valueTooLarge).toBe(true)
    expect(wholes[0]?.content).toBe(text)
  })

  test.each([
    ['through the library', 'library', { output: {} }],
    ['of a tool without a schema', 'mcp', {}],
  ])('%s stays as it is', async (_name, entrance, tool) => {
    const { outcome, wholes, said } = await shaped(entrance, tool, short)
    expect(outcome.meta).not.toHaveProperty('valueTooLarge')
    expect([wholes, said]).toEqual([[], '500 numbers'])
  })
})
