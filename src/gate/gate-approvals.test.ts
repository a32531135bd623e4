// Goal: an answer of a person enters in one way, is exactly what it says, and whatever goes wrong on the way to it is no answer.
// Method: the real memory store on a clock that the test moves; for two processes two openings of one SQLite file.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import type { ApprovalsOptions, LogEntry, PersonsAnswer } from '../gate-contract.ts'
import type { ApprovalRow, Store } from '../observe/store.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { openSqliteStore } from '../stores/sqlite-store.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { GateApprovals } from './gate-approvals.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const question = (now: number, id = 'apr_1', more: Partial<ApprovalRow> = {}): ApprovalRow => ({
  ...{ id, digest: `digest-${id}`, state: 'open', tenant: 't', user: 'u', agent: 'a', session: 's', tool: 'edit_file' },
  ...{ fingerprint: 'f', effect: 'write', policyVersion: 'p', reason: 'r', shown: 's', workspace: 'main=/ws' },
  askedBy: ['default write'],
  offers: [
    { reach: 'once', shown: 'this one call' },
    { reach: 'session', shown: 'every call of this session' },
  ],
  openedAt: now,
  expiresAt: now + 10 * MINUTE_MS,
  ...more,
})

const ask = (store: Store, open: ApprovalRow) =>
  store.intend({
    ...{ callId: `call-${Math.random()}`, tool: open.tool, effect: open.effect, argumentsText: '{}' },
    record: { kind: 'intent', at: open.openedAt, callId: 'call-1', body: '{}' },
    ask: { open },
  })

function desk(options: ApprovalsOptions = {}) {
  const clock = new FakeClock()
  const store = createMemoryStore({ clock })
  const events: string[] = []
  const logged: LogEntry[] = []
  const gate = new GateApprovals({
    ...{ store, clock, options, log: (entry) => logged.push(entry) },
    emit: (event, { id, state, proof }) =>
      events.push(`${event} ${id} ${state}${proof === undefined ? '' : ` ${proof}`}`),
  })
  /** Opens a question as the records of a gate do. */
  const open = async (id = 'apr_1', more: Partial<ApprovalRow> = {}): Promise<ApprovalRow> => {
    const row = gate.withProof(question(clock.now(), id, more))
    await ask(store, row)
    gate.opened(row)
    return row
  }
  return { ...{ clock, store, gate, events, logged, open }, approvals: gate.approvals }
}

const YES: PersonsAnswer = { decision: 'approve', by: 'boss' }

