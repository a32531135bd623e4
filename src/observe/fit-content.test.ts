// Goal: no result leaves the gate above its budget, nothing is cut in silence, no character is broken and no JSON.
// Method: chosen shapes of content, then random ones, each through the shaper with its notices.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Call, Ending } from '../describe/call.ts'
import { type ContentPart, textPart } from '../describe/content.ts'
import type { Outcome } from '../describe/outcome.ts'
import { partBytes } from './fit-content.ts'
import type { KeepWhole, Whole } from './keep-whole.ts'
import { Shaper } from './shape.ts'

const call = (more: Partial<Call['request']> = {}): Call =>
  ({
    ...{ id: 'c', runId: 'r', request: { name: 't', entrance: 'library', ...more } },
    ...{ openedAtMs: 0, openedMonotonicMs: 0, trail: { attempts: 1, marks: {} } },
  }) as unknown as Call

type Options = { readonly resultBytes?: number; readonly turnBytes?: number; readonly keepWhole?: KeepWhole }

const shaper = ({ resultBytes = 1_000, turnBytes = 2_000, ...more }: Options = {}): Shaper =>
  new Shaper({ clock: { monotonic: () => 0 }, resultBytes, turnBytes, ...more })

const shaped = async (ending: Ending, options: Options = {}, from = call()): Promise<Outcome> =>
  shaper(options).shape(from, ending)
const parts = (content: readonly ContentPart[]): Ending => ({ kind: 'value', value: undefined, content })
const value = (given: unknown): Ending => ({ kind: 'value', value: given })

const isMedia = ({ type }: ContentPart): boolean => type === 'image' || type === 'audio'
const total = ({ content }: Outcome): number =>
  content.reduce((sum, part) => sum + (isMedia(part) ? 0 : partBytes(part)), 0)
const textOf = ({ content }: Outcome): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')

/** Keeps everything, and remembers it. */
function keeping(): { readonly keepWhole: KeepWhole; readonly wholes: Whole[] } {
  const wholes: Whole[] = []
  return {
    wholes,
    keepWhole: async (_call, whole) => {
      wholes.push(whole)
      return { kind: 'kept', id: `art_${String(wholes.length).padStart(32, '0')}` }
    },
  }
}

