// Calls that running tools make. Goal: they go through every stage, have no more than the call that makes them, end with it,
// and never wait for it. Method: tools made of a function of the context, through whole gates.

import { describe, expect, test } from 'vitest'
import { type AnyTool, defineTool, type Gate, type GateOptions, type Outcome, type RunContext } from '../src/index.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { calm, typeOf, until } from './doors.ts'
import { openGate } from './opened.ts'

type Args = Readonly<Record<string, unknown>>

const tool = (name: string, run: (context: RunContext, args: Args) => unknown, contract: object = {}): AnyTool =>
  defineTool({
    name,
    version: '1.0.0',
    description: `Does ${name}.`,
    input: { type: 'object' },
    effect: 'read',
    run: (args: Args, context: RunContext) => run(context, args),
    ...contract,
  } as never) as AnyTool

const WRITES = { effect: 'write', touches: () => ['write file:/ws/f'] }
const ALLOWED = { defaults: { write: 'allow', execute: 'allow' } } as const

const open = (tools: readonly AnyTool[], options: GateOptions = {}): Promise<Gate> =>
  openGate({ tools, policy: ALLOWED, ...options })
/** Makes a call of `inner` and ends without it, once that has begun. */
const leaving = (began: () => boolean): AnyTool =>
  tool(
    'outer',
    async ({ call }) => {
      void call({ name: 'inner' })
      await until(began)
      return 'gone'
    },
    WRITES,
  )

async function records(gate: Gate) {
  await gate.records.flush()
  const rows = await gate.records.query({ limit: 100 })
  return rows.map((row) => ({ kind: row.kind, callId: row.callId, text: JSON.stringify(row) }))
}

describe('a call that a tool makes', () => {
  test("child-within-parent: is the caller's, of the same run, and names the call that makes it", async () => {
    const seen: RunContext[] = []
    const inner = tool('inner', (context) => {
      seen.push(context)
      return 'inner'
    })
    const outer = tool('outer', async ({ call }) => [await call({ name: 'inner' }), await call({ name: 'inner' })])
    const gate = await open([inner, outer])
    const outcome = await gate.session({ user: 'ana', session: 's1' }).call({ name: 'outer' })
    const children = (outcome.ok ? outcome.value : []) as readonly Outcome[]
    expect(children.map(typeOf)).toEqual(['ok', 'ok'])
    expect(children.map(({ meta }) => [meta.parent, meta.runId, meta.position])).toEqual(
      [0, 1].map((position) => [outcome.meta.callId, outcome.meta.runId, position]),
    )
    expect(outcome.meta.parent).toBeUndefined()
    expect(seen.map(({ caller }) => [caller.user, caller.session])).toEqual([
      ['ana', 's1'],
      ['ana', 's1'],
    ])
    const ends = (await records(gate)).filter(({ kind }) => kind === 'end')
    expect(ends.map(({ callId }) => callId).sort()).toEqual(
      [outcome, ...children].map(({ meta }) => meta.callId).sort(),
    )
    expect(ends.filter(({ text }) => text.includes('parentCall') && text.includes(outcome.meta.callId))).toHaveLength(2)
  })

  test('child-within-parent: may do no more than its caller may, whatever tool makes it', async () => {
    const ran: string[] = []
    const inner = tool('inner', () => ran.push('inner'), WRITES)
    const outer = tool('outer', ({ call }) => call({ name: 'inner', arguments: {} }))
    const denied = await open([inner, outer], { policy: { ...ALLOWED, rules: [{ deny: 'inner' }] } })
    const outcome = await denied.session().call({ name: 'outer' })
    expect(outcome).toMatchObject({ ok: true, value: { ok: false, error: { type: 'permission_denied' } } })
    const asked = await open([inner, outer], { policy: {} })
    expect(await asked.session().call({ name: 'outer' })).toMatchObject({
      value: { ok: false, error: { type: 'approval_required' } },
    })
    expect(await asked.approvals.list({ state: 'open' })).toHaveLength(1)
    expect(ran).toEqual([])
  })

  test('what is no call is refused like any other one, and never thrown', async () => {
    const given = [undefined, null, 5, {}, { name: 7 }, { name: 'missing' }, { name: 'strict', arguments: { x: 1 } }]
    const outer = tool('outer', ({ call }) => Promise.all(given.map((one) => call(one as never))))
    const strict = tool('strict', () => 'ran', { input: { type: 'object', additionalProperties: false } })
    const gate = await open([outer, strict])
    const outcome = await gate.session().call({ name: 'outer' })
    expect(((outcome.ok ? outcome.value : []) as readonly Outcome[]).map(typeOf)).toEqual([
      ...given.slice(0, -1).map(() => 'not_found'),
      'invalid_args',
    ])
  })

  test('a tool that calls itself comes sixteen deep and no deeper, and every call has its record', async () => {
    let deepest = 0
    const again = tool('again', async ({ call }, { depth }) => {
      deepest = Math.max(deepest, Number(depth))
      const below = await call({ name: 'again', arguments: { depth: Number(depth) + 1 } })
      return below.ok ? below.value : below.error
    })
    const gate = await open([again])
    const outcome = await gate.session().call({ name: 'again', arguments: { depth: 0 } })
    expect(deepest).toBe(16)
    expect(outcome).toMatchObject({
      ok: true,
      value: { type: 'permission_denied', effect: 'none', message: expect.stringContaining('16') },
    })
  }, 20_000)

  test('many at once are told to stop without a warning, and many one after the other are no circle', async () => {
    const inner = tool('inner', () => 'same')
    const outer = tool('outer', async ({ call }) => {
      const all = await Promise.all(Array.from({ length: 30 }, () => call({ name: 'inner' })))
      for (let times = 0; times < 15; times++) all.push(await call({ name: 'inner' }))
      return all.map(typeOf)
    })
    const warned: string[] = []
    const listen = (warning: Error): void => void warned.push(warning.name)
    process.on('warning', listen)
    const gate = await open([inner, outer], { limits: { repeats: { paceMs: 0 } } })
    const outcome = await gate.session().call({ name: 'outer' })
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', listen)
    expect(outcome).toMatchObject({ ok: true, value: Array.from({ length: 45 }, () => 'ok') })
    expect(warned).toEqual([])
  })
})

