// Goal: whatever reads, writes and changes from outside do beside each other, a cached gate answers what one without a cache
// could have answered. Method: things whose value counts up with every change. A tool without a cache looks at its thing at
// some moment between the start and the end of its call; so whatever a read answers must lie between the value at its start and
// the value at its end. fast-check draws who starts, acts and ends when, and who shares what with whom.

import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import '../../test/property-seed.ts'
import type { Ending } from '../describe/call.ts'
import type { Tool } from '../describe/tool.ts'
import { ANA, cachedTool, entryOf, failure, openCache, value } from './cache-guard.fixture.ts'

const THINGS = 3

type Operation =
  | { readonly kind: 'read'; readonly thing: number; readonly user: number }
  | { readonly kind: 'write'; readonly thing: number; readonly names: 'itself' | 'all' | 'nothing'; readonly ends: End }
  | { readonly kind: 'change'; readonly thing: number }
type End = 'well' | 'failed' | 'unknown'

/** Step `n` of a schedule lets operation `n` go one moment further: start, act, end. */
type Case = { readonly operations: readonly Operation[]; readonly steps: readonly number[]; readonly aborts: number }

const thing = fc.nat({ max: THINGS - 1 })
const operation = (outside: boolean): fc.Arbitrary<Operation> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('read' as const), thing, user: fc.nat({ max: 1 }) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('write' as const),
        thing,
        names: fc.constantFrom('itself' as const, 'itself' as const, 'all' as const, 'nothing' as const),
        ends: fc.constantFrom<End>('well', 'well', 'failed', 'unknown'),
      }),
    },
    ...(outside ? [{ weight: 2, arbitrary: fc.record({ kind: fc.constant('change' as const), thing }) }] : []),
  )

const cases = (outside: boolean): fc.Arbitrary<Case> =>
  fc.array(operation(outside), { minLength: 2, maxLength: 14 }).chain((operations) =>
    fc.record({
      operations: fc.constant(operations),
      steps: fc.array(fc.nat({ max: operations.length - 1 }), { minLength: operations.length, maxLength: 50 }),
      aborts: fc.nat({ max: operations.length * 3 }),
    }),
  )

/** Moments that a tool waits for, which the schedule gives it. */
class Moments {
  #open: (() => void)[] = []
  #given = 0
  next(): Promise<void> {
    if (this.#given > 0) {
      this.#given -= 1
      return Promise.resolve()
    }
    return new Promise((resolve) => void this.#open.push(resolve))
  }
  give(): void {
    const waiting = this.#open.shift()
    if (waiting === undefined) this.#given += 1
    else waiting()
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))
let hits = 0
let reads = 0

async function play({ operations, steps, aborts }: Case, validator: 'none' | 'sync' | 'slow'): Promise<void> {
  const values = Array.from({ length: THINGS }, () => 0)
  const { make } = openCache()
  const stampOf = ({ thing: at }: { thing?: string }) => `${values[Number(at)]}`
  const stamps = {
    none: {},
    sync: { validator: stampOf },
    slow: { validator: (args: object) => settle().then(() => stampOf(args)) },
  }[validator] as Partial<NonNullable<Tool['cache']>>
  const readTool = entryOf(cachedTool({ cache: { forMs: 1_000_000, ...stamps } }))
  const writeTool = entryOf({ name: 'change', effect: 'write' } as never)
  const moments = operations.map(() => new Moments())
  const started = operations.map(() => false)
  const running: Promise<void>[] = []

  const read = (index: number, at: number, user: number): void => {
    const from = values[at] ?? 0
    const asked = {
      entry: readTool,
      caller: { ...ANA, user: `u${user}` },
      args: { thing: `${at}` },
      touches: [`read item:${at}`],
    }
    const made = make(asked, async () => {
      await moments[index]?.next()
      const seen = values[at]
      await moments[index]?.next()
      return value(seen)
    })
    if (index === aborts) queueMicrotask(() => made.abort())
    const over = (ending: Ending): void => {
      reads += 1
      if (made.cachedFrom() !== undefined) hits += 1
      const seen = ending.kind === 'value' ? Number(ending.value) : Number.NaN
      expect(seen).toBeGreaterThanOrEqual(from)
      expect(seen).toBeLessThanOrEqual(values[at] ?? 0)
    }
    running.push(made.ending.then(over))
  }

  const write = (index: number, at: number, { names, ends }: Operation & { kind: 'write' }): void => {
    const touches = { itself: [`write item:${at}`], all: ['write item:*'], nothing: undefined }[names]
    const made = make({ entry: writeTool, effect: 'write', touches }, async () => {
      await moments[index]?.next()
      if (ends === 'unknown') {
        // Contact is lost, and what was asked for happens later.
        running.push(
          (async () => {
            await moments[index]?.next()
            values[at] = (values[at] ?? 0) + 1
          })(),
        )
        return failure('outcome_unknown', 'unknown')
      }
      values[at] = (values[at] ?? 0) + 1
      await moments[index]?.next()
      return ends === 'well' ? value('done') : failure('tool_error', 'done')
    })
    running.push(made.ending.then(() => {}))
  }

  const step = (index: number): void => {
    const doing = operations[index]
    if (doing === undefined) return
    const wasStarted = started[index]
    started[index] = true
    if (wasStarted === true) moments[index]?.give()
    else if (doing.kind === 'read') read(index, doing.thing, doing.user)
    else if (doing.kind === 'write') write(index, doing.thing, doing)
    else values[doing.thing] = (values[doing.thing] ?? 0) + 1
  }

  for (const index of steps) {
    step(index)
    await settle()
  }
  // Whatever is still under way goes on to its end, in order.
  for (let index = 0; index < operations.length; index++)
    for (let moment = 0; moment < 3; moment++) {
      step(index)
      await settle()
    }
  for (let done = 0; done < running.length; done++) await running[done]
}

afterAll(() => {
  // Whoever never gives an answer again cannot give a wrong one.
  expect(hits / reads).toBeGreaterThan(0.05)
})

describe('cached-as-uncached', () => {
  test.each([
    ['without a validator, changes through the gate', 'none', false],
    ['with a validator, changes from outside too', 'sync', true],
    ['with a validator that takes its time', 'slow', true],
  ] as const)('%s', async (_what, validator, outside) => {
    await fc.assert(
      fc.asyncProperty(cases(outside), (drawn) => play(drawn, validator)),
      { numRuns: 400 },
    )
  })
})