describe('a result within its budget', () => {
  test('is left alone', async () => {
    const outcome = await shaped(parts([textPart('short'), textPart('also')]))
    expect(outcome.content).toEqual([textPart('short'), textPart('also')])
    expect(outcome.meta).not.toHaveProperty('truncated')
    expect(outcome.meta.tokens).toBe(3)
  })

  test('said-cut: a cut names the layer, both sizes, the ranges and the digest', async () => {
    const outcome = await shaped(value('a line of text\n'.repeat(400)))
    const { truncated } = outcome.meta
    expect(truncated).toMatchObject({ layer: 'result budget', originalBytes: 6_000, unit: 'lines', originalUnits: 400 })
    const [range] = truncated?.kept ?? []
    expect(textOf(outcome)).toContain(`${truncated?.keptBytes} of 6000 bytes`)
    expect(textOf(outcome)).toContain(`the first ${range?.to} of 400 lines`)
    expect(textOf(outcome)).toContain(truncated?.digest)
    expect(textOf(outcome).startsWith('a line of text\n'.repeat(range?.to ?? 0))).toBe(true)
    expect(total(outcome)).toBeLessThanOrEqual(1_000)
  })

  test('L76: the notice names who cut, what is shown, and a way on that this caller has', async () => {
    const { keepWhole, wholes } = keeping()
    const text = 'x\n'.repeat(20_000)
    const outcome = await shaped(value(text), { keepWhole })
    expect(wholes).toEqual([{ mediaType: 'text/plain', content: text }])
    expect(outcome.meta.artifact).toBe(`art_${'1'.padStart(32, '0')}`)
    expect(textOf(outcome)).toMatch(
      /cut by the result budget: .*read_artifact \{"id": "art_0+1", "unit": "lines", "from": \d+\}/,
    )
    const refused = await shaped(value(text), { keepWhole: async () => ({ kind: 'refused', why: 'it is too large' }) })
    expect(textOf(refused)).toContain('the whole is not kept: it is too large')
    expect(textOf(refused)).not.toContain('read_artifact')
    expect(refused.meta).not.toHaveProperty('artifact')
  })

  test('L72: one line of 24 MB is held to the budget', async () => {
    const outcome = await shaped(value('é'.repeat(12 * 1024 * 1024)), { resultBytes: 48 * 1024 })
    expect(total(outcome)).toBeLessThanOrEqual(48 * 1024)
    expect(outcome.meta.truncated).toMatchObject({ unit: 'bytes', originalBytes: 24 * 1024 * 1024 })
  })

  test('L73: the budget holds for the sum of two parts of 1 MB, and both are seen', async () => {
    const outcome = await shaped(parts([textPart('y'.repeat(1_048_576)), textPart('z'.repeat(1_048_576))]), {
      resultBytes: 48 * 1024,
    })
    expect(total(outcome)).toBeLessThanOrEqual(48 * 1024)
    expect(outcome.meta.truncated?.originalBytes).toBe(2 * 1_048_576)
    expect(textOf(outcome)).toMatch(/y{1000}[\s\S]*z{1000}/)
  })

  test('a small part beside a large one stays whole', async () => {
    const outcome = await shaped(parts([textPart('y'.repeat(10_000)), textPart('the end')]))
    expect(outcome.content).toContainEqual(textPart('the end'))
  })

  test('a line that fits is never cut inside, one that alone is too large is', async () => {
    const lines = await shaped(value(`${'a'.repeat(300)}\n`.repeat(10)))
    expect(
      textOf(lines)
        .split('\n')
        .filter((line) => /^a+$/.test(line))
        .every((line) => line.length === 300),
    ).toBe(true)
    const long = await shaped(value(`first\n${'b'.repeat(5_000)}`))
    expect(textOf(long)).toMatch(/^first\nb{100}/)
  })

  test('a failure is cut at its middle, and its message is no way around the budget', async () => {
    const message = `start${'x'.repeat(5_000)}end`
    const outcome = await shaped({
      kind: 'failure',
      error: { type: 'tool_error', message, retry: { advice: 'never' }, effect: 'none', fatal: false },
    })
    expect(textOf(outcome)).toMatch(/^start[\s\S]*left out[\s\S]*end/)
    expect(outcome.ok ? '' : outcome.error.message).toMatch(/^start.* \[cut from 5008 bytes\]$/)
  })

  test('what a remark takes is taken off the budget', async () => {
    const remark = '[this call has been made 5 times]'
    const made = call()
    const noted = new Shaper({
      ...{ clock: { monotonic: () => 0 }, resultBytes: 1_000, turnBytes: 2_000 },
      remarkOn: () => remark,
    })
    const outcome = await noted.shape(made, value('z'.repeat(5_000)))
    expect(outcome.content.at(-1)).toEqual(textPart(remark))
    expect(total(outcome)).toBeLessThanOrEqual(1_000)
  })
})

describe('JSON', () => {
  test('is cut between elements, and what is left of it is JSON', async () => {
    const given = { list: Array.from({ length: 500 }, (_, id) => ({ id, nested: { id } })), more: true }
    const outcome = await shaped(value(given))
    const [first] = outcome.content
    const kept = JSON.parse(first?.type === 'text' ? first.text : '') as typeof given
    expect(given.list.slice(0, kept.list.length)).toEqual(kept.list)
    expect(kept.list.length).toBeGreaterThan(5)
    expect(outcome.ok && outcome.value).toBe(given)
  })

  test('a list says how many of its elements are shown, and is paged on by them', async () => {
    const { keepWhole, wholes } = keeping()
    const given = Array.from({ length: 900 }, (_, id) => [id, { id }])
    const outcome = await shaped(value(given), { keepWhole })
    const { truncated } = outcome.meta
    expect(truncated).toMatchObject({ unit: 'rows', originalUnits: 900 })
    expect(truncated?.next).toContain(`"unit": "rows", "from": ${truncated?.kept[0]?.to}`)
    expect(wholes).toEqual([{ mediaType: 'application/json', content: JSON.stringify(given) }])
  })

  test('in a text of somebody else it is cut like that too', async () => {
    const text = JSON.stringify(
      Array.from({ length: 900 }, (_, id) => ({ id, name: `name ${id}` })),
      undefined,
      2,
    )
    const [first] = (await shaped(parts([textPart(text)]))).content
    expect(Array.isArray(JSON.parse(first?.type === 'text' ? first.text : ''))).toBe(true)
  })
})

