// Asking a person from within the library. Goal: each call ends exactly once, in its place, with the answer that was given;
// waiting is no part of a call; no answer is never said to be a no. And what goes in circles is told and then stopped.

import { describe, expect, test } from 'vitest'
import {
  type AnyTool,
  type ApprovalRow,
  createGate,
  defineTool,
  type Gate,
  type GateOptions,
  type Outcome,
} from '../src/index.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { openGate } from './opened.ts'

let ran: string[] = []
const tool = (name: string, effect = 'write', run?: () => unknown): AnyTool =>
  defineTool({
    name,
    version: '1.0.0',
    description: `Does ${name}.`,
    input: { type: 'object', properties: { target: { type: 'string' } }, additionalProperties: false },
    effect,
    run:
      run ??
      (({ target }: { target?: string }) => {
        ran.push(`${name} ${target ?? ''}`.trim())
        return `${name} ${target ?? ''}`.trim()
      }),
  } as never) as AnyTool

async function open(options: GateOptions): Promise<Gate> {
  ran = []
  return openGate({ tools: [tool('w'), tool('r', 'read')], ...options })
}

type Answer = NonNullable<NonNullable<GateOptions['approvals']>['onRequest']>
const asking = (onRequest: Answer): Promise<Gate> => open({ approvals: { onRequest } })
const typeOf = (outcome: Outcome | undefined): string =>
  outcome === undefined ? 'none' : outcome.ok ? 'ok' : outcome.error.type
const w = (target: string, id?: string) => ({ name: 'w', arguments: { target }, ...(id === undefined ? {} : { id }) })

describe('onRequest', () => {
  test('L36: two in a row are asked one after the other, run once each, and the outcome is that of the call that ran', async () => {
    const asked: string[] = []
    const gate = await asking(async ({ shown }: ApprovalRow) => {
      asked.push(shown)
      return { decision: 'approve', by: 'ana' }
    })
    const outcomes = await gate.session().turn([w('1', 'a'), w('2', 'b'), { name: 'r', arguments: {}, id: 'c' }])
    expect(outcomes.map((outcome) => [outcome.meta.id, typeOf(outcome)])).toEqual([
      ['a', 'ok'],
      ['b', 'ok'],
      ['c', 'ok'],
    ])
    expect(ran).toEqual(['w 1', 'w 2', 'r'])
    expect(asked).toHaveLength(2)
    expect(outcomes[0]?.meta.approval).toMatch(/^apr_/)
    await gate.records.flush()
    const records = await gate.records.query({ limit: 100 })
    // A question is a call that ended, and what runs is another one: five calls, five ends.
    expect(records.filter(({ kind }) => kind === 'end')).toHaveLength(5)
  })

  test('L35: a no in the middle is the outcome of its call and of no other', async () => {
    const gate = await asking(async ({ shown }) =>
      shown.includes('no') ? { decision: 'decline', by: 'ana' } : { decision: 'approve', by: 'ana' },
    )
    const outcomes = await gate.session().turn([w('1', 'a'), w('no', 'b'), w('3', 'c')])
    expect(outcomes.map((outcome) => [outcome.meta.id, typeOf(outcome)])).toEqual([
      ['a', 'ok'],
      ['b', 'approval_declined'],
      ['c', 'ok'],
    ])
    expect(ran).toEqual(['w 1', 'w 3'])
    expect(outcomes[1]).toMatchObject({ error: { details: { reason: 'person' } } })
  })

  test('L31: no answer, a throw and an answer that is none leave the question open, and nobody is said to have declined', async () => {
    const answers: Answer[] = [
      async () => undefined,
      async () => {
        throw new Error('the channel is down')
      },
      async () => ({ decision: 'yes', by: 'ana' }) as never,
      async () => ({ decision: 'approve' }) as never,
    ]
    for (const answer of answers) {
      const gate = await asking(answer)
      const outcome = await gate.session().call(w('1'))
      expect(outcome).toMatchObject({ ok: false, error: { type: 'approval_required', details: { reason: 'waiting' } } })
      expect(await gate.approvals.list({ state: 'open' })).toHaveLength(1)
      expect(ran).toEqual([])
    }
  })

  test('L43: an answer that comes after the question has expired runs nothing, and the call is said to have expired', async () => {
    const clock = new FakeClock()
    const gate = await open({
      clock,
      approvals: {
        expiresMs: 1_000,
        onRequest: async () => {
          await clock.advance(1_500)
          return { decision: 'approve', by: 'ana' }
        },
      },
    })
    expect(await gate.session().call(w('late'))).toMatchObject({
      error: { type: 'approval_expired', effect: 'none', details: { reason: 'expired' } },
    })
    expect(ran).toEqual([])
  })

  test('an answer whose reach was not offered approves nothing', async () => {
    const gate = await open({
      approvals: { onRequest: async () => ({ decision: 'approve', by: 'ana', scope: 'session' }) },
      tools: [tool('w', 'destructive')],
      policy: { defaults: { destructive: 'ask' } },
    })
    expect(typeOf(await gate.session().call(w('1')))).toBe('approval_required')
    expect(ran).toEqual([])
  })

  test('a caller that leaves ends the wait; nothing runs, and the question stands', async () => {
    const controller = new AbortController()
    let seen: AbortSignal | undefined
    const gate = await asking((_approval, { signal }) => {
      seen = signal
      controller.abort()
      return new Promise(() => {})
    })
    const outcome = await gate.session().call({ ...w('1'), signal: controller.signal })
    expect(['approval_required', 'cancelled']).toContain(typeOf(outcome))
    expect(seen?.aborted).toBe(true)
    expect(ran).toEqual([])
  })

  test('other doors do not ask through the library: they have ways of their own', async () => {
    let asked = 0
    const gate = await asking(async () => {
      asked += 1
      return { decision: 'approve', by: 'ana' }
    })
    for (const entrance of ['mcp', 'admin', 'cli'] as const)
      expect(typeOf(await gate.session({}, entrance).call(w('1')))).toBe('approval_required')
    expect(asked).toBe(0)
  })
})