describe('an answer', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'approve'],
    ['no decision', { by: 'boss' }],
    ['another decision', { decision: 'always', by: 'boss' }],
    ['true for approve', { decision: true, by: 'boss' }],
    ['nobody', { decision: 'approve' }],
    ['an empty name', { decision: 'approve', by: ' ' }],
    ['a long name', { decision: 'approve', by: 'x'.repeat(257) }],
    ['another reach', { ...YES, scope: 'always' }],
    ['a reach in other letters', { ...YES, scope: 'Session' }],
    ['a comment that is none', { ...YES, comment: 5 }],
    ['a long comment', { ...YES, comment: 'x'.repeat(4_097) }],
    ['a code that is none', { ...YES, code: 123_456 }],
    ['a flag that is none', { ...YES, clientAsserted: 'no' }],
    ['an unknown key', { ...YES, remember: true }],
    ['a reach under another name', { ...YES, reach: 'session' }],
  ])('L09: that says %s is no decision', async (_, given) => {
    const { approvals, open, events } = desk()
    await open()
    await expect(approvals.decide('apr_1', given as PersonsAnswer)).rejects.toThrow(TypeError)
    expect(await approvals.show('apr_1')).toMatchObject({ state: 'open' })
    expect(events).toEqual(['approval-opened apr_1 open'])
  })

  test('L32: to another question, or to none, answers this one not', async () => {
    const { approvals, open } = desk()
    await open('apr_1')
    await open('apr_2')
    expect(await approvals.decide('apr_3', YES)).toEqual({ kind: 'missing' })
    expect(await approvals.decide('apr_2', YES)).toMatchObject({ kind: 'answered' })
    expect(await approvals.show('apr_1')).toMatchObject({ state: 'open' })
  })

  test('is single and final: a second one is told what the first was', async () => {
    const { approvals, open, events } = desk()
    await open()
    expect(await approvals.decide('apr_1', { decision: 'decline', by: 'boss', comment: 'no' })).toMatchObject({
      kind: 'answered',
      approval: { state: 'declined', answeredBy: 'boss', comment: 'no' },
    })
    expect(await approvals.decide('apr_1', YES)).toMatchObject({ kind: 'closed', approval: { state: 'declined' } })
    expect(events).toEqual(['approval-opened apr_1 open', 'approval-changed apr_1 declined'])
  })

  test('reaches once where nothing is said, and further for as long as grants hold', async () => {
    for (const [options, grantMs] of [
      [{}, 12 * HOUR_MS],
      [{ grantMs: HOUR_MS }, HOUR_MS],
    ] as const) {
      const { approvals, gate, open, clock } = desk(options)
      await open('apr_1')
      expect(await approvals.decide('apr_1', YES)).not.toHaveProperty('grant')
      await open('apr_2')
      expect(await approvals.decide('apr_2', { ...YES, scope: 'session' })).toMatchObject({
        grant: { id: 'grt_2', reach: 'session', expiresAt: clock.now() + grantMs },
      })
      expect(await gate.grants.list({ live: true })).toHaveLength(1)
      await clock.advance(grantMs)
      expect(await gate.grants.list({ live: true })).toEqual([])
      expect(await gate.grants.list()).toHaveLength(1)
    }
  })

  test('a grant is revoked by somebody, once, and both are recorded', async () => {
    const { approvals, gate, open, store } = desk()
    await open()
    await approvals.decide('apr_1', { ...YES, scope: 'session' })
    expect(() => gate.grants.revoke('grt_1', ' ')).toThrow(TypeError)
    expect(await gate.grants.revoke('grt_1', 'ana')).toBe(true)
    expect(await gate.grants.revoke('grt_1', 'ana')).toBe(false)
    const records = await store.records({ kind: 'grant', limit: 10 })
    expect(records.map(({ body }) => JSON.parse(body))).toMatchObject([
      { grant: 'grt_1', state: 'granted', by: 'boss' },
      { grant: 'grt_1', state: 'revoked', by: 'ana' },
    ])
  })
})