describe('a table', () => {
  test.each([
    ['without rows, with a cursor larger than the budget', { rows: [], nextCursor: 'x'.repeat(5_000) }],
    ['with rows and such a cursor', { rows: [{ a: 1 }], nextCursor: 'x'.repeat(5_000) }],
    ['with a name larger than the budget', [{ ['x'.repeat(5_000)]: 1 }]],
  ])('%s stays within it', async (_name, given) => {
    const outcome = await shaped(value(given))
    expect(total(outcome)).toBeLessThanOrEqual(1_000)
    expect(outcome.meta.truncated?.kept).toEqual([])
    expect(textOf(outcome)).toContain('cut by')
  })

  test.each([
    [
      'columns',
      [Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`c${at}`, at]))],
      '6 more columns are not shown',
    ],
    ['what stands beside the rows', { rows: [{ a: 1 }], note: 'x'.repeat(2_000) }, '…'],
  ])('said-cut: %s that are left out are said, with a way to them', async (_name, given, said) => {
    const outcome = await shaped(value(given), { ...keeping(), resultBytes: 10_000 })
    expect(outcome.meta.truncated).toMatchObject({ layer: 'presentation', unit: 'bytes', kept: [] })
    expect(textOf(outcome)).toContain(said)
    expect(textOf(outcome)).toMatch(/cut by the default presentation.*read_artifact.*"unit": "bytes", "from": 0/)
  })
})

