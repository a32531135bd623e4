// Goal: what touches the same never runs together and keeps its order, whatever else happens; and nobody waits for nothing.
// Method: first rule by rule; then random turns of several tenants whose calls declare, start, end, leave and make calls of
// their own in random order, held against a list that remembers everything and knows no cleverness.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import '../../../test/property-seed.ts'
import type { Call, CallRequest, CheckedInput, LaneTicket } from '../../describe/call.ts'
import type { DeclaredEffect } from '../../describe/effect.ts'
import { readTouches, type Touches } from '../../describe/resource.ts'
import type { Tool } from '../../describe/tool.ts'
import type { LanePlace } from './lane-place.ts'
import { type Entered, Lanes } from './lanes.ts'

type Asked = {
  readonly touches?: readonly string[] | undefined
  readonly effect?: DeclaredEffect
  readonly lane?: 'touches' | 'barrier'
  readonly effectFailed?: string
  readonly ticket?: LaneTicket | undefined
  readonly parent?: Call
  readonly tenant?: string
}

let made = 0
function ask(lanes: Lanes, asked: Asked): { readonly call: Call; readonly entered: Entered } {
  const { tenant = 't', ticket, parent, touches, effect = 'read', effectFailed, lane } = asked
  const request: Partial<CallRequest> = {
    ...(ticket === undefined ? {} : { ticket }),
    ...(parent === undefined ? {} : { parent }),
  }
  const call = { id: `call_${made++}`, request, caller: { tenant }, trail: { attempts: 0 } } as unknown as Call
  const known: Touches = touches === undefined ? { kind: 'unknown' } : readTouches(touches)
  const input = {
    kind: 'ok',
    args: {},
    text: '{}',
    effect,
    touches: known,
    ...(effectFailed === undefined ? {} : { effectFailed }),
  } as CheckedInput
  const tool = (lane === undefined ? {} : { lane }) as Tool
  return { call, entered: lanes.enter(call, { tool }, input) }
}

const place = (entered: Entered): LanePlace => {
  if (typeof entered === 'string') throw new Error(entered)
  return entered
}
const enter = (lanes: Lanes, asked: Asked): LanePlace => place(ask(lanes, asked).entered)

const A = ['write file:/ws/a']
const READ_A = ['read file:/ws/a']
const READ_B = ['read file:/ws/b']

