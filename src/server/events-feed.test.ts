// Goal: everybody who may listen hears every event in one order, nobody hears what their scopes do not cover, and no reader
// makes the gate keep more and more. Method: a feed over an emitter, read by hand, on a clock that the test moves.

import { describe, expect, test, vi } from 'vitest'
import { Emitter } from '../base/emitter.ts'
import type { GateEvents } from '../gate-contract.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { EventFeed, type ListenerOptions } from './events-feed.ts'
import { EVENT_KINDS, kindsFor } from './events-row.ts'

/** Looks often, and waits long where the machine is busy. */
const until = <Value>(check: () => Value, options: object = {}) =>
  vi.waitFor(check, { timeout: 10_000, interval: 10, ...options })

function open() {
  const events = new Emitter<GateEvents>(() => {})
  const clock = new FakeClock()
  const feed = new EventFeed({ on: (name, listener) => events.on(name, listener) }, clock)
  const listen = (options: Partial<ListenerOptions> = {}) =>
    feed.open({
      id: 'tok_1',
      kinds: new Set(EVENT_KINDS),
      lastEventId: undefined,
      holds: async () => true,
      cutOff: () => {},
      ...options,
    })
  const change = (digest: string) => events.emit('catalogue-changed', { digest })
  return { events, clock, feed, listen, change }
}

type Heard = { readonly id: string; readonly event: string; readonly data: unknown }

/** Reads a stream in the background. */
function reading(stream: ReadableStream<Uint8Array> | undefined) {
  if (stream === undefined) throw new Error('no stream')
  const reader = stream.getReader()
  let text = ''
  let ended: 'open' | 'closed' | 'failed' = 'open'
  const loop = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      text += Buffer.from(value).toString('utf8')
    }
    ended = 'closed'
  }
  loop().catch(() => {
    ended = 'failed'
  })
  const heard = (): readonly Heard[] =>
    text
      .split('\n\n')
      .filter((block) => block.startsWith('id:'))
      .map((block) => {
        const [id = '', event = '', data = ''] = block.split('\n').map((line) => line.replace(/^[a-z]+: /, ''))
        return { id, event, data: JSON.parse(data) as unknown }
      })
  return { heard, text: () => text, ended: () => ended, cancel: () => reader.cancel() }
}