describe('images, audio and other bytes', () => {
  const image = (bytes: number): ContentPart => ({ type: 'image', data: 'A'.repeat(bytes), mimeType: 'image/png' })

  test('have a cap of their own and are shown whole', async () => {
    const content = [textPart('before'), image(200_000)]
    const outcome = await shaped(parts(content))
    expect(outcome.content).toEqual(content)
    expect(outcome.display).toMatchObject({ kind: 'image', mimeType: 'image/png' })
  })

  test('what is too large is withheld whole, counted and kept', async () => {
    const { keepWhole, wholes } = keeping()
    const content = [textPart('before'), image(2_000_000), image(3_000_000)]
    const outcome = await shaped(parts(content), { keepWhole })
    expect(textOf(outcome)).toContain('before')
    expect(textOf(outcome)).toContain('2 image')
    expect(outcome.content.some(isMedia)).toBe(false)
    expect(JSON.parse(String(wholes[0]?.content))).toEqual(content)
    expect(outcome.meta.truncated).toMatchObject({ unit: 'parts', originalUnits: 3, kept: [{ from: 0, to: 1 }] })
  })

  test('an embedded text is cut and stays what it is', async () => {
    const resource = { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'é"\n'.repeat(2_000) }
    const outcome = await shaped(parts([{ type: 'resource', resource }]))
    const [first] = outcome.content
    expect(first).toMatchObject({ type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain' } })
    expect(total(outcome)).toBeLessThanOrEqual(1_000)
  })

  test('what a part carries besides its text counts too', async () => {
    const part = { type: 'text', text: 'x', _meta: { much: 'y'.repeat(5_000) } } as const
    const outcome = await shaped(parts([part]))
    expect(outcome.content[0]).toEqual(textPart('x'))
    expect(total(outcome)).toBeLessThanOrEqual(1_000)
    const small = { ...part, _meta: { little: 1 } } as const
    expect((await shaped(parts([small]))).content).toEqual([small])
  })

  test('a thousand parts are enough', async () => {
    const outcome = await shaped(parts(Array.from({ length: 5_000 }, () => textPart(''))))
    expect(outcome.content.length).toBeLessThan(1_002)
    expect(textOf(outcome)).toContain('4000 text')
  })
})

describe('the results of a turn', () => {
  const turn = async (texts: readonly string[], options: Options): Promise<readonly Outcome[]> => {
    const one = shaper(options)
    const outcomes = await Promise.all(texts.map(async (text) => one.shape(call({ inTurn: true }), value(text))))
    return one.fitTurn(outcomes)
  }
  const lines = (count: number): string => 'a line of text\n'.repeat(count)

  test('L74: share one budget: small ones stay whole, the large ones get the same', async () => {
    const { keepWhole, wholes } = keeping()
    const options = { resultBytes: 200_000, turnBytes: 120_000, keepWhole }
    const outcomes = await turn([lines(2_500), lines(10_300), 'short', lines(9_100)], options)
    const bytes = outcomes.map(total)
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(120_000)
    expect(bytes.slice(0, 3)).toEqual([37_500, expect.any(Number), 5])
    expect(Math.abs((bytes[1] ?? 0) - (bytes[3] ?? 0))).toBeLessThan(100)
    expect(bytes[1]).toBeGreaterThan(40_000)
    expect(outcomes.map(({ meta }) => meta.truncated?.layer)).toEqual([
      undefined,
      'turn budget',
      undefined,
      'turn budget',
    ])
    expect(outcomes.map(({ meta }) => meta.artifact !== undefined)).toEqual([false, true, false, true])
    expect(wholes).toHaveLength(2)
  })

  test('what was cut once is cut anew from the whole, and kept once', async () => {
    const { keepWhole, wholes } = keeping()
    const outcomes = await turn([lines(1_000), lines(1_000)], { resultBytes: 8_000, turnBytes: 6_000, keepWhole })
    for (const { meta } of outcomes)
      expect(meta.truncated).toMatchObject({ originalBytes: 15_000, originalUnits: 1_000 })
    expect(wholes).toHaveLength(2)
    expect(
      outcomes
        .map(textOf)
        .join('\n')
        .match(/\[cut by/g),
    ).toHaveLength(2)
  })

  test('within the budget nothing changes', async () => {
    const one = shaper({ turnBytes: 1_000 })
    const outcomes = [await one.shape(call({ inTurn: true }), value('a'))]
    expect(await one.fitTurn(outcomes)).toBe(outcomes)
  })

  test('is never passed, however many calls there are and whatever made them', () => {
    return fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 3_000 }), fc.constantFrom('a', 'é\n', '👨‍👩‍👧‍👦', '{"a":1},')), {
          maxLength: 40,
        }),
        fc.integer({ min: 512, max: 4_000 }),
        async (texts, turnBytes) => {
          const outcomes = await turn(
            texts.map(([count, text]) => text.repeat(count)),
            { resultBytes: 2_000, turnBytes },
          )
          expect(outcomes.reduce((sum, one) => sum + total(one), 0)).toBeLessThanOrEqual(turnBytes)
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('whatever comes', () => {
  const odd = fc.constantFrom(
    '👨‍👩‍👧‍👦',
    '🇩🇪',
    'e\u0301',
    '\ud83d',
    '\udc00',
    '\r\n',
    '\n',
    'क्षि',
    'a',
    ' ',
    '"',
    '\\',
    '字',
  )
  const text = fc.array(odd, { maxLength: 900 }).map((all) => all.join(''))
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

  test('no grapheme is ever broken and no budget ever passed', () => {
    return fc.assert(
      fc.asyncProperty(
        fc.array(text, { maxLength: 4 }),
        fc.integer({ min: 512, max: 3_000 }),
        async (texts, resultBytes) => {
          const outcome = await shaped(parts(texts.map(textPart)), { resultBytes })
          expect(total(outcome)).toBeLessThanOrEqual(resultBytes)
          for (const part of outcome.content) if (part.type === 'text') expect(part.text.isWellFormed()).toBe(true)
          if (outcome.meta.truncated === undefined) return
          const places = new Set([...segmenter.segment(`${texts[0]?.toWellFormed() ?? ''}`)].map(({ index }) => index))
          const [first] = outcome.content
          const kept = first?.type === 'text' && !first.text.startsWith('[cut') ? first.text : ''
          if (texts[0]?.toWellFormed().startsWith(kept))
            expect(places.has(kept.length) || kept.length === texts[0].length).toBe(true)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('any value is within its budget, and JSON that is cut is JSON', () => {
    return fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 512, max: 2_000 }),
        async (given, resultBytes) => {
          const outcome = await shaped(value({ given, again: given }), { resultBytes })
          expect(total(outcome)).toBeLessThanOrEqual(resultBytes)
          const [first] = outcome.content
          if (first?.type === 'text' && !first.text.startsWith('[cut')) JSON.parse(first.text)
          else expect(outcome.meta.truncated).toBeDefined()
        },
      ),
      { numRuns: 150 },
    )
  })
})