describe('decide', () => {
  test('tells of the grant that would answer, uses nothing and asks nobody', async () => {
    const gate = await asking(async () => ({ decision: 'approve', by: 'ana', scope: 'session' }))
    const session = gate.session()
    const preview = () => session.decide(w('1'))
    expect(await preview()).toMatchObject({ kind: 'decided', decision: { kind: 'ask' } })
    expect(await preview()).not.toHaveProperty('grant')
    const first = await session.call(w('1'))
    expect(typeOf(first)).toBe('ok')
    const [grant] = await gate.grants.list({ live: true })
    expect(await preview()).toMatchObject({ kind: 'decided', decision: { kind: 'ask' }, grant: grant?.id })
    const second = await session.call(w('1'))
    expect(second.meta).toMatchObject({ grant: grant?.id })
    expect(await gate.session({ session: 'other' }).decide(w('1'))).not.toHaveProperty('grant')
    await gate.policy.reload({ rules: [{ ask: 'nobody' }] })
    expect(await preview()).not.toHaveProperty('grant')
    expect(ran).toEqual(['w 1', 'w 1'])
  })
})

describe('going in circles', () => {
  const REPEATS = { limits: { repeats: { warn: 3, refuse: 5, paceMs: 0 } } }
  const types = async (gate: Gate, count: number, call = { name: 'r', arguments: {} }): Promise<string[]> => {
    const session = gate.session()
    const outcomes: string[] = []
    for (let index = 0; index < count; index++) {
      const outcome = await session.call(call)
      outcomes.push(outcome.meta.remark === undefined ? typeOf(outcome) : `${typeOf(outcome)}!`)
    }
    return outcomes
  }

  test('said-remark: the outcome says so in its content, beside the result and within the budget, and then the call is refused', async () => {
    const gate = await open({
      ...REPEATS,
      limits: { ...REPEATS.limits, resultBytes: 600 },
      tools: [tool('r', 'read', () => 'x'.repeat(590))],
    })
    expect(await types(gate, 6)).toEqual(['ok', 'ok', 'ok!', 'ok!', 'permission_denied', 'permission_denied'])
    const other = gate.session({ session: 'other' })
    await other.call({ name: 'r' })
    await other.call({ name: 'r' })
    const told = await other.call({ name: 'r' })
    const texts = told.content.map((part) => (part.type === 'text' ? part.text : ''))
    expect(texts.at(-1)).toBe(told.meta.remark)
    expect(told.meta.remark).toContain('3 times')
    expect(Buffer.byteLength(texts.join(''))).toBeLessThanOrEqual(600)
    await gate.records.flush()
    const [end] = await gate.records.query({ limit: 100, newestFirst: true })
    expect(end?.kind).toBe('end')
    const refused = (await gate.records.query({ limit: 100 })).filter(({ body }) => body.includes('"by":"loop"'))
    expect(refused).toHaveLength(2)
  })

  test('another result or another call breaks the circle; the defaults are five and ten', async () => {
    let count = 0
    const counting = await open({ ...REPEATS, tools: [tool('r', 'read', () => `${count++}`)] })
    expect(new Set(await types(counting, 12))).toEqual(new Set(['ok']))
    const gate = await open({ limits: { repeats: { paceMs: 0 } } })
    const outcomes = await types(gate, 11)
    expect(outcomes.indexOf('ok!')).toBe(4)
    expect(outcomes.indexOf('permission_denied')).toBe(9)
    const session = gate.session()
    expect(typeOf(await session.call({ name: 'r', arguments: { target: 'else' } }))).toBe('ok')
    expect(typeOf(await session.call({ name: 'r', arguments: {} }))).toBe('ok')
  })

  test('waiting for a person is no circle: the call that was approved at last runs', async () => {
    const gate = await open({ ...REPEATS })
    expect(await types(gate, 8, w('1'))).toEqual(Array.from({ length: 8 }, () => 'approval_required'))
    const [row] = await gate.approvals.list({ state: 'open' })
    await gate.approvals.decide(row?.id ?? '', { decision: 'approve', by: 'ana' })
    expect(await types(gate, 1, w('1'))).toEqual(['ok'])
  })

  test('bounds that mean nothing are refused', async () => {
    for (const repeats of [{ warn: 1 }, { warn: 5, refuse: 5 }, { refuse: 4 }, { warn: 2.5 }, { often: 3 }, 7])
      await expect(createGate({ limits: { repeats: repeats as never } })).rejects.toThrow(/limits\.repeats/)
  })
})