describe('within a turn', () => {
  test('calls that touch the same run in the order of the turn, in whatever order they come', () => {
    const lanes = new Lanes()
    const [first, second] = lanes.turn(2)
    const later = enter(lanes, { ticket: second, touches: READ_A })
    expect(later.isHeld).toBe(false)
    const earlier = enter(lanes, { ticket: first, touches: A, effect: 'write' })
    expect([earlier.isHeld, later.isHeld]).toEqual([true, false])
    earlier.end()
    expect(later.isHeld).toBe(true)
  })

  test('reads of the same run together', () => {
    const lanes = new Lanes()
    const places = lanes.turn(3).map((ticket) => enter(lanes, { ticket, touches: READ_A }))
    expect(places.map(({ isHeld }) => isHeld)).toEqual([true, true, true])
  })

  test('two equal writes never run together', () => {
    const lanes = new Lanes()
    const [one, other] = lanes.turn(2).map((ticket) => enter(lanes, { ticket, touches: A, effect: 'write' }))
    expect([one?.isHeld, other?.isHeld]).toEqual([true, false])
  })

  test('nobody starts before all that were written earlier have said what they touch, or have left', () => {
    const lanes = new Lanes()
    const [first, second, third] = lanes.turn(3)
    const last = enter(lanes, { ticket: third, touches: READ_A })
    first?.leave()
    expect(last.isHeld).toBe(false)
    second?.leave()
    expect(last.isHeld).toBe(true)
  })

  test.each<[string, Asked]>([
    ['touches that nobody declared', { effect: 'read' }],
    ['touches that are malformed', { touches: ['no such form'] }],
    ['an effect that could not be asked', { touches: READ_B, effectFailed: 'it threw' }],
    ['a tool that says so', { touches: READ_B, lane: 'barrier' }],
    ['an external effect', { touches: READ_B, effect: 'external' }],
    ['a program', { touches: READ_B, effect: 'execute' }],
    ['a destructive effect', { touches: READ_B, effect: 'destructive' }],
    ['an undeclared effect', { touches: READ_B, effect: 'undeclared' }],
    ['a write that names nothing it writes', { touches: READ_B, effect: 'write' }],
    ['a write that names nothing at all', { touches: [], effect: 'write', lane: 'touches' }],
    ['a program whose touches are unknown, whatever it says', { effect: 'execute', lane: 'touches' }],
  ])('alone: %s', (_why, asked) => {
    const lanes = new Lanes()
    const [first, second, third] = lanes.turn(3)
    const before = enter(lanes, { ticket: first, touches: READ_A })
    const barrier = enter(lanes, { ...asked, ticket: second })
    const behind = enter(lanes, { ticket: third, touches: READ_A })
    expect([before, barrier, behind].map(({ isHeld }) => isHeld)).toEqual([true, false, false])
    before.end()
    expect([barrier.isHeld, behind.isHeld]).toEqual([true, false])
    barrier.end()
    expect(behind.isHeld).toBe(true)
  })

  test.each<Asked>([
    { touches: ['connect host:a'], effect: 'external', lane: 'touches' },
    { touches: READ_B, effect: 'execute', lane: 'touches' },
    { touches: ['write file:/ws/c'], effect: 'destructive', lane: 'touches' },
    { touches: ['write file:/ws/c'], effect: 'write' },
    { touches: [], effect: 'read' },
  ])('not alone: %j', (asked) => {
    const lanes = new Lanes()
    const [first, second] = lanes.turn(2)
    enter(lanes, { ticket: first, touches: READ_A })
    expect(enter(lanes, { ...asked, ticket: second }).isHeld).toBe(true)
  })

  test('why a call runs alone is noted where its tool failed to say, and nowhere else', () => {
    const lanes = new Lanes()
    expect(ask(lanes, { touches: ['x'] }).call.trail.exclusive).toContain('touches')
    expect(ask(lanes, { touches: READ_A, effectFailed: 'it threw' }).call.trail.exclusive).toBe('it threw')
    expect(ask(lanes, { effect: 'execute' }).call.trail.exclusive).toBeUndefined()
  })

  test('no more run at once than are allowed, and a slot goes to whoever was ready first', () => {
    const lanes = new Lanes({ parallel: 2 })
    const places = lanes.turn(4).map((ticket) => enter(lanes, { ticket, touches: READ_A }))
    expect(places.map(({ isHeld }) => isHeld)).toEqual([true, true, false, false])
    places[1]?.end()
    expect(places.map(({ isHeld }) => isHeld)).toEqual([true, false, true, false])
    places[0]?.end()
    expect(places[3]?.isHeld).toBe(true)
  })

  test('a call that leaves while it waits is waited for by nobody', () => {
    const lanes = new Lanes()
    const [first, second, third] = lanes.turn(3)
    const running = enter(lanes, { ticket: first, touches: READ_A })
    const barrier = enter(lanes, { ticket: second, effect: 'execute' })
    const behind = enter(lanes, { ticket: third, touches: READ_B })
    barrier.giveUp()
    expect(behind.isHeld).toBe(true)
    running.end()
    behind.end()
    expect(lanes.places).toBe(0)
  })

  test('a call whose time is over keeps its place for its tool: leaving a running call gives nothing back', () => {
    const lanes = new Lanes()
    const [first, second] = lanes.turn(2)
    const running = enter(lanes, { ticket: first, touches: A, effect: 'write' })
    const behind = enter(lanes, { ticket: second, touches: READ_A })
    first?.leave()
    expect(behind.isHeld).toBe(false)
    running.end()
    expect(behind.isHeld).toBe(true)
  })

  test('a place of a turn tells when it is known what its call touches', () => {
    const lanes = new Lanes()
    const [first, second] = lanes.turn(2)
    const told: string[] = []
    first?.whenPassed(() => told.push('first'))
    second?.whenPassed(() => told.push('second'))
    enter(lanes, { ticket: first, touches: A, effect: 'write' })
    expect(told).toEqual(['first'])
    second?.leave()
    expect(told).toEqual(['first', 'second'])
    second?.whenPassed(() => told.push('again'))
    expect(told).toEqual(['first', 'second', 'again'])
  })
})

