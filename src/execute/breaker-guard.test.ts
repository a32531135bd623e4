// Goal: a source that fails again and again is left alone, and found again when it works. Method: one executor on a fake
// clock with a tool whose failures the test chooses.

import { describe, expect, test } from 'vitest'
import { toolFailure } from '../describe/tool-failure.ts'
import { errorOf, setUp } from './executor.fixture.ts'

const down = () => toolFailure({ code: 'x', message: 'y', type: 'unavailable', effect: 'none' })

/** `answer` decides what the tool does next. */
function breaker(answer: () => unknown, more: Parameters<typeof setUp>[1] = {}) {
  const guards = [{ guard: 'breaker', for: { source: 'host' }, failures: 3, coolMs: 1_000 }] as const
  const setup = setUp(() => answer(), { ...more, executor: { guards } })
  const make = async () => {
    const call = setup.newCall()
    const ending = await setup.start(call)
    return { ran: call.trail.attempts === 1, type: errorOf(ending)?.type ?? 'ok', error: errorOf(ending) }
  }
  return { ...setup, make }
}

test('after some failures in a row its calls end at once, with the time after which to come again', async () => {
  const { clock, make } = breaker(down)
  for (let index = 0; index < 3; index++) expect(await make()).toMatchObject({ ran: true, type: 'unavailable' })
  await clock.advance(400)
  expect(await make()).toMatchObject({
    ran: false,
    type: 'busy',
    error: { effect: 'none', retry: { advice: 'later', afterMs: 600 } },
  })
})

test('after a while one call is let through: a failure opens it again at once, an answer closes it', async () => {
  let answer: () => unknown = down
  const { clock, make } = breaker(() => answer())
  for (let index = 0; index < 3; index++) await make()
  await clock.advance(1_000)
  expect(await make()).toMatchObject({ ran: true, type: 'unavailable' })
  expect(await make()).toMatchObject({ ran: false, type: 'busy' })
  await clock.advance(1_000)
  answer = () => 'works'
  expect(await make()).toMatchObject({ ran: true, type: 'ok' })
  answer = down
  expect(await make()).toMatchObject({ ran: true })
  expect(await make()).toMatchObject({ ran: true })
})

test('while the one that was let through is on its way, no other one is', async () => {
  let answer: () => unknown = down
  const { clock, make } = breaker(() => answer())
  for (let index = 0; index < 3; index++) await make()
  await clock.advance(1_000)
  let work = (_value: string): void => {}
  answer = () => new Promise<string>((resolve) => (work = resolve))
  const trial = make()
  expect(await make()).toMatchObject({ ran: false, type: 'busy' })
  work('works')
  expect((await trial).type).toBe('ok')
})

describe('what counts', () => {
  test('an answer in between starts the count anew, and so does a failure of the tool that is no fault of the source', async () => {
    let answer: () => unknown = down
    const { make } = breaker(() => answer())
    for (const between of [() => 'works', () => toolFailure({ code: 'x', message: 'y', effect: 'none' })]) {
      answer = down
      await make()
      await make()
      answer = between
      await make()
    }
    answer = down
    expect(await make()).toMatchObject({ ran: true })
  })

  test('what the caller got wrong says nothing of the source', async () => {
    const { make } = breaker(() => toolFailure({ code: 'x', message: 'y', type: 'unsafe_args', effect: 'none' }))
    for (let index = 0; index < 5; index++) expect(await make()).toMatchObject({ ran: true, type: 'unsafe_args' })
  })

  test('a call whose time is over counts as a failure, and one that its caller left does not', async () => {
    const hanging = breaker(() => new Promise(() => {}), { effect: 'read' })
    for (let index = 0; index < 3; index++) {
      const ending = hanging.make()
      await hanging.clock.advance(1_000)
      expect((await ending).type).toBe('timeout')
    }
    expect(await hanging.make()).toMatchObject({ ran: false, type: 'busy' })

    const leave = new AbortController()
    const left = breaker(() => new Promise(() => {}), { signal: leave.signal })
    const endings = [left.make(), left.make(), left.make()]
    leave.abort()
    expect((await Promise.all(endings)).map(({ type }) => type)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  })

  test('a trial that was cancelled lets the next one through', async () => {
    let answer: () => unknown = down
    const leave = new AbortController()
    const { clock, newCall, start, make } = breaker(() => answer())
    for (let index = 0; index < 3; index++) await make()
    await clock.advance(1_000)
    answer = () => new Promise(() => {})
    const call = newCall()
    Object.assign(call.request, { signal: leave.signal })
    const trial = start(call)
    leave.abort()
    await trial
    answer = () => 'works'
    expect(await make()).toMatchObject({ ran: true, type: 'ok' })
  })
})

test('tools of another source are not left alone with it', async () => {
  const guards = [{ guard: 'breaker', for: { tool: '*' }, failures: 1, coolMs: 1_000 }] as const
  const setup = setUp(down, { source: 'one', executor: { guards } })
  await setup.start()
  expect(errorOf(await setup.start(setup.newCall()))?.type).toBe('busy')
  const call = setup.newCall()
  await setup.executor.run(call, { ...setup.entry, source: 'other' }, setup.input)
  expect(call.trail.attempts).toBe(1)
})

test('tools of other servers have one without being asked, tools of the gate itself have none', async () => {
  const names = (place: 'process' | 'upstream') => {
    const { executor, entry } = setUp(down, { tool: { place } })
    return executor.guards.of(entry).map(({ name }) => name)
  }
  expect(names('upstream')).toContain('breaker')
  expect(names('process')).not.toContain('breaker')
})
