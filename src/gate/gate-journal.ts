// What is known under idempotency keys, for the operator: listed, and settled where nobody knew how a call had ended. It
// settles nothing that runs, and nothing whose end is known.

import type { Clock } from '../base/clock.ts'
import type { Gate } from '../gate-contract.ts'
import type { JournalRow, Store } from '../observe/store.ts'

const ROWS = 100
const STATES: readonly JournalRow['state'][] = ['running', 'done', 'unknown']

export function gateJournal(store: Store, clock: Pick<Clock, 'now'>): Gate['journal'] {
  return {
    async list({ state, limit = ROWS } = {}) {
      if (state !== undefined && !STATES.includes(state)) throw new TypeError('`state` is running, done or unknown')
      return store.journal({ limit, ...(state === undefined ? {} : { state }) })
    },
    async settle(callId, effect, by) {
      if (effect !== 'none' && effect !== 'done') throw new TypeError('a call is settled as `none` or `done`')
      const [row] = await store.journal({ callId, state: 'unknown', limit: 1 })
      if (row === undefined) return false
      const { tenant, user, agent, tool, key, digest } = row
      const body = JSON.stringify({ tool, effect, by, reason: 'settled by an operator' })
      const personal = JSON.stringify({ tenant, user, agent, key })
      const about = { callId, body, personal, subject: { tenant, user } }
      const draft = { kind: 'reconciled', at: Math.trunc(clock.now()), ...about } as const
      const of = { key: { tenant, user, agent, tool, key, digest }, callId }
      await store.settle(draft, effect === 'none' ? { ...of, kind: 'free' } : { ...of, kind: 'done', answer: null })
      return true
    },
  }
}