describe('across turns', () => {
  test('what is touched by one is waited for by the other, whoever they are', () => {
    const lanes = new Lanes()
    const [ticket] = lanes.turn(1)
    const alone = enter(lanes, { touches: A, effect: 'write' })
    const inTurn = enter(lanes, { ticket, touches: READ_A })
    expect([alone.isHeld, inTurn.isHeld]).toEqual([true, false])
    alone.end()
    expect(inTurn.isHeld).toBe(true)
  })

  test('another tenant is another world', () => {
    const lanes = new Lanes()
    enter(lanes, { touches: A, effect: 'write' })
    expect(enter(lanes, { touches: A, effect: 'write', tenant: 'other' }).isHeld).toBe(true)
  })

  test('what nobody knows excludes nobody, and is no place at all', () => {
    const lanes = new Lanes()
    expect(ask(lanes, { effect: 'execute' }).entered).toBe('free')
    expect(ask(lanes, { touches: ['malformed'], effect: 'write' }).entered).toBe('free')
    expect(ask(lanes, { touches: [] }).entered).toBe('free')
    expect(lanes.places).toBe(0)
  })

  test('a barrier is one in its own turn only; across turns it excludes what it touches', () => {
    const lanes = new Lanes()
    enter(lanes, { touches: A, effect: 'execute' })
    expect(enter(lanes, { touches: READ_B, effect: 'execute' }).isHeld).toBe(true)
    expect(enter(lanes, { touches: READ_A, effect: 'read' }).isHeld).toBe(false)
  })

  test('first come, first served: readers that come later do not go before a writer that waits', () => {
    const lanes = new Lanes()
    const reader = enter(lanes, { touches: READ_A })
    const writer = enter(lanes, { touches: A, effect: 'write' })
    const later = enter(lanes, { touches: READ_A })
    const other = enter(lanes, { touches: READ_B })
    expect([writer.isHeld, later.isHeld, other.isHeld]).toEqual([false, false, true])
    reader.end()
    expect([writer.isHeld, later.isHeld]).toEqual([true, false])
    writer.end()
    expect(later.isHeld).toBe(true)
  })

  test('one that leaves before it came so far takes nothing with it that others count on', () => {
    const lanes = new Lanes()
    const [first, second] = lanes.turn(2)
    const early = enter(lanes, { ticket: second, touches: READ_A })
    const [, other] = lanes.turn(2)
    const gone = enter(lanes, { ticket: other, touches: READ_A })
    gone.giveUp()
    const writer = enter(lanes, { touches: A, effect: 'write' })
    first?.leave()
    expect([writer.isHeld, early.isHeld]).toEqual([true, false])
  })

  test('so many wait and no more: the next one is busy, and what need not wait still runs', async () => {
    const lanes = new Lanes({ waitingMax: 2 })
    const holder = enter(lanes, { touches: A, effect: 'write' })
    const waiting = [0, 1].map(() => lanes.wait(enter(lanes, { touches: A, effect: 'write' })))
    expect(ask(lanes, { touches: A, effect: 'write' }).entered).toBe('full')
    expect(enter(lanes, { touches: READ_B }).isHeld).toBe(true)
    holder.end()
    expect(await waiting[0]).toBe(true)
    expect(lanes.waiting).toBe(1)
  })
})

