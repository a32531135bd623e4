// What every store must do with idempotency keys, told once and run against each of them. Goal: a key never lets a call run
// twice, and never keeps one from running that has certainly changed nothing. Method: a store on a clock that the test moves;
// only the interface is used, and refusals come first.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type ApprovalRow,
  type IntentDraft,
  JOURNAL_MS,
  type JournalEnd,
  type JournalKey,
  type RecordDraft,
  type Store,
} from '../observe/store.ts'
import { verifyRecords } from '../observe/verify.ts'
import { FakeClock } from '../testing/fake-clock.ts'

export function journalConformance(name: string, open: (clock: FakeClock) => Promise<Store>): void {
  describe(`${name}: idempotency keys`, () => {
    let clock: FakeClock
    let store: Store

    beforeEach(async () => {
      clock = new FakeClock()
      store = await open(clock)
    })
    afterEach(async () => {
      await store.close()
    })

    const row = (callId: string, kind: RecordDraft['kind']): RecordDraft => ({
      ...{ kind, at: clock.now(), callId, body: '{}' },
    })
    const keyOf = (key: string, change: Partial<JournalKey> = {}): JournalKey => ({
      ...{ tenant: 'acme', user: 'ana', agent: 'helper', tool: 'pay', key, digest: 'd1' },
      ...change,
    })
    const intent = (callId: string, journal: JournalKey | undefined, more: Partial<IntentDraft> = {}) =>
      store.intend({
        ...{ callId, tool: 'pay', effect: 'external', argumentsText: '{}', record: row(callId, 'intent') },
        ...(journal === undefined ? {} : { journal }),
        ...more,
      })
    const end = (callId: string, key: JournalKey, how: 'free' | 'unknown' | { readonly answer: string | null }) => {
      const kind = typeof how === 'string' ? { kind: how } : { kind: 'done' as const, answer: how.answer }
      return store.settle(row(callId, 'end'), { key, callId, ...kind } as JournalEnd)
    }
    const question = (id: string, digest = 'call-digest'): ApprovalRow => ({
      ...{ id, digest, state: 'open', tenant: 'acme', user: 'ana', agent: 'helper', session: 's', tool: 'pay' },
      ...{ fingerprint: 'f', effect: 'external', policyVersion: 'p', reason: 'r', shown: 'pay', workspace: 'main=/ws' },
      ...{ askedBy: ['default external'], offers: [{ reach: 'once', shown: 'this one call' }] },
      ...{ openedAt: clock.now(), expiresAt: clock.now() + 600_000 },
    })
    const approve = (id: string) =>
      store.answer(id, { decision: 'approve', by: 'boss', at: clock.now() }, { ...row('x', 'approval'), callId: null })
    const kinds = async () => (await store.records({ limit: 100 })).map(({ kind }) => kind)

    test('a key whose call runs is claimed by no other call, and nothing is written for that one', async () => {
      expect(await intent('call-1', keyOf('k'))).toEqual({ kind: 'recorded' })
      expect(await intent('call-2', keyOf('k'))).toEqual({ kind: 'key', state: 'running', callId: 'call-1' })
      expect(await kinds()).toEqual(['intent'])
    })

    test('other arguments under a key are a conflict while its call runs, when it is done, and when nobody knows', async () => {
      const other = keyOf('k', { digest: 'd2' })
      const conflict = { kind: 'key', state: 'conflict', callId: 'call-1' }
      await intent('call-1', keyOf('k'))
      expect(await intent('call-2', other)).toEqual(conflict)
      await end('call-1', keyOf('k'), 'unknown')
      expect(await intent('call-3', other)).toEqual(conflict)
      await end('call-1', keyOf('k'), { answer: '1' })
      expect(await intent('call-4', other)).toEqual(conflict)
    })

    test('an end that nobody knows lets nothing run, however long ago it was', async () => {
      await intent('call-1', keyOf('k'))
      await end('call-1', keyOf('k'), 'unknown')
      await clock.advance(JOURNAL_MS * 10)
      expect(await intent('call-2', keyOf('k'))).toEqual({ kind: 'key', state: 'unknown', callId: 'call-1' })
      await end('call-1', keyOf('k'), 'free')
      expect(await intent('call-3', keyOf('k'))).toEqual({ kind: 'recorded' })
    })

    test('a call that is done answers again, whole, and null where its answer was not kept', async () => {
      const answer = JSON.stringify({ text: 'ä€😀\u2028\u0000\ud800', long: 'x'.repeat(200_000) })
      await intent('call-1', keyOf('k'))
      await end('call-1', keyOf('k'), { answer })
      expect(await intent('call-2', keyOf('k'))).toEqual({ kind: 'replay', callId: 'call-1', answer })
      await intent('call-3', keyOf('lost'))
      await end('call-3', keyOf('lost'), { answer: null })
      expect(await intent('call-4', keyOf('lost'))).toEqual({ kind: 'replay', callId: 'call-3', answer: null })
      expect(await kinds()).toEqual(['intent', 'end', 'intent', 'end'])
      expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 4 })
    })

    test('a key that ended free, or was done a day ago, is claimed anew, also for other arguments', async () => {
      await intent('call-1', keyOf('k'))
      await end('call-1', keyOf('k'), 'free')
      expect(await intent('call-2', keyOf('k', { digest: 'd2' }))).toEqual({ kind: 'recorded' })
      await end('call-2', keyOf('k', { digest: 'd2' }), { answer: '2' })
      await clock.advance(JOURNAL_MS - 1)
      expect(await intent('call-3', keyOf('k'))).toMatchObject({ kind: 'key', state: 'conflict' })
      await clock.advance(1)
      expect(await intent('call-4', keyOf('k'))).toEqual({ kind: 'recorded' })
      expect(await intent('call-5', keyOf('k'))).toEqual({ kind: 'key', state: 'running', callId: 'call-4' })
    })

    test('a key is of one tenant, user, agent and tool', async () => {
      await intent('call-0', keyOf('k'))
      const others = [{ tenant: 'b' }, { user: 'b' }, { agent: 'b' }, { tool: 'b' }, { key: 'K' }, { key: "k' OR 1=1" }]
      for (const [index, change] of others.entries()) {
        expect(await intent(`call-${index + 1}`, keyOf('k', change))).toEqual({ kind: 'recorded' })
      }
    })

    test('the end of a call leaves a key alone that another call has by now', async () => {
      await intent('call-1', keyOf('k'))
      await end('call-1', keyOf('k'), 'free')
      await intent('call-2', keyOf('k'))
      await end('call-1', keyOf('k'), { answer: '1' })
      await end('call-1', keyOf('k'), 'free')
      expect(await intent('call-3', keyOf('k'))).toEqual({ kind: 'key', state: 'running', callId: 'call-2' })
    })

    test('a call that is not approved claims nothing', async () => {
      const ask = { ask: { open: question('a1') } }
      expect(await intent('call-1', keyOf('k'), ask)).toMatchObject({ kind: 'unapproved', state: 'open' })
      expect(await store.journal({ limit: 10 })).toEqual([])
      expect(await intent('call-2', keyOf('k', { digest: 'd2' }))).toEqual({ kind: 'recorded' })
    })

    test('no approval is spent on an answer that is there, or on a key that somebody has', async () => {
      await intent('call-1', keyOf('k'), { ask: { open: question('a1') } })
      await approve('a1')
      await intent('call-2', keyOf('k'))
      const named = { ask: { open: question('a2'), approvalId: 'a1' } }
      expect(await intent('call-3', keyOf('k'), named)).toMatchObject({ kind: 'key', state: 'running' })
      await end('call-2', keyOf('k'), { answer: '1' })
      expect(await intent('call-4', keyOf('k'), named)).toMatchObject({ kind: 'replay', callId: 'call-2' })
      expect(await store.approvals({ id: 'a1', limit: 1 })).toMatchObject([{ state: 'approved' }])
      expect(await intent('call-5', keyOf('k2'), named)).toEqual({ kind: 'recorded', approvalId: 'a1' })
    })

    test('of fifty calls at once under one key, one claims it', async () => {
      const all = await Promise.all(Array.from({ length: 50 }, (_, number) => intent(`call-${number}`, keyOf('k'))))
      expect(all.filter(({ kind }) => kind === 'recorded')).toHaveLength(1)
      expect(all.filter((one) => one.kind === 'key' && one.state === 'running')).toHaveLength(49)
    })

    test('an operator sees the keys, newest first, by call and by state, without their answers', async () => {
      for (const [index, key] of ['a', 'b', 'c'].entries()) {
        await intent(`call-${key}`, keyOf(key))
        await clock.advance(index + 1)
      }
      await end('call-a', keyOf('a'), { answer: '"secret"' })
      await end('call-b', keyOf('b'), 'unknown')
      const states = async (filter: object) =>
        (await store.journal({ limit: 10, ...filter })).map(({ key, state }) => `${key} ${state}`)
      expect(await states({})).toEqual(['c running', 'b unknown', 'a done'])
      expect(await states({ limit: 1 })).toEqual(['c running'])
      expect(await states({ state: 'unknown' })).toEqual(['b unknown'])
      expect(await states({ callId: 'call-a' })).toEqual(['a done'])
      expect(await states({ callId: 'call-a', state: 'running' })).toEqual([])
      expect(await states({ callId: "' OR 1=1 --" })).toEqual([])
      const [kept] = await store.journal({ callId: 'call-b', limit: 1 })
      expect(kept).toEqual({
        ...keyOf('b'),
        ...{ callId: 'call-b', state: 'unknown', claimedAt: clock.now() - 5, endedAt: clock.now() },
      })
      expect(JSON.stringify(await store.journal({ limit: 10 }))).not.toContain('secret')
      await expect(store.journal({ limit: 0 })).rejects.toThrow(RangeError)
    })

    test('a bad row throws and settles nothing; after the close nothing is settled', async () => {
      await intent('call-1', keyOf('k'))
      const bad = store.settle(
        { ...row('call-1', 'end'), at: 1.5 },
        { key: keyOf('k'), callId: 'call-1', kind: 'free' },
      )
      await expect(bad).rejects.toThrow(TypeError)
      expect(await intent('call-2', keyOf('k'))).toMatchObject({ kind: 'key', state: 'running' })
      await store.close()
      await expect(end('call-1', keyOf('k'), 'free')).rejects.toThrow()
    })
  })
}
