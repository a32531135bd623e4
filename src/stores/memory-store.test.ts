import { describe, expect, test } from 'vitest'
import type { FileChange } from '../describe/before-images.ts'
import type { ApprovalRow, RecordDraft } from '../observe/store.ts'
import { verifyRecords } from '../observe/verify.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { deskConformance } from './desk-conformance.ts'
import { journalConformance } from './journal-conformance.ts'
import { MemoryApprovals } from './memory-approvals.ts'
import { createMemoryStore } from './memory-store.ts'
import { storeConformance } from './store-conformance.ts'

storeConformance('memory', async (clock) => createMemoryStore({ clock }))
deskConformance('memory', async (clock) => createMemoryStore({ clock }))
journalConformance('memory', async (clock) => createMemoryStore({ clock }))

const row = (number: number, body = JSON.stringify({ number })): RecordDraft => ({
  kind: 'end',
  at: number,
  callId: `call-${number}`,
  body,
})

describe('the bounds of the memory store', () => {
  const clock = new FakeClock()

  test('a bound that is no positive whole number throws', () => {
    for (const bound of [0, -1, 1.5, Number.NaN]) {
      expect(() => createMemoryStore({ clock, recordsMax: bound })).toThrow(RangeError)
      expect(() => createMemoryStore({ clock, approvalsMax: bound })).toThrow(RangeError)
      expect(() => createMemoryStore({ clock, imagesBytesMax: bound })).toThrow(RangeError)
      expect(() => createMemoryStore({ clock, keysMax: bound })).toThrow(RangeError)
    }
  })

  test('chain: the oldest rows go, and what is left verifies from its first row as part of the whole chain', async () => {
    const whole = createMemoryStore({ clock, recordsMax: 5_000 })
    const cut = createMemoryStore({ clock, recordsMax: 100 })
    for (let number = 1; number <= 1_234; number += 1) {
      whole.append(row(number))
      cut.append(row(number))
    }
    const kept = await cut.records({ limit: 10_000 })
    expect(kept.map(({ seq }) => seq)).toEqual(Array.from({ length: 100 }, (_, index) => 1_135 + index))
    const verified = await verifyRecords(cut)
    expect(verified).toMatchObject({ kind: 'ok', rows: 100, chains: 1 })
    expect(verified.kind === 'ok' && verified.notes.join()).toContain('older rows were dropped')
    // The same rows of a chain that forgot nothing have the same digests, and other hashes only for the chain's name.
    const same = (await whole.records({ afterSeq: 1_134, limit: 10_000 })).map(({ bodyDigest }) => bodyDigest)
    expect(kept.map(({ bodyDigest }) => bodyDigest)).toEqual(same)
  })

  test('chain: a row that was changed after the cut is found', async () => {
    const store = createMemoryStore({ clock, recordsMax: 10 })
    for (let number = 1; number <= 50; number += 1) store.append(row(number))
    const rows = await store.records({ limit: 10 })
    const broken = {
      forgetsOldRows: true,
      chains: () => store.chains(),
      recordCount: () => store.recordCount(),
      records: async () => rows.map((kept, index) => (index === 4 ? { ...kept, at: kept.at + 1 } : kept)),
    }
    expect(await verifyRecords(broken)).toMatchObject({ kind: 'broken', seq: 45, rows: 4 })
  })

  test('bodies are bounded together: large rows push old ones out, the newest stays', async () => {
    const store = createMemoryStore({ clock })
    const mebi = 'x'.repeat(1024 * 1024)
    for (let number = 1; number <= 70; number += 1) store.append(row(number, mebi))
    expect(await store.records({ limit: 100 })).toHaveLength(64)
    store.append(row(71, mebi.repeat(65)))
    expect((await store.records({ limit: 100 })).map(({ seq }) => seq)).toEqual([71])
    expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 1 })
  })

  const ask = (id: string): ApprovalRow => ({
    ...{ id, digest: `digest-${id}`, state: 'open', tenant: 't', user: 'u', agent: 'a', session: 's', tool: 'w' },
    ...{ fingerprint: 'f', effect: 'write', policyVersion: 'p', reason: 'r', shown: id, openedAt: clock.now() },
    ...{ workspace: 'main=/ws', askedBy: ['default write'], offers: [{ reach: 'once', shown: 'this one call' }] },
    expiresAt: clock.now() + 1_000,
  })
  const intend = (store: ReturnType<typeof createMemoryStore>, id: string) =>
    store.intend({
      ...{ callId: `call-${id}`, tool: 'w', effect: 'write', argumentsText: '{}' },
      record: row(1),
      ask: { open: ask(id) },
    })
  const answer = (store: ReturnType<typeof createMemoryStore>, id: string, decision: 'approve' | 'decline') =>
    store.answer(id, { decision, by: 'b', at: 1 }, row(2))

  test('approvals: used ones go first, then the oldest question, a no only after all; a yes in hand stays', async () => {
    const store = createMemoryStore({ clock, approvalsMax: 3 })
    for (const id of ['a', 'b', 'c']) await intend(store, id)
    await answer(store, 'a', 'approve')
    await answer(store, 'c', 'decline')
    const ids = async () => (await store.approvals({ limit: 10 })).map(({ id }) => id)
    await intend(store, 'd')
    expect(await ids()).toEqual(['d', 'c', 'a'])
    expect(await intend(store, 'c')).toMatchObject({ kind: 'unapproved', state: 'declined' })
    await answer(store, 'd', 'approve')
    await intend(store, 'e')
    expect(await ids()).toEqual(['e', 'd', 'a'])
    await answer(store, 'e', 'approve')
    expect(await intend(store, 'f')).toMatchObject({ kind: 'failed' })
    expect(await intend(store, 'e')).toEqual({ kind: 'recorded', approvalId: 'e' })
    expect(await intend(store, 'g')).toMatchObject({ kind: 'unapproved', state: 'open' })
    expect(await ids()).toEqual(['g', 'd', 'a'])
  })

  test('approvals: expired ones go before a question or a no, whatever the order in which they expire', async () => {
    const own = new FakeClock()
    const store = createMemoryStore({ clock: own, approvalsMax: 3 })
    const ends = { long: 10_000, short: 1_000, no: 10_000, next: 10_000 }
    const open = (id: keyof typeof ends) =>
      store.intend({
        ...{ callId: `call-${id}`, tool: 'w', effect: 'write', argumentsText: '{}' },
        record: row(1),
        ask: { open: { ...ask(id), openedAt: own.now(), expiresAt: own.now() + ends[id] } },
      })
    for (const id of ['long', 'short', 'no'] as const) await open(id)
    await answer(store, 'no', 'decline')
    await answer(store, 'short', 'approve')
    await own.advance(1_000)
    await open('next')
    expect((await store.approvals({ limit: 10 })).map(({ id }) => id)).toEqual(['next', 'no', 'long'])
  })

  test('approvals: an ask looks at the rows of its own digest alone', async () => {
    const rows = new MemoryApprovals(10_000)
    let reads = 0
    for (let number = 0; number < 10_000; number += 1) {
      const question = ask(`q${number}`)
      const watched = Object.defineProperty({ ...question }, 'digest', {
        enumerable: true,
        get: () => {
          reads += 1
          return question.digest
        },
      })
      rows.ask({ open: watched }, { named: undefined, live: () => [] }, `call-${number}`, clock.now())
    }
    expect(reads).toBeLessThan(50_000)
  })

  test('before-images: the oldest changes go, and a change larger than the bound is refused', async () => {
    const store = createMemoryStore({ clock, imagesBytesMax: 10_000 })
    const change = (callId: string, bytes: number): FileChange => ({
      ...{ callId, principal: { tenant: 't', user: 'u', agent: 'a' }, at: 1, tool: 'w' },
      files: [{ path: '/a', before: new Uint8Array(bytes), afterHash: 'x' }],
    })
    await store.images.keep(change('one', 4_000))
    await store.images.keep(change('two', 4_000))
    expect(await store.images.find('one')).toBeUndefined()
    expect(await store.images.find('two')).toBeDefined()
    await expect(store.images.keep(change('three', 10_000))).rejects.toThrow('larger than')
    expect(await store.images.find('two')).toBeDefined()
  })

  const keyOf = (name: string) => ({ ...{ tenant: 't', user: 'u', agent: 'a', tool: 'w', digest: 'd' }, key: name })
  const claim = (store: ReturnType<typeof createMemoryStore>, name: string) =>
    store.intend({
      ...{ callId: `call-${name}`, tool: 'w', effect: 'write', argumentsText: '{}', record: row(1) },
      journal: keyOf(name),
    })
  const done = (store: ReturnType<typeof createMemoryStore>, name: string, answer: string | null = '1') =>
    store.settle(
      { ...row(1), at: clock.now() },
      { key: keyOf(name), callId: `call-${name}`, ...{ kind: 'done', answer } },
    )

  test('keys: those that were done first go first; one that runs or has no known end is never dropped for another', async () => {
    const store = createMemoryStore({ clock, keysMax: 3 })
    for (const name of ['a', 'b', 'c']) expect(await claim(store, name)).toEqual({ kind: 'recorded' })
    expect(await claim(store, 'd')).toMatchObject({ kind: 'failed' })
    await done(store, 'b')
    await done(store, 'a')
    expect(await claim(store, 'd')).toEqual({ kind: 'recorded' })
    expect((await store.journal({ limit: 10 })).map(({ key, state }) => `${key} ${state}`)).toEqual([
      ...['d running', 'c running', 'a done'],
    ])
    await store.settle(row(1), { key: keyOf('c'), callId: 'call-c', kind: 'unknown' })
    expect(await claim(store, 'e')).toEqual({ kind: 'recorded' })
    expect(await claim(store, 'f')).toMatchObject({ kind: 'failed' })
    expect(await claim(store, 'c')).toMatchObject({ kind: 'key', state: 'unknown' })
  })

  test('keys: answers are lost before keys are, the oldest first, and the call is still known to be done', async () => {
    const store = createMemoryStore({ clock })
    const mebi = 'x'.repeat(1024 * 1024)
    for (let number = 0; number < 18; number += 1) {
      await claim(store, `k${number}`)
      await done(store, `k${number}`, mebi)
    }
    const answers = await Promise.all([0, 1, 2, 17].map((number) => claim(store, `k${number}`)))
    expect(answers.map((one) => (one.kind === 'replay' ? one.answer?.length : one.kind))).toEqual([
      ...[undefined, undefined, mebi.length, mebi.length],
    ])
  })
})