describe('calls that a tool makes', () => {
  test('run inside the lane of their parent, and exclude only each other', () => {
    const lanes = new Lanes()
    const parent = ask(lanes, { touches: A, effect: 'write' })
    const group = lanes.group()
    const one = enter(lanes, { parent: parent.call, ticket: group.ticket(), touches: A, effect: 'write' })
    const other = enter(lanes, { parent: parent.call, ticket: group.ticket(), touches: READ_A })
    expect([one.isHeld, other.isHeld]).toEqual([true, false])
    one.end()
    expect(other.isHeld).toBe(true)
  })

  test('a lane is kept until they are over too', () => {
    const lanes = new Lanes()
    const parent = ask(lanes, { touches: A, effect: 'write' })
    const child = enter(lanes, { parent: parent.call, ticket: lanes.group().ticket(), touches: A, effect: 'write' })
    const behind = enter(lanes, { touches: READ_A })
    place(parent.entered).end()
    expect(behind.isHeld).toBe(false)
    child.end()
    expect(behind.isHeld).toBe(true)
  })

  test('a lane that is given up is given up for them as well', () => {
    const lanes = new Lanes()
    const parent = ask(lanes, { touches: A, effect: 'write' })
    const child = enter(lanes, { parent: parent.call, ticket: lanes.group().ticket(), touches: A, effect: 'write' })
    const behind = enter(lanes, { touches: READ_A })
    place(parent.entered).giveUp()
    expect(behind.isHeld).toBe(true)
    child.end()
    behind.end()
    expect(lanes.places).toBe(0)
  })
})

type Step = { readonly what: 'declare' | 'end' | 'leave' | 'child'; readonly which: number }
type Plan = {
  readonly turns: readonly { readonly tenant: string; readonly calls: readonly Asked[] }[]
  readonly steps: readonly Step[]
}

const key = fc.constantFrom('file:/ws/a', 'file:/ws/a/b', 'file:/ws/a/*', 'file:/ws/c', 'file:/ws/*', 'item:1')
const asked: fc.Arbitrary<Asked> = fc.record({
  touches: fc.option(
    fc.array(
      fc.tuple(fc.constantFrom('read', 'write'), key).map((pair) => pair.join(' ')),
      { maxLength: 3 },
    ),
    { nil: undefined, freq: 8 },
  ),
  effect: fc.constantFrom<DeclaredEffect>('read', 'write', 'write', 'read', 'execute'),
})
const plan: fc.Arbitrary<Plan> = fc.record({
  turns: fc.array(
    fc.record({ tenant: fc.constantFrom('one', 'two'), calls: fc.array(asked, { minLength: 1, maxLength: 8 }) }),
    { minLength: 1, maxLength: 4 },
  ),
  steps: fc.array(
    fc.record({
      what: fc.constantFrom<Step['what']>('declare', 'declare', 'declare', 'end', 'end', 'leave', 'child'),
      which: fc.nat(1_000),
    }),
    { maxLength: 120 },
  ),
})

/** One call as the oracle remembers it. */
type Known = {
  readonly asked: Asked
  readonly turn: number
  readonly position: number
  readonly ticket: LaneTicket
  readonly parent?: Known
  call?: Call
  place?: LanePlace
  arrived?: number
  group?: ReturnType<Lanes['group']>
  children: number
  state: 'open' | 'in' | 'over'
}

/** The oracle's own idea of what meets what, by the texts: `a` covers `a/b`, and `a/*` is no more and no less. */
function meet(one: Known, other: Known): boolean {
  const covers = (upper: string, lower: string): boolean => lower === upper || lower.startsWith(`${upper}/`)
  return (one.asked.touches ?? []).some((mine) =>
    (other.asked.touches ?? []).some((its) => {
      if (mine.startsWith('read') && its.startsWith('read')) return false
      const [first = '', second = ''] = [mine, its].map((text) =>
        text.slice(text.indexOf(' ') + 1).replace(/\/\*$/, ''),
      )
      return covers(first, second) || covers(second, first)
    }),
  )
}

const isAlone = ({ asked: { touches, effect = 'read' } }: Known): boolean =>
  touches === undefined || effect === 'execute' || (effect === 'write' && !touches.some((text) => text.startsWith('w')))
const isHeld = (known: Known): boolean => known.state === 'in' && known.place?.isHeld === true

/** Whether one has to wait for another one that came before it. */
function waitsFor(known: Known, other: Known): boolean {
  if (other === known || other.state === 'over') return false
  if (other.turn === known.turn && other.parent === known.parent && other.position < known.position)
    return other.state === 'open' || isAlone(known) || isAlone(other) || meet(known, other)
  if (known.parent !== undefined || other.parent !== undefined || other.asked.tenant !== known.asked.tenant)
    return false
  return isHeld(other) && meet(known, other)
}

