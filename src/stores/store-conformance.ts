// What every store must do, told once and run against each of them. Goal: the pipeline may swap one for the other. Method: a
// store opened on a clock that the test moves; only the interface is used, and refusals come first.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FileChange } from '../describe/before-images.ts'
import type { ApprovalRow, IntentDraft, RecordDraft, Store } from '../observe/store.ts'
import { verifyRecords } from '../observe/verify.ts'
import { FakeClock } from '../testing/fake-clock.ts'

const MINUTE_MS = 60_000

export function storeConformance(name: string, open: (clock: FakeClock) => Promise<Store>): void {
  describe(`${name}: what every store does`, () => {
    let clock: FakeClock
    let store: Store

    beforeEach(async () => {
      clock = new FakeClock()
      store = await open(clock)
    })
    afterEach(async () => {
      await store.close()
    })

    const row = (callId: string | null, kind: RecordDraft['kind'] = 'end', body = '{}'): RecordDraft => ({
      kind,
      at: clock.now(),
      callId,
      body,
    })
    const approval = (id: string, digest = 'digest-1'): ApprovalRow => ({
      id,
      digest,
      state: 'open',
      tenant: 'acme',
      user: 'ana',
      agent: 'helper',
      session: 'session-1',
      tool: 'write_file',
      fingerprint: 'f'.repeat(64),
      effect: 'write',
      policyVersion: 'p1',
      reason: 'writes are asked',
      shown: 'write_file path="a.txt"\n\u0000 content="…"',
      workspace: 'main=/ws',
      askedBy: ['default write'],
      offers: [{ reach: 'once', shown: 'this one call' }],
      openedAt: clock.now(),
      expiresAt: clock.now() + 10 * MINUTE_MS,
    })
    const intent = (callId: string, ask?: IntentDraft['ask']): IntentDraft => ({
      callId,
      tool: 'write_file',
      effect: 'write',
      argumentsText: '{"path":"a.txt"}',
      record: row(callId, 'intent', `{"call":"${callId}"}`),
      ...(ask === undefined ? {} : { ask }),
    })
    const decide = (id: string, decision: 'approve' | 'decline') =>
      store.answer(id, { decision, by: 'boss', at: clock.now() }, row(null, 'approval', `{"decision":"${decision}"}`))
    const kinds = async () => (await store.records({ limit: 10_000 })).map(({ kind }) => kind)

    describe('records', () => {
      test('a row with a call id of two lines, or an empty one, or with a broken time, throws and leaves nothing', async () => {
        for (const bad of [row('a\nb'), row(''), { ...row('a'), at: Number.NaN }, { ...row('a'), at: 1.5 }]) {
          expect(() => store.append(bad)).toThrow(TypeError)
          await expect(store.intend({ ...intent('a'), record: bad })).rejects.toThrow(TypeError)
          await expect(store.answer('x', { decision: 'approve', by: 'b', at: 1 }, bad)).rejects.toThrow(TypeError)
        }
        expect(await store.records({ limit: 10 })).toEqual([])
        expect(await store.chains()).toEqual([])
      })

      test('a page is 1 to 10,000 rows', async () => {
        for (const limit of [0, -1, 1.5, 10_001, Number.NaN]) {
          await expect(store.records({ limit })).rejects.toThrow(RangeError)
          await expect(store.approvals({ limit })).rejects.toThrow(RangeError)
        }
      })

      test('chain: rows count from 1 in one chain, keep what was written, and verify', async () => {
        const bodies = [
          '{"a":1}',
          JSON.stringify({ text: 'ä€😀\u2028\u0000\ud800\n\ufffd' }),
          '{"b":"\u00e9\ufffd"}',
          '',
        ]
        for (const [index, body] of bodies.entries())
          store.append(row(index === 0 ? null : `call-${index}`, 'end', body))
        const rows = await store.records({ limit: 10 })
        expect(rows.map(({ body }) => body)).toEqual(bodies)
        expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
        expect(rows.map(({ callId }) => callId)).toEqual([null, 'call-1', 'call-2', 'call-3'])
        expect(rows.every(({ chain, at, kind }) => chain === store.chain && at === clock.now() && kind === 'end')).toBe(
          true,
        )
        expect(await store.chains()).toEqual([store.chain])
        expect(await store.recordCount()).toBe(4)
        expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 4, chains: 1 })
      })

      test('chain: hundreds of rows and intents in between verify, in pages of any size', async () => {
        for (let number = 0; number < 800; number += 1) {
          store.append(row(`call-${number}`, 'end', JSON.stringify({ number })))
          if (number % 89 === 0) await store.intend(intent(`intent-${number}`))
        }
        for (const pageRows of [1, 7, 1_000, 10_000]) {
          // A thread is asked for each page.
          if (pageRows === 1 && name !== 'memory') continue
          expect(await verifyRecords(store, { pageRows })).toMatchObject({ kind: 'ok', rows: 809, chains: 1 })
        }
      })

      test('rows are found by chain, position, call and kind, from either end', async () => {
        for (const number of [1, 2, 3, 4, 5]) store.append(row(`call-${number % 2}`, number === 3 ? 'late' : 'end'))
        const seqs = async (query: object) => (await store.records({ limit: 10, ...query })).map(({ seq }) => seq)
        expect(await seqs({})).toEqual([1, 2, 3, 4, 5])
        expect(await seqs({ newestFirst: true })).toEqual([5, 4, 3, 2, 1])
        expect(await seqs({ newestFirst: true, limit: 2 })).toEqual([5, 4])
        expect(await seqs({ chain: store.chain, afterSeq: 3 })).toEqual([4, 5])
        expect(await seqs({ chain: store.chain, afterSeq: 2, newestFirst: true, limit: 2 })).toEqual([5, 4])
        expect(await seqs({ callId: 'call-0' })).toEqual([2, 4])
        expect(await seqs({ kind: 'late' })).toEqual([3])
        expect(await seqs({ kind: 'end', callId: 'call-1' })).toEqual([1, 5])
        expect(await seqs({ chain: 'another' })).toEqual([])
        expect(await seqs({ callId: "' OR 1=1 --" })).toEqual([])
      })
    })

    describe('intents and approvals', () => {
      test('intent-first: an intent that asks nothing is recorded, and stands in the records when the promise resolves', async () => {
        expect(await store.intend(intent('call-1'))).toEqual({ kind: 'recorded' })
        expect(await kinds()).toEqual(['intent'])
        expect(await store.lapsedIntents()).toEqual([])
      })

      test('an ask without an answer opens one question and writes no intent', async () => {
        const open = approval('a1')
        expect(await store.intend(intent('call-1', { open }))).toEqual({
          kind: 'unapproved',
          state: 'open',
          approval: open,
        })
        expect(await kinds()).toEqual(['approval'])
        expect(await store.approvals({ limit: 10 })).toEqual([open])
        const [record] = await store.records({ limit: 1 })
        expect(record).toMatchObject({ callId: 'call-1', at: clock.now() })
        expect(JSON.parse(record?.body ?? '')).toMatchObject({ approvalId: 'a1', digest: 'digest-1', state: 'open' })
        expect(record?.body).not.toContain('content=')
      })

      test('an equal ask joins the open question; another call asks its own', async () => {
        await store.intend(intent('call-1', { open: approval('a1') }))
        const joined = await store.intend(intent('call-2', { open: approval('a2') }))
        expect(joined).toMatchObject({ kind: 'unapproved', state: 'open', approval: { id: 'a1' } })
        const other = await store.intend(intent('call-3', { open: approval('a3', 'digest-2') }))
        expect(other).toMatchObject({ state: 'open', approval: { id: 'a3' } })
        expect((await store.approvals({ limit: 10 })).map(({ id }) => id).sort()).toEqual(['a1', 'a3'])
        expect(await kinds()).toEqual(['approval', 'approval'])
      })

      test('an approved call is redeemed by an equal one, once', async () => {
        await store.intend(intent('call-1', { open: approval('a1') }))
        await decide('a1', 'approve')
        expect(await store.intend(intent('call-2', { open: approval('a2') }))).toEqual({
          kind: 'recorded',
          approvalId: 'a1',
        })
        expect(await store.approvals({ id: 'a1', limit: 1 })).toMatchObject([
          { state: 'redeemed', redeemedBy: 'call-2' },
        ])
        expect(await store.intend(intent('call-3', { open: approval('a3') }))).toMatchObject({
          kind: 'unapproved',
          state: 'open',
          approval: { id: 'a3' },
        })
        expect(await kinds()).toEqual(['approval', 'approval', 'intent', 'approval'])
      })

      test('an approval never serves a call of another digest, named or not', async () => {
        await store.intend(intent('call-1', { open: approval('a1') }))
        await decide('a1', 'approve')
        const other = approval('a2', 'digest-2')
        expect(await store.intend(intent('call-2', { approvalId: 'a1', open: other }))).toEqual({
          kind: 'unapproved',
          state: 'mismatch',
        })
        expect(await store.intend(intent('call-3', { approvalId: 'nothing', open: other }))).toEqual({
          kind: 'unapproved',
          state: 'mismatch',
        })
        expect(await store.intend(intent('call-4', { open: other }))).toMatchObject({
          state: 'open',
          approval: { id: 'a2' },
        })
        expect(await store.approvals({ id: 'a1', limit: 1 })).toMatchObject([{ state: 'approved' }])
      })

      test('a named approval is open, approved, used, declined or expired, and says so', async () => {
        const named = (callId: string, approvalId: string, digest: string) =>
          store.intend(intent(callId, { approvalId, open: approval(`new-${callId}`, digest) }))
        for (const number of [1, 2, 3]) {
          await store.intend(intent(`ask-${number}`, { open: approval(`a${number}`, `digest-${number}`) }))
        }
        expect(await named('call-1', 'a1', 'digest-1')).toMatchObject({ state: 'open', approval: { id: 'a1' } })
        await decide('a1', 'approve')
        expect(await named('call-2', 'a1', 'digest-1')).toEqual({ kind: 'recorded', approvalId: 'a1' })
        expect(await named('call-3', 'a1', 'digest-1')).toMatchObject({
          state: 'used',
          approval: { redeemedBy: 'call-2' },
        })
        await decide('a2', 'decline')
        expect(await named('call-4', 'a2', 'digest-2')).toMatchObject({ state: 'declined' })
        await decide('a3', 'approve')
        await clock.advance(10 * MINUTE_MS)
        expect(await named('call-5', 'a3', 'digest-3')).toMatchObject({ state: 'expired' })
        expect((await store.approvals({ limit: 10 })).map(({ id }) => id).sort()).toEqual(['a1', 'a2', 'a3'])
      })

      test('a declined call stays declined until the question expires, then it may ask again', async () => {
        await store.intend(intent('call-1', { open: approval('a1') }))
        await decide('a1', 'decline')
        await clock.advance(10 * MINUTE_MS - 1)
        expect(await store.intend(intent('call-2', { open: approval('a2') }))).toMatchObject({
          kind: 'unapproved',
          state: 'declined',
          approval: { id: 'a1', answeredBy: 'boss' },
        })
        await clock.advance(1)
        expect(await store.intend(intent('call-3', { open: approval('a3') }))).toMatchObject({
          state: 'open',
          approval: { id: 'a3' },
        })
      })

      test('an approved call that nobody used expires: it is asked anew', async () => {
        await store.intend(intent('call-1', { open: approval('a1') }))
        await decide('a1', 'approve')
        await clock.advance(10 * MINUTE_MS)
        expect(await store.intend(intent('call-2', { open: approval('a2') }))).toMatchObject({
          state: 'open',
          approval: { id: 'a2' },
        })
        expect(await kinds()).not.toContain('intent')
      })

      test('one answer to a question: none to a missing, an answered, a used or an expired one', async () => {
        expect(await decide('a1', 'approve')).toEqual({ kind: 'missing' })
        await store.intend(intent('call-1', { open: approval('a1') }))
        await store.intend(intent('call-2', { open: approval('a2', 'digest-2') }))
        const answer = { decision: 'approve', by: 'boss', at: clock.now() + 5, comment: 'fine' } as const
        const done = await store.answer('a1', answer, row(null, 'approval', '{"decision":"approve"}'))
        expect(done).toMatchObject({
          kind: 'answered',
          approval: { state: 'approved', answeredBy: 'boss', answeredAt: clock.now() + 5, comment: 'fine' },
        })
        expect(await decide('a1', 'decline')).toMatchObject({ kind: 'closed', approval: { state: 'approved' } })
        await store.intend(intent('call-3', { open: approval('a3') }))
        expect(await decide('a1', 'decline')).toMatchObject({ kind: 'closed', approval: { state: 'redeemed' } })
        await clock.advance(10 * MINUTE_MS)
        expect(await decide('a2', 'approve')).toMatchObject({ kind: 'closed', approval: { state: 'open' } })
        expect(await kinds()).toEqual(['approval', 'approval', 'approval', 'intent'])
      })

      test('questions are listed by id and by state, newest first', async () => {
        for (const number of [1, 2, 3]) {
          await store.intend(intent(`call-${number}`, { open: approval(`a${number}`, `digest-${number}`) }))
          await clock.advance(1)
        }
        await decide('a2', 'decline')
        const ids = async (filter: object) => (await store.approvals({ limit: 10, ...filter })).map(({ id }) => id)
        expect(await ids({})).toEqual(['a3', 'a2', 'a1'])
        expect(await ids({ limit: 2 })).toEqual(['a3', 'a2'])
        expect(await ids({ state: 'open' })).toEqual(['a3', 'a1'])
        expect(await ids({ state: 'declined' })).toEqual(['a2'])
        expect(await ids({ id: 'a1' })).toEqual(['a1'])
        expect(await ids({ id: 'a1', state: 'declined' })).toEqual([])
      })

      test('an id that is taken fails the ask, and leaves the first question as it was', async () => {
        await store.intend(intent('call-1', { open: approval('a1') }))
        const failed = await store.intend(intent('call-2', { open: approval('a1', 'digest-2') }))
        expect(failed).toMatchObject({ kind: 'failed' })
        expect(await store.approvals({ limit: 10 })).toMatchObject([{ id: 'a1', digest: 'digest-1' }])
        expect(await store.intend(intent('call-3'))).toEqual({ kind: 'recorded' })
        expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 2 })
      })

      test('of fifty calls at once one redeems: the others, naming it, find it used', async () => {
        await store.intend(intent('call-0', { open: approval('a1') }))
        await decide('a1', 'approve')
        const all = await Promise.all(
          Array.from({ length: 50 }, (_, number) =>
            store.intend(intent(`call-${number + 1}`, { approvalId: 'a1', open: approval(`new-${number}`) })),
          ),
        )
        expect(all.filter(({ kind }) => kind === 'recorded')).toEqual([{ kind: 'recorded', approvalId: 'a1' }])
        expect(all.filter((one) => one.kind === 'unapproved' && one.state === 'used')).toHaveLength(49)
        expect((await kinds()).filter((kind) => kind === 'intent')).toHaveLength(1)
      })

      test('of fifty equal calls at once one redeems: the others share one new question', async () => {
        await store.intend(intent('call-0', { open: approval('a1') }))
        await decide('a1', 'approve')
        const all = await Promise.all(
          Array.from({ length: 50 }, (_, number) =>
            store.intend(intent(`call-${number + 1}`, { open: approval(`new-${number}`) })),
          ),
        )
        expect(all.filter(({ kind }) => kind === 'recorded')).toHaveLength(1)
        const asked = all.flatMap((one) => (one.kind === 'unapproved' ? [`${one.state} ${one.approval?.id}`] : []))
        expect(asked).toHaveLength(49)
        expect(new Set(asked).size).toBe(1)
        expect(await store.approvals({ limit: 100 })).toHaveLength(2)
      })
    })

    describe('before-images', () => {
      const change = (callId: string, files: FileChange['files']): FileChange => ({
        callId,
        principal: { tenant: 'acme', user: 'ana', agent: 'helper' },
        at: 5,
        tool: 'write_file',
        files,
      })

      test('a change comes back as it was kept: bytes, an empty file, a file that was not there, permissions', async () => {
        const whole = new Uint8Array([9, 0, 255, 1, 2])
        const kept = change('call-1', [
          { path: '/w/a', before: whole.subarray(1, 4), afterHash: 'aa', mode: 0o640 },
          { path: '/w/empty', before: new Uint8Array(), afterHash: 'bb' },
          { path: '/w/new', before: undefined, afterHash: 'cc' },
          { path: '/w/gone', before: new Uint8Array([7]), afterHash: undefined },
        ])
        await store.images.keep(kept)
        whole.fill(0)
        const expected = kept.files.map((file, index) =>
          index === 0 ? { ...file, before: new Uint8Array([0, 255, 1]) } : file,
        )
        expect(await store.images.find('call-1')).toEqual({ ...kept, files: expected })
        expect(await store.images.find('call-2')).toBeUndefined()
      })

      test('a call that keeps twice leaves what was before the first and after the last', async () => {
        await store.images.keep(change('call-1', [{ path: '/w/a', before: new Uint8Array([1]), afterHash: 'one' }]))
        await store.images.keep(
          change('call-1', [
            { path: '/w/a', before: new Uint8Array([2]), afterHash: 'two' },
            { path: '/w/b', before: undefined, afterHash: 'three' },
          ]),
        )
        expect((await store.images.find('call-1'))?.files).toEqual([
          { path: '/w/a', before: new Uint8Array([1]), afterHash: 'two' },
          { path: '/w/b', before: undefined, afterHash: 'three' },
        ])
      })
    })

    describe('its end', () => {
      test('after the close nothing is written, and it says so', async () => {
        store.append(row('call-1'))
        expect(store.failure()).toBeUndefined()
        await store.flush()
        await store.close()
        expect(store.failure()).toContain('closed')
        expect(await store.intend(intent('call-2'))).toMatchObject({ kind: 'failed' })
        expect(() => store.append(row('call-3'))).not.toThrow()
        await expect(store.close()).resolves.toBeUndefined()
      })
    })
  })
}
