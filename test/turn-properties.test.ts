// Goal: a turn is as good as its calls made one by one. For random turns over a model file system, whatever the schedule, every
// outcome and the state in the end are those of the sequential run; calls inside calls never wait for each other; and a turn
// that is cancelled at any moment still gives every call one outcome and leaves nothing locked.
// Method: tools that read, wait and only then write, so that any two that run together and should not leave a trace; a fake
// clock, and how long each of them waits drawn at random.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AnyTool,
  defineTool,
  type Gate,
  type NamedCall,
  type Outcome,
  type RunContext,
  toolFailure,
} from '../src/index.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { openGate } from './opened.ts'
import './property-seed.ts'

type Paths = {
  readonly path: string
  readonly to?: string
  readonly text?: string
  readonly steps?: readonly NamedCall[]
}

/** Texts by path. Every tool takes its time between looking and changing. */
class Model {
  readonly files = new Map<string, string>([
    ['a', '1'],
    ['d/x', '2'],
  ])
  readonly clock = new FakeClock()
  readonly #delays: readonly number[]
  #drawn = 0

  constructor(delays: readonly number[]) {
    this.#delays = delays
  }

  async pause(): Promise<void> {
    const delayMs = this.#delays[this.#drawn++ % Math.max(1, this.#delays.length)] ?? 0
    if (delayMs > 0) await new Promise<void>((resolve) => this.clock.after(delayMs, resolve))
  }

  get state(): readonly (readonly [string, string])[] {
    return [...this.files].sort(([one], [other]) => (one < other ? -1 : 1))
  }

  tools(): readonly AnyTool[] {
    const { files } = this
    const readAt = (path: string): string | undefined => files.get(path)
    return [
      this.#tool(
        'read_at',
        'read',
        ({ path }) => [`read file:/ws/${path}`],
        async ({ path }) => {
          const before = readAt(path)
          await this.pause()
          if (readAt(path) !== before) throw new Error('it changed while it was read')
          return before ?? toolFailure({ code: 'missing', message: 'no such file', effect: 'none' })
        },
      ),
      this.#tool(
        'list_at',
        'read',
        ({ path }) => [`read file:/ws/${path}/*`],
        async ({ path }) => {
          const below = (): string =>
            [...files]
              .filter(([name]) => name.startsWith(`${path}/`))
              .sort()
              .join(';')
          const before = below()
          await this.pause()
          if (below() !== before) throw new Error('it changed while it was listed')
          return before
        },
      ),
      this.#tool(
        'append_at',
        'write',
        ({ path }) => [`write file:/ws/${path}`],
        async ({ path, text = '' }) => {
          const before = readAt(path) ?? ''
          await this.pause()
          files.set(path, before + text)
          return before + text
        },
      ),
      this.#tool(
        'move_at',
        'write',
        ({ path, to = '' }) => [`write file:/ws/${path}`, `write file:/ws/${to}`],
        async ({ path, to = '' }) => {
          const text = readAt(path)
          await this.pause()
          if (text === undefined) return toolFailure({ code: 'missing', message: 'no such file', effect: 'none' })
          files.delete(path)
          files.set(to, text)
          return 'moved'
        },
      ),
      this.#tool(
        'clear_at',
        'destructive',
        ({ path }) => [`write file:/ws/${path}/*`],
        async ({ path }) => {
          const names = [...files.keys()].filter((name) => name.startsWith(`${path}/`))
          await this.pause()
          for (const name of names) files.delete(name)
          return names.length
        },
      ),
      this.#tool('count_all', 'execute', undefined, async () => {
        const before = files.size
        await this.pause()
        return [before, files.size]
      }),
      this.#tool(
        'bad_touches',
        'write',
        () => 'none' as never,
        async ({ path, text = '' }) => {
          const before = readAt(path) ?? ''
          await this.pause()
          files.set(path, `${before}!${text}`)
          return before
        },
      ),
      this.#composite('batch', 'execute', undefined),
      this.#composite('batch_side', 'external', 'touches'),
    ]
  }

  #tool(
    name: string,
    effect: string,
    touches: ((args: Paths) => readonly string[]) | undefined,
    run: (args: Paths, context: RunContext) => unknown,
    more: object = {},
  ): AnyTool {
    return defineTool({
      ...{ name, version: '1.0.0', description: `Does ${name}.`, input: { type: 'object' }, effect, run, ...more },
      ...(touches === undefined ? {} : { touches }),
    } as never) as AnyTool
  }

  /** Makes its calls at once, and then one more after all of them. */
  #composite(name: string, effect: string, lane: 'touches' | undefined): AnyTool {
    const run = async ({ steps = [] }: Paths, { call }: RunContext): Promise<unknown> => {
      await this.pause()
      const all = await Promise.all(steps.map((step) => call(step)))
      const [first] = steps
      if (first !== undefined) all.push(await call(first))
      return all.map(told)
    }
    const touches = lane === undefined ? undefined : () => ['write file:/ws/*']
    return this.#tool(name, effect, touches, run, lane === undefined ? {} : { lane })
  }
}

/** What a caller gets to know, but for times and ids. */
function told(outcome: Outcome): unknown {
  if (outcome.ok) return ['ok', outcome.value]
  const { type, effect, details } = outcome.error
  return [type, effect, details?.code]
}