describe('time and signals', () => {
  test('child-within-parent: has no more time than is left of the call that makes it', async () => {
    const clock = new FakeClock()
    const left: number[] = []
    const inner = tool('inner', ({ leftMs }) => void left.push(leftMs()), { deadlineMs: 50_000 })
    const outer = tool(
      'outer',
      async ({ call }) => {
        await new Promise<void>((resolve) => clock.after(3_000, resolve))
        return call({ name: 'inner' })
      },
      { deadlineMs: 10_000 },
    )
    const gate = await open([inner, outer], { clock })
    const outcome = gate.session().call({ name: 'outer' })
    await clock.advance(3_000)
    await outcome
    expect(left).toEqual([7_000])
  })

  test('ends when the call that makes it runs out of time: each of them once, the inner one as cancelled', async () => {
    const clock = new FakeClock()
    let inside: Promise<Outcome> | undefined
    let signal: AbortSignal | undefined
    const inner = tool('inner', (context) => {
      signal = context.signal
      return new Promise(() => {})
    })
    const outer = tool('outer', ({ call }) => (inside = call({ name: 'inner' })), { deadlineMs: 1_000 })
    const gate = await open([inner, outer], { clock })
    const outcome = gate.session().call({ name: 'outer' })
    await until(() => signal !== undefined)
    await clock.advance(1_000)
    expect(typeOf(await outcome)).toBe('timeout')
    expect(['cancelled', 'timeout']).toContain(typeOf(await inside))
    expect(signal?.aborted).toBe(true)
    expect((await records(gate)).filter(({ kind }) => kind === 'end')).toHaveLength(2)
  })

  test('ends when the caller leaves', async () => {
    let inside: Promise<Outcome> | undefined
    let began = false
    const inner = tool('inner', () => {
      began = true
      return new Promise(() => {})
    })
    const outer = tool('outer', ({ call }) => (inside = call({ name: 'inner' })))
    const gate = await open([inner, outer])
    const leave = new AbortController()
    const outcome = gate.session().call({ name: 'outer', signal: leave.signal })
    await until(() => began)
    leave.abort()
    expect([typeOf(await outcome), typeOf(await inside)]).toEqual(['cancelled', 'cancelled'])
  })

  test('one that its tool did not wait for ends with it', async () => {
    let inside: Promise<Outcome> | undefined
    let began = false
    const inner = tool('inner', () => {
      began = true
      return new Promise(() => {})
    })
    const outer = tool('outer', async ({ call }) => {
      inside = call({ name: 'inner' })
      await until(() => began)
      return 'gone'
    })
    const gate = await open([inner, outer])
    expect(typeOf(await gate.session().call({ name: 'outer' }))).toBe('ok')
    expect(typeOf(await inside)).toBe('cancelled')
  })

  test('one that is made after its tool has ended runs nothing, and is recorded', async () => {
    const ran: string[] = []
    let kept: RunContext | undefined
    const inner = tool('inner', () => ran.push('inner'), WRITES)
    const outer = tool('outer', (context) => {
      kept = context
      return 'gone'
    })
    const gate = await open([inner, outer])
    await gate.session().call({ name: 'outer' })
    const late = await kept?.call({ name: 'inner' })
    expect(late).toMatchObject({ ok: false, error: { type: 'cancelled', effect: 'none' } })
    expect(ran).toEqual([])
    expect((await records(gate)).filter(({ kind }) => kind === 'end')).toHaveLength(2)
  })
})

