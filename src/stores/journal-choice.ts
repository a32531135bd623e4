// What an idempotency key says to a call that comes with it. Pure, so that every database answers alike. A key never serves
// other arguments, or another definition of the tool, than those that it was first used for.

import { type Intended, JOURNAL_MS, type JournalKey, type JournalRow } from '../observe/store.ts'

export type KeyHeld = Extract<Intended, { kind: 'replay' | 'key' }>

/** As much of a row as the choice needs. */
export type HeldKey = Pick<JournalRow, 'digest' | 'state' | 'callId' | 'endedAt'>

/** Undefined: the key is free. `answerOf`: what was kept of a call that is done. */
export function chooseKey(
  { digest }: JournalKey,
  held: HeldKey | undefined,
  now: number,
  answerOf: () => string | null,
): KeyHeld | undefined {
  if (held === undefined || isForgotten(held, now)) return undefined
  const { state, callId } = held
  if (held.digest !== digest) return { kind: 'key', state: 'conflict', callId }
  return state === 'done' ? { kind: 'replay', callId, answer: answerOf() } : { kind: 'key', state, callId }
}

/** Only what is known to be done is ever forgotten: an end that nobody knows stays until somebody says what happened. */
export const isForgotten = ({ state, endedAt }: Pick<HeldKey, 'state' | 'endedAt'>, now: number): boolean =>
  state === 'done' && endedAt !== undefined && endedAt + JOURNAL_MS <= now