describe('codes', () => {
  function withCodes() {
    const shown: [string, string][] = []
    const made = desk({ proof: 'code', showCode: (code, { id }) => shown.push([id, code]) })
    return { ...made, shown, codeOf: (id: string) => shown.findLast(([of]) => of === id)?.[1] ?? '' }
  }

  test('a gate that would ask for codes which nobody can show is a fault of its configuration', () => {
    expect(() => desk({ proof: 'code' })).toThrow(GateConfigError)
    expect(() => desk({ proof: 'none' })).not.toThrow()
  })

  test('is shown once, when the question stands, and nothing else of it leaves the gate', async () => {
    const { approvals, open, shown, codeOf, events, store } = withCodes()
    await open()
    const code = codeOf('apr_1')
    expect(shown).toEqual([['apr_1', expect.stringMatching(/^[2-9B-DF-HJKMNP-TV-Z]{4}-[2-9B-DF-HJKMNP-TV-Z]{4}$/)]])
    const outside = [
      await approvals.show('apr_1'),
      await approvals.list(),
      await approvals.settled('apr_1', { forMs: 0 }),
    ]
    const records = await store.records({ limit: 100 })
    for (const text of [JSON.stringify(outside), JSON.stringify(records), JSON.stringify(events)]) {
      expect(text).not.toContain(code)
      expect(text).not.toMatch(/"proof":"[0-9a-f]{64}"/)
    }
    expect(await approvals.show('apr_1')).toMatchObject({ proof: 'code' })
    expect(await approvals.decide('apr_1', YES)).toMatchObject({ kind: 'refused', why: 'code-missing' })
    expect(await approvals.decide('apr_1', { ...YES, code })).toMatchObject({
      kind: 'answered',
      approval: { proof: 'code' },
    })
    expect(shown).toHaveLength(1)
  })

  test('of a question that another one joined, none is shown', async () => {
    const { gate, open, shown, clock } = withCodes()
    await open()
    gate.withProof(question(clock.now(), 'apr_2', { digest: 'digest-apr_1' }))
    expect(shown).toHaveLength(1)
  })

  test('after five wrong ones the question is closed, and whoever waits hears it', async () => {
    const { approvals, open, events } = withCodes()
    await open()
    const settled = approvals.settled('apr_1', { forMs: HOUR_MS })
    for (let count = 0; count < 5; count += 1) await approvals.decide('apr_1', { ...YES, code: 'WRONG' })
    expect(await settled).toMatchObject({ state: 'declined', proofFailures: 5 })
    expect(events.at(-1)).toBe('approval-changed apr_1 declined code')
  })

  test('a new one is shown on demand, only for an open question that asks for one, and ends the old one', async () => {
    const { approvals, gate, open, codeOf, shown } = withCodes()
    await open()
    const old = codeOf('apr_1')
    expect(await approvals.renewCode('apr_2')).toBe(false)
    expect(await approvals.renewCode('apr_1')).toBe(true)
    expect(codeOf('apr_1')).not.toBe(old)
    expect(await approvals.decide('apr_1', { ...YES, code: old })).toMatchObject({ why: 'code-wrong' })
    expect(await approvals.decide('apr_1', { ...YES, code: codeOf('apr_1') })).toMatchObject({ kind: 'answered' })
    expect(await approvals.renewCode('apr_1')).toBe(false)
    expect(shown).toHaveLength(2)
    gate.close()
  })

  test('a gate that cannot show codes cannot make a new one, and one whose console fails says so', async () => {
    const { approvals, open, clock, store } = withCodes()
    await open()
    const blind = new GateApprovals({ store, clock, options: {}, emit: () => undefined, log: () => undefined })
    expect(await blind.approvals.renewCode('apr_1')).toBe(false)
    expect(await approvals.show('apr_1')).toMatchObject({ state: 'open' })
    const broken = desk({
      proof: 'code',
      showCode: () => {
        throw new Error('no screen')
      },
    })
    await broken.open()
    expect(broken.logged).toMatchObject([{ level: 'warning', message: expect.stringContaining('apr_1') }])
    expect(await broken.approvals.renewCode('apr_1')).toBe(false)
  })
})

