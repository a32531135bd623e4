// Goal: what a notice says of a cut is true for whoever reads it, through a whole gate. Method: do what it says, and put the pieces
// together again.

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createGate, defineTool, type Gate, type Outcome } from '../src/index.ts'

const tool = (name: string, run: () => unknown) =>
  defineTool({
    ...{ name, version: '1.0.0', description: `Answers with ${name}.`, input: z.object({}), effect: 'read' as const },
    run: async () => run(),
  })

const lines = Array.from({ length: 3_000 }, (_, at) => `line ${at} of a result`).join('\n')
const list = Array.from({ length: 6_000 }, (_, id) => [id, { id }])
const ONE = 'éx'.repeat(40_000)
const TOOLS = [
  tool('lines', () => lines),
  tool('list', () => list),
  tool('one', () => ONE),
  tool('colours', () => '\u001b[32mok\u001b[0m\n'.repeat(30_000)),
]

const textOf = ({ content }: Outcome): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')

async function within<Value>(options: Parameters<typeof createGate>[0], use: (gate: Gate) => Promise<Value>) {
  const gate = await createGate({ tools: TOOLS, ...options })
  try {
    return await use(gate)
  } finally {
    await gate.close()
  }
}

describe('said-cut: the way on that a notice names', () => {
  test.each(['lines', 'list', 'one', 'colours'])('of %s leads to all of it', (name) =>
    within({}, async (gate) => {
      const session = gate.session({ user: 'ana' })
      const outcome = await session.call({ name, arguments: {} })
      const { truncated } = outcome.meta
      expect(Buffer.byteLength(textOf(outcome))).toBeLessThanOrEqual(48 * 1024)
      const asked = /read_artifact (\{.*?\})/.exec(truncated?.next ?? '')?.[1] ?? ''
      let request = JSON.parse(asked) as { id: string; unit: string; from: number }
      expect(request.from).toBe(truncated?.kept[0]?.to)
      const pieces: unknown[] = []
      for (let page = 0; page < 50; page += 1) {
        const read = await session.call({ name: 'read_artifact', arguments: request })
        if (!read.ok) throw new Error(read.error.message)
        const value = read.value as { text?: string; rows?: unknown[]; next?: number }
        pieces.push(...(value.rows ?? [value.text]))
        if (value.next === undefined) break
        request = { ...request, from: value.next }
      }
      if (name === 'list') expect(pieces).toEqual(list.slice(truncated?.kept[0]?.to))
      if (name === 'lines') expect(lines.endsWith(pieces.join('').trimEnd())).toBe(true)
      if (name === 'one') expect(`${ONE.slice(0, ONE.length - pieces.join('').length)}${pieces.join('')}`).toBe(ONE)
      if (name === 'colours') expect(pieces.join('')).toBe('ok\n'.repeat(30_000 - (truncated?.kept[0]?.to ?? 0)))
    }),
  )

  test('is none where nothing is kept', () =>
    within({ artifacts: false }, async (gate) => {
      const outcome = await gate.session().call({ name: 'lines', arguments: {} })
      expect(outcome.meta.truncated?.next).toContain('ask for a smaller part')
      expect(textOf(outcome)).not.toContain('read_artifact')
      expect(outcome.meta).not.toHaveProperty('artifact')
    }))
})

describe('L74: a turn', () => {
  test('has one budget, whatever its calls are', () =>
    within({ limits: { turnBytes: 30_000 } }, async (gate) => {
      const calls = ['lines', 'nothing', 'list', 'one', 'colours'].map((name) => ({ name, arguments: {} }))
      const outcomes = await gate.session({ user: 'ana' }).turn(calls)
      const bytes = outcomes.map((outcome) => Buffer.byteLength(textOf(outcome)))
      expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(30_000)
      expect(Math.min(...bytes.filter((_one, at) => at !== 1))).toBeGreaterThan(6_000)
      expect(outcomes.map(({ meta }) => meta.truncated?.layer)).toEqual([
        ...['turn budget', undefined, 'turn budget', 'turn budget', 'turn budget'],
      ])
      for (const { meta, ok } of outcomes) expect(meta.artifact !== undefined).toBe(ok)
    }))

  test('of one call is held to the budget of a result', () =>
    within({}, async (gate) => {
      const [outcome] = await gate.session().turn([{ name: 'one', arguments: {} }])
      expect(outcome?.meta.truncated?.layer).toBe('result budget')
    }))
})

describe('tokens', () => {
  const counted = (countTokens?: (text: string) => number) =>
    within(countTokens === undefined ? {} : { countTokens }, async (gate) => {
      const { meta } = await gate.session().call({ name: 'lines', arguments: {} })
      return meta.tokens ?? -1
    })

  test('are counted by the counter of the host, and estimated where it fails', async () => {
    const estimate = await counted()
    expect(estimate).toBeGreaterThan(10_000)
    expect(await counted(() => 7)).toBeLessThan(15)
    expect(
      await counted(() => {
        throw new Error('no')
      }),
    ).toBe(estimate)
    expect(await counted(() => Number.NaN)).toBe(estimate)
  })
})