describe('lanes', () => {
  test('a call never waits for the one that makes it: both write the same file, both run alone', async () => {
    const log: string[] = []
    const leaf = tool('leaf', () => log.push('leaf'), WRITES)
    const middle = tool('middle', ({ call }) => call({ name: 'leaf' }).then(typeOf), { ...WRITES, lane: 'barrier' })
    const outer = tool('outer', ({ call }) => call({ name: 'middle' }).then(typeOf), { ...WRITES, effect: 'execute' })
    const gate = await open([leaf, middle, outer])
    const outcomes = await gate.session().turn([{ name: 'outer' }, { name: 'outer' }])
    expect(outcomes).toMatchObject([
      { ok: true, value: 'ok' },
      { ok: true, value: 'ok' },
    ])
    expect(log).toEqual(['leaf', 'leaf'])
  })

  test('siblings that touch the same run in the order in which they were made, others together', async () => {
    const log: string[] = []
    const doors = new Map<string, () => void>()
    const step = (name: string, contract: object): AnyTool =>
      tool(
        name,
        (_context, { id }) =>
          new Promise<void>((resolve) => {
            log.push(`${id} starts`)
            doors.set(String(id), () => {
              log.push(`${id} ends`)
              resolve()
            })
          }),
        contract,
      )
    const touches = ({ path }: { path: string }) => [`write file:/ws/${path}`]
    const change = step('change', { effect: 'write', touches })
    const outer = tool('outer', ({ call }) =>
      Promise.all(
        [
          ['a', '1'],
          ['a', '2'],
          ['b', '3'],
        ].map(([path, id]) => call({ name: 'change', arguments: { path, id } })),
      ).then((all) => all.map(typeOf)),
    )
    const gate = await open([change, outer])
    const outcome = gate.session().call({ name: 'outer' })
    await until(() => doors.has('1') && doors.has('3'))
    await calm()
    expect(log.sort()).toEqual(['1 starts', '3 starts'])
    for (const id of ['3', '1', '2']) {
      await until(() => doors.has(id))
      doors.get(id)?.()
    }
    expect(await outcome).toMatchObject({ ok: true, value: ['ok', 'ok', 'ok'] })
    expect(log.indexOf('1 ends')).toBeLessThan(log.indexOf('2 starts'))
  })

  test('whoever waits for the lane of a call also waits for the tools that it called', async () => {
    const clock = new FakeClock()
    let open_ = (): void => {}
    let began = false
    const log: string[] = []
    const inner = tool(
      'inner',
      () => {
        began = true
        return new Promise<void>((resolve) => {
          open_ = () => {
            log.push('inner ends')
            resolve()
          }
        })
      },
      WRITES,
    )
    const outer = leaving(() => began)
    const behind = tool('behind', () => log.push('behind'), WRITES)
    const gate = await open([inner, outer, behind], { clock })
    const session = gate.session()
    expect(typeOf(await session.call({ name: 'outer' }))).toBe('ok')
    const waiting = session.call({ name: 'behind' })
    await clock.advance(4_000)
    expect(log).toEqual([])
    open_()
    expect(typeOf(await waiting)).toBe('ok')
    expect(log).toEqual(['inner ends', 'behind'])
  })

  test('a tool that was called and does not end keeps the lane for five seconds and no longer', async () => {
    const clock = new FakeClock()
    let began = false
    const inner = tool(
      'inner',
      () => {
        began = true
        return new Promise(() => {})
      },
      WRITES,
    )
    const outer = leaving(() => began)
    const behind = tool('behind', () => 'ran', WRITES)
    const gate = await open([inner, outer, behind], { clock })
    const session = gate.session()
    await session.call({ name: 'outer' })
    const waiting = session.call({ name: 'behind' })
    await clock.advance(5_000)
    expect(typeOf(await waiting)).toBe('ok')
  })
})
