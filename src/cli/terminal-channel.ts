// The terminal of `lockgate serve` as a place where questions are answered: one at a time, in the order in which they opened.
// A question that is answered elsewhere, or runs out of time, is taken back. Ending `serve` answers nothing.

import type { Clock } from '../base/clock.ts'
import type { Gate } from '../gate-contract.ts'
import type { Answered, ApprovalRow } from '../observe/store.ts'
import { type AskIo, askAtTerminal } from './approval-prompt.ts'
import { refusedText } from './refused-answer.ts'
import type { Terminal } from './terminal.ts'

const OPEN_MAX = 1_000

export type TerminalChannelParts = {
  readonly gate: Pick<Gate, 'approvals' | 'on'>
  readonly io: AskIo
  readonly terminal: Terminal
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Asks until `signal` aborts or the input ends. Somebody waits for a question of now, so it goes before those that stood open. */
export async function answerAtTerminal(parts: TerminalChannelParts): Promise<void> {
  const { gate, io, terminal, signal } = parts
  const waiting = new Waiting(signal)
  const stopHearing = gate.on('approval-opened', ({ id }) => waiting.add(id))
  // Read all the time, so that what is typed before a question stands is gone when it does.
  const drop = (): void => {}
  io.stdin.on('data', drop)
  try {
    for (const id of await standing(parts)) waiting.add(id, 'old')
    let isBegun = false
    for (let id = await waiting.next(); id !== undefined; id = await waiting.next()) {
      const ended = await askUntilSettled(parts, id, isBegun)
      // Whoever was typing an answer as the question went goes on typing under the next one.
      isBegun = ended === 'taken-back' || (ended === 'unasked' && isBegun)
      if (ended === 'input-ended') {
        terminal.note(
          ['yellow', 'the input has ended: '],
          'questions are answered with `lockgate approvals` from now on',
        )
        return
      }
    }
  } finally {
    stopHearing()
    io.stdin.off('data', drop)
    io.stdin.pause()
  }
}

/** What is open already, oldest first. Codes of another process are known to nobody here, so each gets a new one. */
async function standing({ gate, clock }: TerminalChannelParts): Promise<readonly string[]> {
  const rows = (await gate.approvals.list({ state: 'open', limit: OPEN_MAX })).toReversed()
  const open = rows.filter(({ expiresAt }) => expiresAt > clock.now())
  for (const { id, proof } of open) if (proof !== undefined) await gate.approvals.renewCode(id)
  return open.map(({ id }) => id)
}

/** A wrong code asks again, for as long as the question stands. */
async function askUntilSettled(
  parts: TerminalChannelParts,
  id: string,
  isBegun: boolean,
): Promise<'settled' | 'unasked' | 'taken-back' | 'input-ended'> {
  const { gate, clock, signal, terminal } = parts
  for (let begun = isBegun; ; begun = false) {
    const row = await gate.approvals.show(id)
    if (signal.aborted || row === undefined || !isOpen(row, clock)) return 'unasked'
    const asked = await askOnce(parts, row, begun)
    if (asked === 'input-ended' || asked === 'taken-back') return asked
    terminal.note(answeredText(asked))
    if (asked.kind !== 'refused') return 'settled'
  }
}

const isOpen = ({ state, expiresAt }: ApprovalRow, clock: Clock): boolean => state === 'open' && expiresAt > clock.now()

async function askOnce(
  { gate, io, clock, signal, terminal }: TerminalChannelParts,
  row: ApprovalRow,
  isBegun: boolean,
): Promise<Answered | 'taken-back' | 'input-ended'> {
  const over = new AbortController()
  const takenBack = new AbortController()
  const settled = gate.approvals
    .settled(row.id, { forMs: row.expiresAt - clock.now(), signal: AbortSignal.any([signal, over.signal]) })
    .then((now) => {
      takenBack.abort()
      return now
    })
  try {
    const renew = (): Promise<boolean> => gate.approvals.renewCode(row.id)
    const answer = await askAtTerminal(row, io, AbortSignal.any([signal, takenBack.signal]), renew, isBegun)
    if (answer !== undefined) return await gate.approvals.decide(row.id, answer)
    if (signal.aborted) return 'taken-back'
    if (!takenBack.signal.aborted) return 'input-ended'
    terminal.note(takenBackText(row.id, await settled))
    return 'taken-back'
  } finally {
    over.abort()
    await settled
  }
}

function takenBackText(id: string, row: ApprovalRow | undefined): string {
  if (row === undefined || row.state === 'open') return `${id} is no longer open: nobody answered in time`
  return `${id} was answered elsewhere: ${row.state === 'declined' ? 'declined' : 'approved'} by ${row.answeredBy ?? 'somebody'}`
}

function answeredText(answered: Answered): string {
  switch (answered.kind) {
    case 'missing':
      return 'this question is gone; nothing was answered'
    case 'closed':
      return `${answered.approval.id} was closed before; nothing was answered`
    case 'refused':
      return refusedText(answered)
    case 'answered': {
      const { id, state } = answered.approval
      const covers =
        answered.grant === undefined ? '' : `, and a grant until ${new Date(answered.grant.expiresAt).toISOString()}`
      return state === 'declined' ? `${id} declined; the call will not run` : `${id} approved${covers}`
    }
  }
}

/** Ids of questions in the order in which they came, the old ones last. */
class Waiting {
  readonly #signal: AbortSignal
  readonly #new = new Set<string>()
  readonly #old = new Set<string>()
  #wake: () => void = () => {}

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#wake(), { once: true })
  }

  add(id: string, age: 'new' | 'old' = 'new'): void {
    if (age === 'new') this.#new.add(id)
    else this.#old.add(id)
    this.#wake()
  }

  /** Undefined once nobody asks any more. */
  async next(): Promise<string | undefined> {
    while (this.#new.size + this.#old.size === 0 && !this.#signal.aborted)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    const [id] = this.#new.size > 0 ? this.#new : this.#old
    if (id !== undefined) {
      this.#new.delete(id)
      this.#old.delete(id)
    }
    return this.#signal.aborted ? undefined : id
  }
}
