// Goal: nobody gets more calls than a bound allows, nobody gets fewer, and looking takes nothing. Method: a fake clock.

import { describe, expect, test } from 'vitest'
import type { Call } from '../describe/call.ts'
import type { Entry } from '../describe/entry.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { RateLimits, type RateOptions } from './rate-limits.ts'

function setUp(options: RateOptions) {
  const clock = new FakeClock()
  const rates = new RateLimits(options, clock)
  const callOf = (user: string, tenant = 't') => ({ caller: { tenant, user, agent: 'a' } }) as Call
  const entryOf = (name: string) => ({ tool: { name } }) as Entry
  const make = (user = 'u', tool = 'probe', tenant = 't') =>
    rates.take(rates.opened(callOf(user, tenant)), entryOf(tool))
  const made = (times: number, ...of: Parameters<typeof make>) =>
    Array.from({ length: times }, () => make(...of)).filter((limited) => limited === undefined).length
  return { clock, rates, make, made, callOf, entryOf }
}

const selfMade = ({ caller }: Call): Call => ({ caller: { ...caller, parent: caller } }) as Call

test('a minute of calls goes through at once, the next one is told when to come', async () => {
  const { clock, make, made } = setUp({ caller: 60 })
  expect(made(60)).toBe(60)
  expect(make()).toEqual({ kind: 'limited', reason: expect.stringContaining('60 a minute'), afterMs: 1_000 })
  await clock.advance(999)
  expect(make()).toMatchObject({ afterMs: 1 })
  await clock.advance(1)
  expect(make()).toBeUndefined()
  expect(make()).toMatchObject({ afterMs: 1_000 })
})

test('over a long time there are exactly so many, however they come', async () => {
  const { clock, made } = setUp({ caller: 7 })
  let count = made(100)
  for (let second = 0; second < 600; second++) {
    await clock.advance(1_000)
    count += made(3)
  }
  expect(count).toBe(7 + 70)
})

test('one that waits as long as it was told gets through', async () => {
  const { clock, make, made } = setUp({ caller: 7 })
  made(7)
  for (let index = 0; index < 5; index++) {
    const limited = make()
    await clock.advance(limited?.afterMs ?? 0)
    expect(make()).toBeUndefined()
  }
})

describe('each bound counts for itself', () => {
  test('of one caller', () => {
    const { made } = setUp({ caller: 2 })
    expect([made(3, 'ana'), made(3, 'ben'), made(3, 'ana', 'probe', 'other')]).toEqual([2, 2, 2])
  })

  test('of one caller with all who work for it, whatever they are called', () => {
    const { rates, callOf, entryOf, made } = setUp({ caller: 2 })
    const callAs = (agent: string) => {
      const parent = callOf('ana').caller
      return rates.take(rates.opened({ caller: { ...parent, agent, parent } } as Call), entryOf('probe'))
    }
    expect(callAs('one')).toBeUndefined()
    expect(callAs('two')).toBeUndefined()
    expect(callAs('three')).toMatchObject({ kind: 'limited' })
    expect(made(1, 'ana')).toBe(0)
    // Who works for itself counts once.
    expect([rates.take(rates.opened(selfMade(callOf('ben'))), entryOf('probe')), made(1, 'ben')]).toEqual([
      undefined,
      1,
    ])
  })

  test('of one tenant, over all its callers', () => {
    const { made } = setUp({ tenant: 3 })
    expect([made(2, 'ana'), made(2, 'ben'), made(3, 'ana', 'probe', 'other')]).toEqual([2, 1, 3])
  })

  test('of each tool that a glob matches, over all callers; the lower of two holds', () => {
    const { made } = setUp({ tools: { 'send_*': 3, send_mail: 1 } })
    expect([made(5, 'ana', 'send_mail'), made(5, 'ben', 'send_mail')]).toEqual([1, 0])
    expect([made(2, 'ana', 'send_text'), made(5, 'ben', 'send_text'), made(5, 'ben', 'read')]).toEqual([2, 1, 5])
  })

  test('names with any characters do not run together', () => {
    const { made } = setUp({ caller: 1 })
    expect([made(1, 'a","b'), made(1, 'a'), made(1, 'constructor'), made(1, '__proto__')]).toEqual([1, 1, 1, 1])
  })
})

test('a call that one bound refuses takes nothing from the others', () => {
  const { made } = setUp({ caller: 3, tools: { rare: 1 } })
  expect(made(10, 'ana', 'rare')).toBe(1)
  expect(made(10, 'ana', 'probe')).toBe(2)
})

test('who only looks takes nothing and is never refused', () => {
  const { rates, make, callOf, entryOf } = setUp({ caller: 1 })
  for (let index = 0; index < 5; index++) expect(rates.take(callOf('u'), entryOf('probe'))).toBeUndefined()
  expect(make()).toBeUndefined()
  expect(rates.take(callOf('u'), entryOf('probe'))).toBeUndefined()
  expect(make()).toBeDefined()
})

test('it remembers so many callers and no more, and forgets first those that it has nothing to say of', async () => {
  const { clock, made } = setUp({ caller: 1 })
  for (let index = 0; index < 10_000; index++) made(1, `idle${index}`)
  await clock.advance(60_000)
  expect(made(1, 'busy')).toBe(1)
  for (let index = 0; index < 9_000; index++) made(1, `new${index}`)
  expect(made(1, 'busy')).toBe(0)
})