describe('the feed of events', () => {
  test('all who listen hear all events in one order, each with an id of its own', async () => {
    const { listen, change } = open()
    const one = reading(listen())
    const other = reading(listen())
    for (const digest of ['a', 'b', 'c']) change(digest)
    await until(() =>
      expect(one.heard().map(({ data }) => data)).toEqual(['a', 'b', 'c'].map((digest) => ({ digest }))),
    )
    await until(() => expect(other.heard()).toEqual(one.heard()))
    expect(new Set(one.heard().map(({ id }) => id)).size).toBe(3)
  })

  test('a kind that the scopes do not cover is not heard, also not as something missed', async () => {
    const { events, listen, change } = open()
    const all = reading(listen())
    change('a')
    events.emit('policy-changed', { version: 'v1' })
    await until(() => expect(all.heard()).toHaveLength(2))
    const [first] = all.heard()
    const policy = reading(
      listen({ kinds: new Set(['policy']), lastEventId: (first?.id ?? '').replace(/\.\d+$/, '.0') }),
    )
    change('b')
    events.emit('policy-changed', { version: 'v2' })
    await until(() => expect(policy.heard().map(({ data }) => data)).toEqual([{ version: 'v1' }, { version: 'v2' }]))
  })

  test('scopes: `call` hears nothing, `approve` hears of approvals, `audit` and `admin` of everything', () => {
    expect([...kindsFor(['call'])]).toEqual([])
    expect([...kindsFor(['approve'])]).toEqual(['approval'])
    expect([...kindsFor(['audit'])]).toEqual([...EVENT_KINDS])
    expect([...kindsFor(['admin'])]).toEqual([...EVENT_KINDS])
  })

  test('that records cannot be kept, and checkpoints, are told without reasons and contents', async () => {
    const { events, listen, feed } = open()
    const { heard, text } = reading(listen())
    events.emit('audit-failed', { reason: 'the disk /var is full' })
    events.emit('audit-failed', {})
    events.emit('checkpoint-made', { note: 'lockgate/ab\ncheckpoint 1\n' })
    await until(() => expect(heard()).toHaveLength(3))
    expect(heard()).toMatchObject([
      { event: 'audit', data: { kept: false } },
      { event: 'audit', data: { kept: true } },
      { event: 'checkpoint', data: { digest: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: 25 } },
    ])
    expect(text()).not.toContain('/var')
    feed.close()
  })

  test('whoever comes back hears what was missed, once', async () => {
    const { listen, change } = open()
    const before = reading(listen())
    change('a')
    await until(() => expect(before.heard()).toHaveLength(1))
    await before.cancel()
    change('b')
    change('c')
    const after = reading(listen({ lastEventId: before.heard()[0]?.id }))
    change('d')
    await until(() =>
      expect(after.heard().map(({ data }) => data)).toEqual(['b', 'c', 'd'].map((digest) => ({ digest }))),
    )
  })

  test.each(['made up', '0'.repeat(12), `${'0'.repeat(12)}.1`])(
    'an id that is not of this feed, `%s`, is answered with a reset and nothing else',
    async (lastEventId) => {
      const { listen, change } = open()
      change('a')
      const listener = reading(listen({ lastEventId }))
      await until(() => expect(listener.heard()).toMatchObject([{ event: 'reset' }]))
    },
  )

  test('an id of an event that never was is answered with a reset', async () => {
    const { listen, change } = open()
    const first = reading(listen())
    change('a')
    await until(() => expect(first.heard()).toHaveLength(1))
    const listener = reading(listen({ lastEventId: first.heard()[0]?.id.replace('.1', '.9') }))
    await until(() => expect(listener.heard()).toMatchObject([{ event: 'reset' }]))
  })

  test('where what was missed is no longer kept, a reset says so, and the next event follows it', async () => {
    const { listen, change } = open()
    const first = reading(listen())
    change('a')
    await until(() => expect(first.heard()).toHaveLength(1))
    for (let time = 0; time < 501; time++) change(`${time}`)
    const late = reading(listen({ lastEventId: first.heard()[0]?.id }))
    change('last')
    await until(() => expect(late.heard()).toMatchObject([{ event: 'reset' }, { data: { digest: 'last' } }]))
    const again = reading(listen({ lastEventId: late.heard()[0]?.id }))
    await until(() => expect(again.heard()).toMatchObject([{ data: { digest: 'last' } }]))
  })

  test('one that does not read is cut off, and nobody else', async () => {
    const { feed, listen, change } = open()
    const cutOff = vi.fn()
    const slow = listen({ cutOff })
    const quick = reading(listen())
    const text = 'x'.repeat(10_000)
    for (let time = 0; time < 200; time++) {
      change(`${time} ${text}`)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(cutOff).toHaveBeenCalledTimes(1)
    expect(feed.size).toBe(1)
    await until(() => expect(quick.heard()).toHaveLength(200))
    expect(quick.ended()).toBe('open')
    const late = reading(slow)
    await until(() => expect(late.ended()).toBe('closed'))
    expect(late.heard().length).toBeLessThan(200)
  })

  test('every 15 seconds a comment says that the stream lives', async () => {
    const { clock, listen } = open()
    const listener = reading(listen())
    await clock.advance(14_999)
    expect(listener.text()).not.toContain(': alive')
    await clock.advance(1)
    await until(() => expect(listener.text().match(/: alive\n\n/g)).toHaveLength(1))
    await clock.advance(15_000)
    await until(() => expect(listener.text().match(/: alive\n\n/g)).toHaveLength(2))
  })

  test.each([
    ['ended', async () => false],
    [
      'cannot be looked at',
      async () => {
        throw new Error('no file')
      },
    ],
  ])('a credential that %s stops hearing', async (_what, holds) => {
    const { clock, feed, listen, change } = open()
    const gone = reading(listen({ holds }))
    const stays = reading(listen())
    await clock.advance(15_000)
    await until(() => expect(gone.ended()).toBe('closed'))
    change('after')
    await until(() => expect(stays.heard()).toHaveLength(1))
    expect(gone.heard()).toEqual([])
    expect(feed.size).toBe(1)
  })

  test('there is room for so many in all, and for fewer of one credential; one that leaves makes room', async () => {
    const { listen } = open()
    const own = Array.from({ length: 8 }, () => reading(listen()))
    expect(listen()).toBeUndefined()
    for (let other = 0; other < 56; other++) expect(listen({ id: `tok_other_${other}` })).toBeDefined()
    expect(listen({ id: 'tok_last' })).toBeUndefined()
    await own[0]?.cancel()
    expect(listen({ id: 'tok_last' })).toBeDefined()
  })

  test('with nobody left to listen no timer runs; closing ends everybody and hears nothing more', async () => {
    const { clock, feed, listen, change } = open()
    const first = reading(listen())
    expect(clock.waiting).toBe(1)
    await first.cancel()
    expect(clock.waiting).toBe(0)
    const second = reading(listen())
    feed.close()
    change('after')
    await until(() => expect(second.ended()).toBe('closed'))
    expect(second.heard()).toEqual([])
    expect(listen()).toBeUndefined()
    expect(clock.waiting).toBe(0)
  })
})

describe('progress', () => {
  const caller = { tenant: 't', user: 'u', agent: 'a', roles: [], session: 's' }
  const say = (events: Emitter<GateEvents>, callId: string, message: string): void =>
    events.emit('call-progress', { callId, tool: 'build', caller, progress: { message, progress: 1 } })
  const closed = { ok: true, value: 1, content: [], elapsedMs: 1 } as const
  const close = (events: Emitter<GateEvents>, callId: string): void =>
    events.emit('call-closed', { ...closed, meta: { callId, runId: 'run_1', tool: 'build', attempts: 1 } })
  const blocks = (text: string) => text.split('\n\n').filter((block) => block.startsWith('event: progress'))

  test('of each call passes a few times a second, the newest of it, and the last before the call ends', async () => {
    const { clock, events, listen } = open()
    const listener = reading(listen())
    for (let step = 1; step <= 100; step++) say(events, 'call_1', `step ${step}`)
    say(events, 'call_2', 'other')
    await clock.advance(250)
    await until(() => expect(blocks(listener.text())).toHaveLength(3))
    expect(blocks(listener.text()).join()).toMatch(/step 1".*other.*step 100"/s)
    say(events, 'call_1', 'nearly')
    say(events, 'call_1', 'done')
    close(events, 'call_1')
    say(events, 'call_3', 'after')
    await until(() => expect(listener.text()).toMatch(/nearly|done/))
    await until(() => expect(listener.text()).toMatch(/done".*event: call\n.*after/s))
    await clock.advance(1_000)
    expect(listener.text().match(/event: call\n/g)).toHaveLength(1)
  })

  test('has no id and is told to nobody who comes later, or who may not hear of it', async () => {
    const { events, listen, change } = open()
    const first = reading(listen())
    const approver = reading(listen({ id: 'tok_2', kinds: kindsFor(['approve']) }))
    change('a')
    say(events, 'call_1', 'half')
    change('b')
    await until(() => expect(first.heard()).toHaveLength(2))
    await until(() => expect(first.text()).toContain('half'))
    const later = reading(listen({ lastEventId: first.heard()[0]?.id }))
    await until(() => expect(later.heard()).toHaveLength(1))
    expect(later.text()).not.toContain('half')
    expect(approver.text()).not.toContain('half')
  })

  test('that nobody listens to costs no timer, and none is left when the feed closes', async () => {
    const { clock, events, feed, listen } = open()
    for (let step = 0; step < 10; step++) say(events, 'call_1', 'x')
    expect(clock.waiting).toBe(0)
    reading(listen())
    for (let step = 0; step < 10; step++) say(events, 'call_1', 'x')
    feed.close()
    expect(clock.waiting).toBe(0)
  })

  test('quotes the newest part of a long message, and names the call and nothing else of it', async () => {
    const { events, listen } = open()
    const listener = reading(listen())
    say(events, 'call_1', `${'x'.repeat(5_000)}end`)
    await until(() => expect(blocks(listener.text())).toHaveLength(1))
    const data: unknown = JSON.parse(blocks(listener.text())[0]?.split('data: ')[1] ?? '')
    expect(data).toEqual({ callId: 'call_1', tool: 'build', progress: 1, message: `${'x'.repeat(1_021)}end` })
  })
})

describe('what an event says', () => {
  const outcome = {
    ok: false,
    content: [{ type: 'text', text: 'secret content' }],
    elapsedMs: 1.4,
    error: {
      type: 'permission_denied',
      message: 'secret message',
      help: 'secret help',
      retry: { advice: 'never' },
      effect: 'none',
      fatal: false,
      details: { shown: 'secret shown' },
    },
    meta: {
      callId: 'call_1',
      runId: 'run_1',
      tool: 'x'.repeat(500),
      attempts: 0,
      decision: { kind: 'deny', rule: 'secret rule', reason: 'secret reason' },
    },
  } as const

  test('of a call: that it ended and how; no argument, content, rule or text', async () => {
    const { events, listen } = open()
    const listener = reading(listen())
    events.emit('call-closed', outcome)
    await until(() => expect(listener.heard()).toHaveLength(1))
    expect(listener.text()).not.toContain('secret')
    expect(listener.heard()[0]).toMatchObject({
      event: 'call',
      data: {
        callId: 'call_1',
        tool: 'x'.repeat(128),
        decision: 'deny',
        ok: false,
        error: 'permission_denied',
        elapsedMs: 1,
      },
    })
  })

  test('of an approval: which one and how it stands; no rendering, digest, comment or code', async () => {
    const { events, listen } = open()
    const listener = reading(listen())
    events.emit('approval-opened', {
      id: 'apr_1',
      digest: 'secret digest',
      state: 'open',
      tenant: 't',
      user: 'u',
      agent: 'a',
      session: 's',
      tool: 'write_file',
      fingerprint: 'secret',
      effect: 'write',
      policyVersion: 'secret',
      reason: 'secret reason',
      shown: 'secret arguments',
      workspace: 'secret workspace',
      askedBy: ['rule secret'],
      offers: [{ reach: 'once', shown: 'secret offer' }],
      proof: 'secret proof',
      openedAt: 1,
      expiresAt: 2,
      comment: 'secret comment',
    })
    await until(() => expect(listener.heard()).toHaveLength(1))
    expect(listener.text()).not.toContain('secret')
    expect(listener.heard()[0]).toMatchObject({
      event: 'approval',
      data: { id: 'apr_1', state: 'open', tool: 'write_file' },
    })
  })

  test('names that hold line breaks make no further event', async () => {
    const { events, listen } = open()
    const listener = reading(listen())
    events.emit('call-closed', { ...outcome, meta: { ...outcome.meta, tool: 'x\n\nevent: approval\ndata: {}' } })
    await until(() => expect(listener.heard()).toHaveLength(1))
    expect(listener.heard()[0]).toMatchObject({ event: 'call', data: { tool: 'x\n\nevent: approval\ndata: {}' } })
  })
})