describe('asking a person', () => {
  test('L17: nobody to ask, nothing said, a throw, or what is no answer: none of these is an answer', async () => {
    const tries: readonly ApprovalsOptions[] = [
      {},
      { onRequest: async () => undefined },
      {
        onRequest: async () => {
          throw new Error('the message bus is gone')
        },
      },
      {
        onRequest: () => {
          throw new Error('at once')
        },
      },
      { onRequest: async () => ({ decision: 'approve' }) as PersonsAnswer },
      { onRequest: async () => true as unknown as PersonsAnswer },
      { onRequest: async () => ({ ...YES, scope: 'pattern' }) },
    ]
    for (const options of tries) {
      const { approvals, gate, open, clock } = desk(options)
      const row = await open()
      const answered = await gate.askPerson(row)
      expect(answered?.kind === 'answered').toBe(false)
      expect(await approvals.show('apr_1')).toMatchObject({ state: 'open' })
      expect(clock.waiting).toBe(0)
    }
  })

  test('L43: a failing or silent channel is told to the operator, and the question is not declined by it', async () => {
    const { approvals, gate, open, logged } = desk({
      onRequest: async () => {
        throw new Error('timed out')
      },
    })
    await gate.askPerson(await open())
    expect(logged).toMatchObject([{ level: 'warning', details: { error: expect.stringContaining('timed out') } }])
    expect(await approvals.show('apr_1')).not.toHaveProperty('answeredBy')
  })

  test.each(['approve', 'decline'] as const)('the answer of the person is taken: %s', async (decision) => {
    const seen: ApprovalRow[] = []
    const { gate, open } = desk({
      onRequest: async (approval) => {
        seen.push(approval)
        return { decision, by: 'boss' }
      },
    })
    const row = await open()
    expect(await gate.askPerson(row)).toMatchObject({ kind: 'answered', approval: { answeredBy: 'boss' } })
    expect(seen).toEqual([row])
  })

  test('calls that wait for one question ask once, and each hears the answer', async () => {
    let asked = 0
    let say = (_: PersonsAnswer): void => undefined
    const { gate, open } = desk({
      onRequest: () => {
        asked += 1
        return new Promise((resolve) => {
          say = resolve
        })
      },
    })
    const row = await open()
    const left = new AbortController()
    const both = [gate.askPerson(row), gate.askPerson(row), gate.askPerson(row, left.signal)]
    left.abort()
    expect(await both[2]).toBeUndefined()
    say(YES)
    expect(await Promise.all(both.slice(0, 2))).toMatchObject([{ kind: 'answered' }, { kind: 'answered' }])
    expect(asked).toBe(1)
  })

  test('when the last caller has left, the channel is told, and what it says later is no answer', async () => {
    let say = (_: PersonsAnswer): void => undefined
    let signal: AbortSignal | undefined
    const { approvals, gate, open } = desk({
      onRequest: (_, context) => {
        signal = context.signal
        return new Promise((resolve) => {
          say = resolve
        })
      },
    })
    const row = await open()
    const caller = new AbortController()
    const asking = gate.askPerson(row, caller.signal)
    caller.abort()
    expect(await asking).toBeUndefined()
    expect(signal?.aborted).toBe(true)
    say(YES)
    await new Promise((resolve) => setImmediate(resolve))
    expect(await approvals.show('apr_1')).toMatchObject({ state: 'open' })
    expect(await gate.askPerson(row, AbortSignal.abort())).toBeUndefined()
  })

  test('whoever comes after the last one has left asks anew, also while the channel has not come back', async () => {
    const said: ((_: PersonsAnswer) => void)[] = []
    const { gate, open } = desk({ onRequest: () => new Promise((resolve) => said.push(resolve)) })
    const row = await open()
    const caller = new AbortController()
    const first = gate.askPerson(row, caller.signal)
    caller.abort()
    expect(await first).toBeUndefined()
    const second = gate.askPerson(row)
    expect(said).toHaveLength(2)
    said[0]?.({ decision: 'decline', by: 'too late' })
    await new Promise((resolve) => setImmediate(resolve))
    const third = gate.askPerson(row)
    expect(said).toHaveLength(2)
    said[1]?.(YES)
    expect(await Promise.all([second, third])).toMatchObject([
      { kind: 'answered', approval: { answeredBy: 'boss' } },
      { kind: 'answered' },
    ])
  })
})