const path = fc.constantFrom('a', 'b', 'd/x', 'd/y', 'd', 'd/x/z')
const text = fc.constantFrom('u', 'v', 'w')
const simple: fc.Arbitrary<NamedCall> = fc.oneof(
  fc.record({ name: fc.constantFrom('read_at', 'list_at', 'clear_at'), arguments: fc.record({ path }) }),
  fc.record({ name: fc.constantFrom('append_at', 'bad_touches'), arguments: fc.record({ path, text }) }),
  fc.record({ name: fc.constant('append_at'), arguments: fc.record({ path, text }) }),
  fc.record({ name: fc.constant('move_at'), arguments: fc.record({ path, to: path }) }),
  fc.record({ name: fc.constantFrom('count_all', 'no_such_tool'), arguments: fc.constant({}) }),
)
const composite = (steps: fc.Arbitrary<NamedCall>): fc.Arbitrary<NamedCall> =>
  fc.record({
    name: fc.constantFrom('batch', 'batch_side'),
    arguments: fc.record({ path, steps: fc.array(steps, { maxLength: 4 }) }),
  })
const anyCall = fc.oneof(
  { weight: 5, arbitrary: simple },
  {
    weight: 1,
    arbitrary: composite(fc.oneof({ weight: 4, arbitrary: simple }, { weight: 1, arbitrary: composite(simple) })),
  },
)
const delays = fc.array(fc.constantFrom(0, 0, 1, 3, 10), { minLength: 1, maxLength: 12 })

const open = (model: Model, parallel = 3): Promise<Gate> =>
  openGate({
    tools: model.tools(),
    clock: model.clock,
    policy: { defaults: { write: 'allow', execute: 'allow', external: 'allow', destructive: 'allow' } },
    limits: { parallel, repeats: { warn: 10_000, refuse: 10_001 } },
  })

/** Moves time on until it is there; far more than all waiting together would never be needed. */
async function soon<Value>(model: Model, promise: Promise<Value>): Promise<Value> {
  const waited: { over: boolean } = { over: false }
  void promise.then(() => (waited.over = true))
  for (let rounds = 0; !waited.over; rounds++) {
    if (rounds > 400) throw new Error('somebody waits for ever')
    await model.clock.advance(5)
  }
  return promise
}

async function oneByOne(calls: readonly NamedCall[]): Promise<unknown> {
  const model = new Model([0])
  const gate = await open(model, 1)
  const outcomes: unknown[] = []
  for (const call of calls) outcomes.push(...(await soon(model, gate.session().turn([call]))).map(told))
  await gate.close()
  return { outcomes, state: model.state }
}

describe('any turn, any schedule', () => {
  test('call-order: outcomes and final state are those of the calls made one by one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCall, { maxLength: 9 }),
        delays,
        fc.integer({ min: 1, max: 8 }),
        async (calls, times, parallel) => {
          const model = new Model(times)
          const gate = await open(model, parallel)
          const outcomes = await soon(model, gate.session().turn(calls))
          await gate.close()
          expect({ outcomes: outcomes.map(told), state: model.state }).toEqual(await oneByOne(calls))
        },
      ),
      { numRuns: 150 },
    )
  }, 60_000)

  test('several turns of several callers at once all end, and each file has had one writer at a time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(anyCall, { maxLength: 6 }), { maxLength: 4 }),
        delays,
        async (turns, times) => {
          const model = new Model(times)
          const gate = await open(model)
          const outcomes = await soon(
            model,
            Promise.all(turns.map((calls, user) => gate.session({ user: `user${user}` }).turn(calls))),
          )
          expect(outcomes.map(({ length }) => length)).toEqual(turns.map(({ length }) => length))
          // What tools of unknown touches do across turns nobody can order; everything else never meets.
          const known = turns.flat().every(({ name }) => !['bad_touches', 'batch', 'count_all'].includes(name))
          if (known)
            expect(outcomes.flat().filter((outcome) => !outcome.ok && outcome.error.type === 'tool_crashed')).toEqual(
              [],
            )
          await gate.close()
        },
      ),
      { numRuns: 80 },
    )
  }, 60_000)

  test('one-outcome: cancelled at any moment, every call has one outcome and one record, and nothing stays locked', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyCall, { maxLength: 8 }), delays, fc.nat(40), async (calls, times, afterMs) => {
        const model = new Model(times)
        const gate = await open(model)
        const leave = new AbortController()
        model.clock.after(afterMs, () => leave.abort())
        const outcomes = await soon(model, gate.session().turn(calls, { signal: leave.signal }))
        expect(outcomes.map(({ meta }) => [meta.tool, meta.position])).toEqual(
          calls.map(({ name }, index) => [name, index]),
        )
        expect(new Set(outcomes.map(({ meta }) => meta.callId)).size).toBe(calls.length)
        for (const outcome of outcomes) {
          if (outcome.ok || outcome.error.type !== 'cancelled') continue
          if (outcome.meta.attempts === 0) expect(outcome.error.effect).toBe('none')
        }
        await gate.records.flush()
        const ends = (await gate.records.query({ limit: 1_000 })).filter(({ kind }) => kind === 'end')
        const ids = ends.map(({ callId }) => callId)
        expect(new Set(ids).size).toBe(ids.length)
        for (const { meta } of outcomes) expect(ids).toContain(meta.callId)
        const after = await soon(model, gate.session().call({ name: 'clear_at', arguments: { path: 'd' } }))
        expect(after.ok || after.error.type === 'outcome_unknown').toBe(true)
        await gate.close()
      }),
      { numRuns: 100 },
    )
  }, 60_000)
})
