// Idempotency keys in bounded memory. Where there is no room, the keys of calls that were done first go first, and answers
// are lost before keys are: a call whose answer is lost is still known to be done. A key whose call runs, or ended without
// anybody knowing how, is never dropped: where only such are left, no further key is taken.

import type { JournalEnd, JournalKey, JournalRow, RecordSubject } from '../observe/store.ts'
import { chooseKey, isForgotten, type KeyHeld } from './journal-choice.ts'

export type JournalFilter = {
  readonly callId?: string
  readonly state?: JournalRow['state']
  readonly limit: number
}

type Kept = JournalRow & { readonly answer: string | null }

export class MemoryJournal {
  readonly #rowsMax: number
  readonly #answerCharsMax: number
  /** In the order of claiming. */
  readonly #rows = new Map<string, Kept>()
  /** Names of the keys whose call is done, in the order of ending. */
  readonly #done = new Set<string>()
  #answerChars = 0

  constructor(rowsMax: number, answerCharsMax: number) {
    this.#rowsMax = rowsMax
    this.#answerCharsMax = answerCharsMax
  }

  /** What the key says; undefined where it is free. */
  held(key: JournalKey, now: number): KeyHeld | undefined {
    const row = this.#rows.get(nameOf(key))
    return chooseKey(key, row, now, () => row?.answer ?? null)
  }

  /** Makes sure that a claim finds room. False: every key that is kept is still needed. */
  makeRoom(key: JournalKey, now: number): boolean {
    for (const name of this.#done) {
      const row = this.#rows.get(name)
      if (row !== undefined && !isForgotten(row, now)) break
      this.#drop(name)
    }
    if (this.#rows.size < this.#rowsMax || this.#rows.has(nameOf(key))) return true
    const [oldest] = this.#done
    if (oldest === undefined) return false
    this.#drop(oldest)
    return true
  }

  /** A key that `held` has found free. */
  claim(key: JournalKey, callId: string, at: number): void {
    const name = nameOf(key)
    this.#drop(name)
    this.#rows.set(name, { ...key, callId, state: 'running', claimedAt: at, answer: null })
  }

  /** Nothing where another call has the key by now. */
  end(end: JournalEnd, at: number): void {
    const name = nameOf(end.key)
    const row = this.#rows.get(name)
    if (row?.callId !== end.callId) return
    if (end.kind === 'free') {
      this.#drop(name)
      return
    }
    const answer = end.kind === 'done' ? end.answer : null
    this.#forgetAnswer(row)
    this.#answerChars += answer?.length ?? 0
    this.#rows.set(name, { ...row, state: end.kind, endedAt: at, answer })
    if (end.kind === 'done') this.#done.add(name)
    else this.#done.delete(name)
    this.#boundAnswers()
  }

  /** Newest first. */
  list({ callId, state, limit }: JournalFilter): JournalRow[] {
    return [...this.#rows.values()]
      .filter((row) => (callId === undefined || row.callId === callId) && (state === undefined || row.state === state))
      .reverse()
      .slice(0, limit)
      .map(({ answer: _, ...row }) => row)
  }

  /** All keys of a person; answers how many. */
  erase({ tenant, user }: RecordSubject): number {
    const theirs = [...this.#rows].filter(([, row]) => row.tenant === tenant && row.user === user)
    for (const [name] of theirs) this.#drop(name)
    return theirs.length
  }

  #boundAnswers(): void {
    for (const name of this.#done) {
      if (this.#answerChars <= this.#answerCharsMax) return
      const row = this.#rows.get(name)
      if (row === undefined || row.answer === null) continue
      this.#forgetAnswer(row)
      this.#rows.set(name, { ...row, answer: null })
    }
  }

  #drop(name: string): void {
    const row = this.#rows.get(name)
    if (row !== undefined) this.#forgetAnswer(row)
    this.#rows.delete(name)
    this.#done.delete(name)
  }

  #forgetAnswer({ answer }: Kept): void {
    this.#answerChars -= answer?.length ?? 0
  }
}

const nameOf = ({ tenant, user, agent, tool, key }: JournalKey): string =>
  JSON.stringify([tenant, user, agent, tool, key])