describe('waiting for an answer', () => {
  test('ends at once for what is not open, and for what is not there', async () => {
    const { approvals, open } = desk()
    expect(await approvals.settled('apr_1', { forMs: HOUR_MS })).toBeUndefined()
    await open()
    await approvals.decide('apr_1', YES)
    expect(await approvals.settled('apr_1', { forMs: HOUR_MS })).toMatchObject({ state: 'approved' })
    await expect(approvals.settled('apr_1', { forMs: Number.NaN })).rejects.toThrow(TypeError)
  })

  test('ends with the row as it is when the time is over, at its expiry, when the caller leaves, when the gate closes', async () => {
    const { approvals, gate, open, clock } = desk()
    await open()
    let done = 0
    const waited = (forMs: number, signal?: AbortSignal) =>
      approvals.settled('apr_1', { forMs, ...(signal && { signal }) }).then((row) => {
        done += 1
        return row
      })
    const [short, long] = [waited(MINUTE_MS), waited(HOUR_MS)]
    await clock.advance(MINUTE_MS - 1)
    expect(done).toBe(0)
    await clock.advance(1)
    expect([await short, done]).toMatchObject([{ state: 'open' }, 1])
    await clock.advance(9 * MINUTE_MS)
    expect([await long, done]).toMatchObject([{ state: 'open' }, 2])

    await open('apr_2')
    const caller = new AbortController()
    const leaving = approvals.settled('apr_2', { forMs: HOUR_MS, signal: caller.signal })
    const closing = approvals.settled('apr_2', { forMs: HOUR_MS })
    await clock.advance(1)
    caller.abort()
    expect(await leaving).toMatchObject({ state: 'open' })
    gate.close()
    expect(await closing).toMatchObject({ state: 'open' })
    expect(clock.waiting).toBe(0)
  })

  test('hears the answer that is given here, and leaves no timer and no listener', async () => {
    const { approvals, open, clock } = desk()
    await open()
    const { signal } = new AbortController()
    const added: string[] = []
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
      added.push('added')
      addEventListener.apply(signal, given)
    }
    signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
      added.push('removed')
      removeEventListener.apply(signal, given)
    }
    const waits = [1, 2, 3].map(() => approvals.settled('apr_1', { forMs: HOUR_MS, signal }))
    await clock.advance(1)
    expect(clock.waiting).toBe(3)
    await approvals.decide('apr_1', YES)
    expect(await Promise.all(waits)).toMatchObject([
      { state: 'approved' },
      { state: 'approved' },
      { state: 'approved' },
    ])
    expect(clock.waiting).toBe(0)
    expect(added.toSorted()).toEqual([...Array(3).fill('added'), ...Array(3).fill('removed')])
  })
})

describe('two processes on one database', () => {
  const folders: string[] = []
  const closes: (() => Promise<void>)[] = []
  afterEach(async () => {
    await Promise.all(closes.splice(0).map((close) => close()))
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })

  async function two() {
    const folder = mkdtempSync(join(tmpdir(), 'lockgate-approvals-'))
    folders.push(folder)
    return Promise.all(
      ['here', 'there'].map(async () => {
        const opened = await openSqliteStore({ file: join(folder, 'lockgate.db'), clock: systemClock })
        if (opened.kind === 'failed') throw new Error(opened.reason)
        const { store } = opened
        const heard: string[] = []
        const waiting = new Set<() => void>()
        const gate = new GateApprovals({
          ...{ store, clock: systemClock, options: {}, log: () => undefined },
          emit: (event, { id, state }) => {
            heard.push(`${event} ${id} ${state}`)
            for (const wake of waiting) wake()
          },
        })
        closes.push(async () => {
          gate.close()
          await store.close()
        })
        const until = (event: string): Promise<void> =>
          new Promise((resolve) => {
            const look = (): void => {
              if (heard.includes(event)) resolve()
            }
            waiting.add(look)
            look()
          })
        return { store, gate, heard, until }
      }),
    )
  }

  test('the answer that the other one gives ends a wait here', async () => {
    const [here, there] = await two()
    if (here === undefined || there === undefined) throw new Error('two were opened')
    await ask(here.store, question(Date.now()))
    const settled = here.gate.approvals.settled('apr_1', { forMs: MINUTE_MS })
    await there.gate.approvals.decide('apr_1', YES)
    expect(await settled).toMatchObject({ state: 'approved', answeredBy: 'boss' })
  })

  test('whoever follows hears what the other one opens, answers and uses, once each', async () => {
    const [here, there] = await two()
    if (here === undefined || there === undefined) throw new Error('two were opened')
    await ask(there.store, question(Date.now(), 'apr_old'))
    const unfollow = here.gate.follow()
    await here.store.stops()
    await ask(there.store, question(Date.now()))
    await here.until('approval-opened apr_1 open')
    await there.gate.approvals.decide('apr_1', YES)
    await here.until('approval-changed apr_1 approved')
    await ask(there.store, question(Date.now()))
    await here.until('approval-changed apr_1 redeemed')
    expect(here.heard).toEqual([
      ...['approval-opened apr_1 open', 'approval-changed apr_1 approved', 'approval-changed apr_1 redeemed'],
    ])
    unfollow()
  })
})
