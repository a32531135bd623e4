// What every store must do with the answers of people: grants, codes, stops. Goal and method as in `store-conformance`: only
// the interface is used, on a clock that the test moves, and refusals come first.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { proofDigest } from '../base/proof-code.ts'
import type { ApprovalAnswer, ApprovalRow, IntentAsk, IntentDraft, RecordDraft, Store } from '../observe/store.ts'
import { verifyRecords } from '../observe/verify.ts'
import { FakeClock } from '../testing/fake-clock.ts'

const MINUTE_MS = 60_000

export function deskConformance(name: string, open: (clock: FakeClock) => Promise<Store>): void {
  describe(`${name}: what people decide`, () => {
    let clock: FakeClock
    let store: Store

    beforeEach(async () => {
      clock = new FakeClock()
      store = await open(clock)
    })
    afterEach(async () => {
      await store.close()
    })

    const row = (kind: RecordDraft['kind'], body: object = {}): RecordDraft => ({
      ...{ kind, at: clock.now(), callId: null, body: JSON.stringify(body) },
    })
    const question = (id: string, more: Partial<ApprovalRow> = {}): ApprovalRow => ({
      ...{ id: `apr_${id}`, digest: `digest-${id}`, state: 'open', tenant: 'acme', user: 'ana', agent: 'helper' },
      ...{ session: 's1', tool: 'edit_file', fingerprint: 'f', effect: 'write', policyVersion: 'p', reason: 'r' },
      ...{ shown: 'edit_file', workspace: 'main=/ws' },
      askedBy: ['default write'],
      offers: [
        { reach: 'once', shown: 'this one call' },
        { reach: 'session', shown: 'every call of this session' },
        { reach: 'pattern', shown: 'below docs', where: { path: ['docs/**'] }, onlyNamed: true },
      ],
      openedAt: clock.now(),
      expiresAt: clock.now() + 10 * MINUTE_MS,
      ...more,
    })
    type Named = Pick<IntentAsk, 'approvalId' | 'grantId'>
    const intentOf = (callId: string, { tool, effect }: ApprovalRow): IntentDraft => ({
      ...{ callId, tool, effect, argumentsText: '{}' },
      record: { kind: 'intent', at: clock.now(), callId, body: '{}' },
    })
    const ask = (callId: string, open: ApprovalRow, more: Named = {}) =>
      store.intend({ ...intentOf(callId, open), ask: { open, ...more } })
    const answer = (id: string, more: Partial<ApprovalAnswer> = {}) =>
      store.answer(
        `apr_${id}`,
        { decision: 'approve', by: 'boss', at: clock.now(), ...more },
        row('approval', { decision: more.decision ?? 'approve' }),
      )
    const granted = async (id: string, more: Partial<ApprovalRow> = {}, reach: 'session' | 'pattern' = 'session') => {
      await ask(`ask-${id}`, question(id, more))
      const done = await answer(id, { reach, grantUntil: clock.now() + 60 * MINUTE_MS })
      if (done.kind !== 'answered' || done.grant === undefined) throw new Error(`no grant: ${JSON.stringify(done)}`)
      // The approval itself is spent, so that what follows is up to the grant.
      await ask(`spend-${id}`, question(id, more))
      return done.grant
    }
    const kinds = async () => (await store.records({ limit: 10_000 })).map(({ kind }) => kind)
    const bodies = async (kind: RecordDraft['kind']) =>
      (await store.records({ kind, limit: 100 })).map(({ body }) => JSON.parse(body) as Record<string, unknown>)

    describe('an answer', () => {
      test('that reaches further than was offered is refused, and changes nothing', async () => {
        const once = question('1', { offers: [{ reach: 'once', shown: 'this one call' }] })
        await ask('call-1', once)
        const until = clock.now() + MINUTE_MS
        for (const reach of ['session', 'pattern'] as const) {
          expect(await answer('1', { reach, grantUntil: until })).toEqual({
            ...{ kind: 'refused', why: 'reach-not-offered', approval: once },
          })
        }
        expect(await store.approvals({ limit: 10 })).toEqual([once])
        expect(await kinds()).toEqual(['approval'])
        expect(await answer('1', { reach: 'once' })).toMatchObject({ kind: 'answered' })
      })

      test.each(['destructive', 'undeclared'])(
        'to a %s call reaches no further than once, whatever was offered',
        async (effect) => {
          await ask('call-1', question('1', { effect }))
          const wider = { reach: 'session', grantUntil: clock.now() + MINUTE_MS } as const
          expect(await answer('1', wider)).toMatchObject({ kind: 'refused', why: 'reach-not-offered' })
          expect(await store.grants({ limit: 10 })).toEqual([])
          expect(await answer('1')).toMatchObject({ kind: 'answered', approval: { reach: 'once' } })
        },
      )

      test('that only the asking client vouches for is refused to a destructive call; its no is a no', async () => {
        await ask('call-1', question('1', { effect: 'destructive' }))
        expect(await answer('1', { clientAsserted: true })).toMatchObject({ kind: 'refused', why: 'client-asserted' })
        expect(await answer('1', { clientAsserted: true, decision: 'decline' })).toMatchObject({
          kind: 'answered',
          approval: { state: 'declined', clientAsserted: true },
        })
        await ask('call-2', question('2'))
        expect(await answer('2', { clientAsserted: true })).toMatchObject({
          kind: 'answered',
          approval: { state: 'approved', clientAsserted: true },
        })
      })

      test('that reaches further needs an end: without one nothing is written', async () => {
        await ask('call-1', question('1'))
        await expect(answer('1', { reach: 'session' })).rejects.toThrow('grantUntil')
        await expect(answer('1', { reach: 'session', grantUntil: clock.now() })).rejects.toThrow('grantUntil')
        expect(await store.approvals({ limit: 10 })).toMatchObject([{ state: 'open' }])
        expect(await kinds()).toEqual(['approval'])
      })

      test('keeps what was asked: workspace, task, offers and the reach that was chosen', async () => {
        const asked = question('1', { task: 'triage' })
        await ask('call-1', asked)
        expect(await store.approvals({ limit: 1 })).toEqual([asked])
        await answer('1', { reach: 'session', grantUntil: clock.now() + MINUTE_MS, comment: 'go on' })
        expect(await store.approvals({ limit: 1 })).toEqual([
          {
            ...asked,
            ...{ state: 'approved', reach: 'session', answeredAt: clock.now(), answeredBy: 'boss', comment: 'go on' },
          },
        ])
      })
    })

    describe('codes', () => {
      const proven = (id: string, code = 'K7QM-2WXB') => question(id, { proof: proofDigest(`apr_${id}`, code) })

      test('a yes without the code, or with another one, is refused; the wrong ones are counted and recorded', async () => {
        await ask('call-1', proven('1'))
        expect(await answer('1')).toMatchObject({ kind: 'refused', why: 'code-missing' })
        expect(await answer('1', { code: 'K7QM-2WXC' })).toMatchObject({
          ...{ kind: 'refused', why: 'code-wrong', approval: { state: 'open', proofFailures: 1 } },
        })
        expect(await bodies('approval')).toMatchObject([{}, { refused: 'code-wrong', failures: 1, by: 'boss' }])
        expect(await ask('call-2', proven('1'))).toMatchObject({ kind: 'unapproved', state: 'open' })
        expect(await answer('1', { code: 'k7qm 2wxb' })).toMatchObject({ kind: 'answered' })
        expect(await ask('call-3', proven('1'))).toMatchObject({ kind: 'recorded' })
      })

      test('after five wrong codes the question is closed by nobody, and the right code comes too late', async () => {
        await ask('call-1', proven('1'))
        for (const count of [1, 2, 3, 4]) {
          expect(await answer('1', { code: `wrong-${count}` })).toMatchObject({ approval: { state: 'open' } })
        }
        const last = await answer('1', { code: 'wrong-5' })
        expect(last).toMatchObject({
          kind: 'refused',
          why: 'code-wrong',
          approval: { state: 'declined', proofFailures: 5 },
        })
        expect(last.kind === 'refused' && last.approval.answeredBy).toBeUndefined()
        expect(await answer('1', { code: 'K7QM-2WXB' })).toMatchObject({ kind: 'closed' })
        expect(await ask('call-2', proven('1'))).toMatchObject({ state: 'declined', approval: { proofFailures: 5 } })
      })

      test('a code of another question is not the code of this one', async () => {
        await ask('call-1', proven('1', 'SAME-CODE'))
        await ask('call-2', question('2', { proof: proofDigest('apr_1', 'SAME-CODE') }))
        expect(await answer('2', { code: 'SAME-CODE' })).toMatchObject({ why: 'code-wrong' })
      })

      test('a no needs no code', async () => {
        await ask('call-1', proven('1'))
        expect(await answer('1', { decision: 'decline' })).toMatchObject({ approval: { state: 'declined' } })
      })

      test('a new code takes the place of the old one, only where one is asked for and the question is open', async () => {
        const renew = (id: string) =>
          store.renewProof(`apr_${id}`, proofDigest(`apr_${id}`, 'NEW'), row('approval', { code: 'renewed' }))
        await ask('call-1', proven('1'))
        await ask('call-2', question('2'))
        expect([await renew('2'), await renew('3')]).toEqual([false, false])
        expect(await renew('1')).toBe(true)
        expect(await answer('1', { code: 'K7QM-2WXB' })).toMatchObject({ why: 'code-wrong' })
        expect(await answer('1', { code: 'new' })).toMatchObject({ kind: 'answered' })
        expect(await renew('1')).toBe(false)
        await ask('call-3', proven('3'))
        await clock.advance(10 * MINUTE_MS)
        expect(await renew('3')).toBe(false)
      })
    })

    describe('grants', () => {
      test('an answer that reaches further leaves one, with its record, in the words that were shown', async () => {
        const grant = await granted('1', { task: 'triage' }, 'pattern')
        expect(grant).toEqual({
          ...{ id: 'grt_1', approvalId: 'apr_1', reach: 'pattern', tenant: 'acme', user: 'ana', agent: 'helper' },
          ...{ workspace: 'main=/ws', task: 'triage', tool: 'edit_file', fingerprint: 'f', effect: 'write' },
          ...{ where: { path: ['docs/**'] }, onlyNamed: true, policyVersion: 'p', askedBy: ['default write'] },
          ...{
            shown: 'below docs',
            grantedBy: 'boss',
            grantedAt: clock.now(),
            expiresAt: clock.now() + 60 * MINUTE_MS,
          },
        })
        expect(await store.grants({ limit: 10 })).toEqual([grant])
        expect(await bodies('grant')).toMatchObject([
          { grant: 'grt_1', state: 'granted', approval: 'apr_1', reach: 'pattern', by: 'boss' },
        ])
        expect(await granted('2')).toMatchObject({ reach: 'session', session: 's1' })
      })

      test('a call that is covered is recorded without an approval, as often as it is made', async () => {
        const { id } = await granted('1')
        for (const callId of ['call-1', 'call-2']) {
          expect(await ask(callId, question(callId), { grantId: id })).toEqual({ kind: 'recorded', grantId: id })
        }
        expect((await kinds()).filter((kind) => kind === 'approval')).toHaveLength(2)
        expect(await bodies('intent')).toEqual(
          [{ approval: 'apr_1' }, { grant: id }, { grant: id }].map((used) => ({
            ...used,
            argsHmac: expect.any(String),
          })),
        )
        expect(await verifyRecords(store)).toMatchObject({ kind: 'ok' })
      })

      test('whoever looks for them is told of the live ones of the caller for the tool, and nothing is written', async () => {
        const look = (callId: string, id: string, more: Named = {}) =>
          store.intend({ ...intentOf(callId, question(id)), ask: { about: question(id), ...more } })
        expect(await look('call-0', '0')).toEqual({ kind: 'grants', grants: [] })
        expect(await store.approvals({ id: 'apr_0', limit: 1 })).toEqual([])
        const grant = await granted('1')
        await granted('2', { user: 'bo' })
        await granted('3', { tool: 'write_file' })
        const before = await store.recordCount()
        expect(await look('call-1', 'new')).toEqual({ kind: 'grants', grants: [grant] })
        expect(await store.recordCount()).toBe(before)
        expect(await store.approvals({ id: 'apr_new', limit: 1 })).toEqual([])
        expect(await look('call-2', 'new', { grantId: 'grt_none' })).toMatchObject({ kind: 'grants' })
        expect(await look('call-3', 'new', { grantId: grant.id })).toEqual({ kind: 'recorded', grantId: grant.id })
        await ask('call-4', question('5'))
        await answer('5')
        expect(await look('call-5', '5')).toEqual({ kind: 'recorded', approvalId: 'apr_5' })
        await clock.advance(60 * MINUTE_MS)
        expect(await look('call-6', 'late')).toEqual({ kind: 'grants', grants: [] })
        await ask('call-7', question('late'))
        expect(await look('call-8', 'late')).toMatchObject({ kind: 'unapproved', state: 'open' })
      })

      test('one that is revoked, over, of somebody else or for something else serves nobody: the call asks', async () => {
        const { id } = await granted('1')
        const others: readonly Partial<ApprovalRow>[] = [
          ...[{ tenant: 'x' }, { user: 'x' }, { agent: 'x' }, { session: 'x' }, { tool: 'x' }, { fingerprint: 'x' }],
          ...[{ effect: 'execute' }, { policyVersion: 'x' }, { workspace: 'x' }, { task: 'x' }],
        ]
        for (const [number, other] of others.entries()) {
          const asked = await ask(`call-${number}`, question(`o${number}`, other), { grantId: id })
          expect(asked).toMatchObject({ kind: 'unapproved', state: 'open' })
        }
        expect(await ask('call-a', question('a'), { grantId: 'grt_none' })).toMatchObject({ state: 'open' })
        await store.revokeGrant(id, 'boss', clock.now(), row('grant', { grant: id, state: 'revoked' }))
        expect(await ask('call-b', question('b'), { grantId: id })).toMatchObject({ state: 'open' })
        const second = await granted('2')
        await clock.advance(60 * MINUTE_MS)
        expect(await ask('call-c', question('c'), { grantId: second.id })).toMatchObject({ state: 'open' })
      })

      test('L18: a no to exactly this call is stronger than a grant', async () => {
        const { id } = await granted('1')
        await ask('call-1', question('2'))
        await answer('2', { decision: 'decline' })
        expect(await ask('call-2', question('2'), { grantId: id })).toMatchObject({ state: 'declined' })
      })

      test('it is revoked once, with a record, and takes along the yes that it came from', async () => {
        await ask('call-1', question('1'))
        await answer('1', { reach: 'session', grantUntil: clock.now() + 60 * MINUTE_MS })
        const revoke = () => store.revokeGrant('grt_1', 'boss', clock.now(), row('grant', { state: 'revoked' }))
        expect(await store.revokeGrant('grt_none', 'boss', clock.now(), row('grant'))).toBe(false)
        expect(await revoke()).toBe(true)
        expect(await revoke()).toBe(false)
        expect(await bodies('grant')).toMatchObject([{ state: 'granted' }, { state: 'revoked' }])
        expect(await store.grants({ limit: 10 })).toMatchObject([{ revokedAt: clock.now(), revokedBy: 'boss' }])
        expect(await ask('call-2', question('1', { id: 'apr_new' }))).toMatchObject({ state: 'open' })
      })

      test('they are listed by id, tool, principal and life, newest first', async () => {
        await granted('1')
        await clock.advance(1)
        await granted('2', { tool: 'write_file' })
        await clock.advance(1)
        await granted('3', { user: 'bo' })
        await store.revokeGrant('grt_2', 'boss', clock.now(), row('grant'))
        const ids = async (filter: object) => (await store.grants({ limit: 10, ...filter })).map(({ id }) => id)
        expect(await ids({})).toEqual(['grt_3', 'grt_2', 'grt_1'])
        expect(await ids({ limit: 1 })).toEqual(['grt_3'])
        expect(await ids({ id: 'grt_1' })).toEqual(['grt_1'])
        expect(await ids({ live: { at: clock.now() } })).toEqual(['grt_3', 'grt_1'])
        expect(await ids({ live: { at: clock.now() + 60 * MINUTE_MS - 2 } })).toEqual(['grt_3'])
        expect(await ids({ tool: 'edit_file', principal: { tenant: 'acme', user: 'ana', agent: 'helper' } })).toEqual([
          'grt_1',
        ])
        await expect(store.grants({ limit: 0 })).rejects.toThrow(RangeError)
      })
    })

    test('a named approval of the caller under other rules is withdrawn; of anybody else it is only another one', async () => {
      await ask('call-1', question('1'))
      await answer('1')
      const named = (callId: string, more: Partial<ApprovalRow>) =>
        ask(callId, question('2', { digest: `other-${callId}`, ...more }), { approvalId: 'apr_1' })
      expect(await named('a', { policyVersion: 'q' })).toEqual({ kind: 'unapproved', state: 'withdrawn' })
      expect(await named('b', { fingerprint: 'g' })).toEqual({ kind: 'unapproved', state: 'withdrawn' })
      for (const more of [{}, { tool: 'x', policyVersion: 'q' }, { user: 'bo', policyVersion: 'q' }])
        expect(await named(`c-${JSON.stringify(more).length}`, more)).toEqual({ kind: 'unapproved', state: 'mismatch' })
    })

    test('what is stopped stands, oldest first, until it is lifted; both leave a record', async () => {
      const stop = {
        id: 'stop_1',
        target: { tool: 'edit_file', session: 's1' },
        by: 'boss',
        at: clock.now(),
        reason: 'r',
      }
      const all = { id: 'stop_2', target: {}, by: 'boss', at: clock.now() + 1 }
      await store.stop(stop, row('stop', { stop: 'stop_1' }))
      await store.stop(all, row('stop', { stop: 'stop_2' }))
      await expect(store.stop(stop, row('stop'))).rejects.toThrow()
      expect(await store.stops()).toEqual([stop, all])
      expect(await store.lift('stop_3', row('stop'))).toBe(false)
      expect(await store.lift('stop_1', row('stop', { lifted: 'stop_1' }))).toBe(true)
      expect(await store.lift('stop_1', row('stop'))).toBe(false)
      expect(await store.stops()).toEqual([all])
      expect(await bodies('stop')).toEqual([{ stop: 'stop_1' }, { stop: 'stop_2' }, { lifted: 'stop_1' }])
      expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 3 })
    })

    test('what a process decides itself is not told to whoever watches, and a watch ends as often as one likes', async () => {
      let told = 0
      const end = store.watch(() => {
        told += 1
      })
      await granted('1')
      await store.stop({ id: 'stop_1', target: {}, by: 'b', at: 1 }, row('stop'))
      end()
      end()
      expect(told).toBe(0)
    })
  })
}
