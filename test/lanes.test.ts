// Lanes through whole gates. Goal: what touches the same never runs together, whoever calls; while a call waits nothing is lost of
// its time or of its authority; and a tool that does not end keeps others out only so long. Method: tools that end when the
// test says so, and a clock that stands still.

import { describe, expect, test } from 'vitest'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { ALLOWED, calm, Doors, ofChange, ofLook, openDoors, read, typeOf, until, write } from './doors.ts'

describe('across turns, sessions and clients', () => {
  test('what one session writes, another one waits for; another tenant does not', async () => {
    const doors = new Doors()
    const gate = await openDoors([read(doors), write(doors)])
    const first = gate.session({ user: 'ana' }).call(ofChange('f', 'write'))
    await until(() => doors.waiting.has('write'))
    const second = gate.session({ user: 'ben' }, 'mcp').call(ofLook('f', 'read'))
    const other = gate.session({ tenant: 'elsewhere' }).call(ofLook('f', 'other'))
    await until(() => doors.waiting.has('other'))
    await calm()
    expect(doors.running()).toEqual(['other', 'write'])
    for (const id of ['other', 'write', 'read']) await doors.open(id)
    expect((await Promise.all([first, second, other])).map(typeOf)).toEqual(['ok', 'ok', 'ok'])
    expect((await second).elapsedMs).toBeGreaterThan(0)
  })

  test('two turns that touch the same in opposite order both end', async () => {
    const doors = new Doors()
    const gate = await openDoors([write(doors)])
    const turns = [
      gate.session().turn([ofChange('a', '1a'), ofChange('b', '1b')]),
      gate.session().turn([ofChange('b', '2b'), ofChange('a', '2a')]),
    ]
    for (const id of ['1a', '1b', '2b', '2a']) await doors.open(id)
    expect((await Promise.all(turns)).flat().map(typeOf)).toEqual(['ok', 'ok', 'ok', 'ok'])
  })

  test('more than a thousand that wait are too many: the next one is busy at once and may come again later', async () => {
    const doors = new Doors()
    const gate = await openDoors([write(doors, { repeat: 'safe' })])
    const session = gate.session()
    const holder = session.call(ofChange('f', 'holder'))
    await until(() => doors.waiting.has('holder'))
    const leaving = Array.from({ length: 1_000 }, () => new AbortController())
    const waiting = leaving.map(({ signal }, n) => session.call({ ...ofChange('f', `w${n}`), signal }))
    const outcome = await session.call(ofChange('f', 'too many'))
    expect(outcome).toMatchObject({ ok: false, error: { type: 'busy', effect: 'none', retry: { advice: 'later' } } })
    expect(outcome.meta.attempts).toBe(0)
    for (const leave of leaving) leave.abort()
    expect((await Promise.all(waiting)).map(typeOf)).toEqual(waiting.map(() => 'cancelled'))
    await doors.open('holder')
    expect(typeOf(await holder)).toBe('ok')
    const next = session.call(ofChange('f', 'next'))
    await doors.open('next')
    expect(typeOf(await next)).toBe('ok')
  })
})

describe('while a call waits', () => {
  test('its deadline holds, and nothing has happened', async () => {
    const doors = new Doors()
    const clock = new FakeClock()
    const gate = await openDoors(
      [
        read(doors),
        write(doors, { deadlineMs: 50_000 }),
        doors.tool('quick', { deadlineMs: 1_000, effect: 'write', touches: () => ['write file:/ws/f'] }),
      ],
      { clock },
    )
    const holder = gate.session().call(ofChange('f', 'holder'))
    await until(() => doors.waiting.has('holder'))
    const waiting = gate.session().call({ name: 'quick', arguments: {} })
    await calm()
    await clock.advance(1_000)
    expect(await waiting).toMatchObject({
      ok: false,
      error: { type: 'timeout', effect: 'none', retry: { advice: 'safe' } },
      meta: { attempts: 0 },
    })
    const behind = gate.session().call(ofLook('f', 'behind'))
    await doors.open('holder')
    await doors.open('behind')
    expect([typeOf(await holder), typeOf(await behind)]).toEqual(['ok', 'ok'])
    expect(doors.log).not.toContain('quick starts')
    await gate.records.flush()
    expect((await gate.records.query({ limit: 100 })).filter(({ kind }) => kind === 'late')).toEqual([])
  })

  test('it may come to be denied, and then does not start', async () => {
    const doors = new Doors()
    const gate = await openDoors([read(doors), write(doors)])
    const session = gate.session()
    const holder = session.call(ofChange('f', 'holder'))
    await until(() => doors.waiting.has('holder'))
    const waiting = session.call(ofLook('f', 'denied'))
    await calm()
    expect((await gate.policy.reload({ ...ALLOWED, rules: [{ deny: 'look' }] })).kind).toBe('ok')
    expect(await waiting).toMatchObject({
      ok: false,
      error: { type: 'permission_denied', effect: 'none' },
      meta: { attempts: 0 },
    })
    await doors.open('holder')
    expect(typeOf(await holder)).toBe('ok')
    expect(doors.log).not.toContain('denied starts')
  })

  test('its tool may be replaced, and then neither of the two runs for it', async () => {
    const doors = new Doors()
    const gate = await openDoors([read(doors), write(doors)])
    const session = gate.session()
    const holder = session.call(ofChange('f', 'holder'))
    await until(() => doors.waiting.has('holder'))
    const waiting = session.call(ofLook('f', 'replaced'))
    await calm()
    gate.catalogue.register(doors.tool('look', { version: '2.0.0', touches: () => ['read file:/ws/f'] }))
    await doors.open('holder')
    expect(await waiting).toMatchObject({
      ok: false,
      error: { type: 'unavailable', effect: 'none', retry: { advice: 'safe' } },
      meta: { attempts: 0 },
    })
    expect(typeOf(await holder)).toBe('ok')
    expect(doors.log).not.toContain('replaced starts')
    const again = session.call(ofLook('f', 'again'))
    await doors.open('again')
    expect(typeOf(await again)).toBe('ok')
  })
})

describe('a tool that does not end with its call', () => {
  test('keeps its lane until it has ended', async () => {
    const doors = new Doors()
    const clock = new FakeClock()
    const gate = await openDoors([read(doors), write(doors, { deadlineMs: 1_000 })], { clock })
    const late = gate.session().call(ofChange('f', 'late'))
    await until(() => doors.waiting.has('late'))
    await clock.advance(1_000)
    expect(typeOf(await late)).toBe('timeout')
    const behind = gate.session().call(ofLook('f', 'behind'))
    await clock.advance(4_900)
    expect(doors.running()).toEqual(['late'])
    await doors.open('late')
    await doors.open('behind')
    expect(typeOf(await behind)).toBe('ok')
  })

  test('loses it five seconds after its call, and the record says so', async () => {
    const doors = new Doors()
    const clock = new FakeClock()
    const gate = await openDoors([read(doors), write(doors, { deadlineMs: 1_000 })], { clock })
    const stuck = gate.session().call(ofChange('f', 'stuck'))
    await until(() => doors.waiting.has('stuck'))
    await clock.advance(1_000)
    const { meta } = await stuck
    const behind = gate.session().call(ofLook('f', 'behind'))
    await clock.advance(5_000)
    await doors.open('behind')
    expect(typeOf(await behind)).toBe('ok')
    await gate.records.flush()
    const late = (await gate.records.query({ limit: 100 })).filter(({ kind }) => kind === 'late')
    expect(late.map(({ callId }) => callId)).toEqual([meta.callId])
    expect(JSON.stringify(late[0])).toContain('lane')
  })
})