class World {
  readonly lanes = new Lanes({ parallel: 3, waitingMax: 10_000 })
  readonly known: Known[] = []

  constructor({ turns }: Plan) {
    for (const [turn, { tenant, calls }] of turns.entries()) {
      const tickets = this.lanes.turn(calls.length)
      for (const [position, one] of calls.entries()) {
        const ticket = tickets[position]
        if (ticket === undefined) throw new Error('no ticket')
        this.known.push({ asked: { ...one, tenant }, turn, position, ticket, children: 0, state: 'open' })
      }
    }
  }

  #some(which: number, fits: (known: Known) => boolean): Known | undefined {
    const some = this.known.filter(fits)
    return some[which % Math.max(1, some.length)]
  }

  step({ what, which }: Step): void {
    if (what === 'declare') this.declare(this.#some(which, ({ state }) => state === 'open'))
    else if (what === 'end') this.end(this.#some(which, isHeld))
    else if (what === 'leave') this.leave(this.#some(which, (known) => known.state !== 'over' && !isHeld(known)))
    else
      this.makeChild(
        this.#some(which, (known) => isHeld(known) && known.parent === undefined),
        which,
      )
  }

  declare(known: Known | undefined): void {
    if (known === undefined) return
    const { asked: one, parent, ticket } = known
    const { call, entered } = ask(this.lanes, { ...one, ticket, ...(parent?.call && { parent: parent.call }) })
    if (typeof entered === 'string') throw new Error(`a call of a turn was ${entered}`)
    known.call = call
    known.place = entered
    known.state = 'in'
  }

  end(known: Known | undefined): void {
    // A tool that has calls of its own running is not over for its lane.
    if (known === undefined || known.children > 0) return
    known.state = 'over'
    known.place?.end()
    this.#childOver(known)
  }

  leave(known: Known | undefined): void {
    if (known === undefined) return
    known.state = 'over'
    known.place?.giveUp()
    known.ticket.leave()
    this.#childOver(known)
  }

  #childOver({ parent }: Known): void {
    if (parent !== undefined) parent.children -= 1
  }

  makeChild(parent: Known | undefined, which: number): void {
    if (parent === undefined) return
    parent.group ??= this.lanes.group()
    const like = this.known[which % this.known.length]
    if (like === undefined) return
    const ticket = parent.group.ticket()
    parent.children += 1
    this.known.push({
      ...{ asked: { ...like.asked, tenant: parent.asked.tenant ?? 't' }, turn: parent.turn, parent, ticket },
      ...{ position: ticket.position, children: 0, state: 'open' },
    })
  }

  /** Nobody runs beside or before what it waits for. */
  check(): void {
    const held = this.known.filter(isHeld)
    for (const known of held)
      for (const other of this.known) if (waitsFor(known, other)) throw new Error('it should have waited')
    const groups = new Map<unknown, number>()
    for (const { parent, turn } of held) groups.set(parent ?? turn, (groups.get(parent ?? turn) ?? 0) + 1)
    for (const count of groups.values()) expect(count).toBeLessThanOrEqual(3)
  }

  /** Everybody comes to an end, as long as whoever runs ends. */
  finish(): void {
    for (let rounds = 0; this.known.some(({ state }) => state !== 'over'); rounds++) {
      if (rounds > 10_000) throw new Error('it never ends')
      const open = this.known.find(({ state }) => state === 'open')
      const running = this.known.find((known) => isHeld(known) && known.children === 0)
      if (open !== undefined) this.declare(open)
      else if (running === undefined) throw new Error('somebody waits, and nobody runs')
      else this.end(running)
      this.check()
    }
    expect(this.lanes.places).toBe(0)
  }
}

describe('any schedule', () => {
  test('conflicting calls keep their order, others run, everybody ends, and nothing is left behind', () => {
    fc.assert(
      fc.property(plan, (given) => {
        const world = new World(given)
        for (const step of given.steps) {
          world.step(step)
          world.check()
        }
        world.finish()
      }),
      { numRuns: 500 },
    )
  })
})
