// One question to the person at this terminal, and the words that answer it. Only a whole word is a decision: any other line
// asks again, a line that was typed before the question stood is nobody's answer, and silence or an end of the input is none.

import type { Readable, Writable } from 'node:stream'
import type { Reach } from '../describe/decision.ts'
import type { PersonsAnswer } from '../gate-contract.ts'
import type { ApprovalRow } from '../observe/store.ts'
import { printable } from './printable.ts'

/** Who answers here, in the records. */
export const AT_TERMINAL = 'operator (terminal)'

const LINE_BYTES_MAX = 4_096
const CODE_CHARACTERS_MAX = 64
const LINE_FEED = 10

export type AskIo = {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stderr: Writable & { readonly isTTY?: boolean }
}

/** True where a person can be asked: both what is shown and what is typed belong to a terminal. */
export const hasPerson = ({ stdin, stderr }: AskIo): boolean => stdin.isTTY === true && stderr.isTTY === true

/**
 * Shows a question and reads its answer. Undefined for none: the input has ended, or `signal` says that the question is
 * withdrawn. Whether anybody sits there is the caller's to know (`hasPerson`). `renewCode` shows a new code to somebody who
 * has seen none, where the question asks for one. `isBegun`: a line may have been begun for another question before this one
 * stood. A terminal hands lines over whole, so that the first one answers nothing.
 */
export async function askAtTerminal(
  approval: ApprovalRow,
  io: AskIo,
  signal: AbortSignal,
  renewCode?: () => Promise<unknown>,
  isBegun = false,
): Promise<PersonsAnswer | undefined> {
  if (signal.aborted) return undefined
  const lines = new TypedLines(io.stdin, signal)
  const words = wordsFor(approval)
  const ask = async (prompt: string): Promise<string | undefined> => {
    io.stderr.write(`${prompt} `)
    const line = await lines.next()
    if (line === undefined) io.stderr.write('\n')
    return line
  }
  try {
    io.stderr.write(`${questionText(approval)}\n`)
    for (let isFirst = isBegun; ; isFirst = false) {
      const line = await ask(`${[...words.keys()].join(', ')} [decline]?`)
      if (line === undefined) return undefined
      if (isFirst) {
        io.stderr.write(
          `  that may have been typed for the question before, and is no decision; type it again for this one\n`,
        )
        continue
      }
      const answer = readAnswer(line, words)
      if (answer === undefined) io.stderr.write(`  that is no decision; type one of the words, or Enter to decline\n`)
      else if (answer.decision === 'decline' || approval.proof === undefined) return answer
      else {
        const code = await askCode(ask, renewCode)
        return code === undefined ? undefined : { ...answer, code }
      }
    }
  } finally {
    lines.close()
  }
}

/** Undefined where none can come any more. */
async function askCode(
  ask: (prompt: string) => Promise<string | undefined>,
  renewCode: (() => Promise<unknown>) | undefined,
): Promise<string | undefined> {
  for (;;) {
    const line = await ask(renewCode === undefined ? 'code?' : 'code (Enter shows a new one)?')
    if (line === undefined || line.trim() !== '' || renewCode === undefined)
      return line?.trim().slice(0, CODE_CHARACTERS_MAX)
    await renewCode()
  }
}

type Meaning = Pick<PersonsAnswer, 'decision' | 'scope'>

/** A wider reach has a word of its own, and only where it is offered. */
function wordsFor({ offers }: ApprovalRow): ReadonlyMap<string, Meaning> {
  const wider = offers.map(({ reach }) => reach).filter((reach) => reach !== 'once')
  return new Map<string, Meaning>([
    ['approve', { decision: 'approve', scope: 'once' }],
    ...wider.map((reach) => [reach, { decision: 'approve', scope: reach }] as const),
    ['decline', { decision: 'decline' }],
  ])
}

/** `word`, or `word: comment`. An empty line declines; anything else is no decision. */
export function readAnswer(line: string, words: ReadonlyMap<string, Meaning>): PersonsAnswer | undefined {
  const [, word = '', comment] = /^\s*([a-z]*)\s*(?::\s*(.*?)\s*)?$/i.exec(line) ?? []
  const isEmpty = line.trim() === ''
  const meaning = isEmpty ? words.get('decline') : words.get(word.toLowerCase())
  if (meaning === undefined) return undefined
  return { ...meaning, by: AT_TERMINAL, ...(comment === undefined || comment === '' ? {} : { comment }) }
}

function questionText(approval: ApprovalRow): string {
  const { id, tool, effect, tenant, user, agent, session, reason, shown, offers, expiresAt } = approval
  return [
    '',
    `question ${printable(id)}: may this run?`,
    ...shown.split('\n').map((line) => `  | ${printable(line)}`),
    `  tool     ${printable(tool)} (${printable(effect)})`,
    `  caller   ${printable(`${tenant}/${user}/${agent}, session ${session}`)}`,
    `  reason   ${printable(reason)}`,
    `  expires  ${new Date(expiresAt).toISOString()}`,
    ...offers.map(({ reach, shown: covers }) => `  ${wordOf(reach).padEnd(8)} ${printable(covers)}`),
  ].join('\n')
}

const wordOf = (reach: Reach): string => (reach === 'once' ? 'approve' : reach)

/** Lines as a person types them. What comes while nobody waits for a line is dropped. */
class TypedLines {
  readonly #stdin: Readable
  readonly #signal: AbortSignal
  readonly #wasFlowing: boolean
  #bytes: number[] = []
  #isTooLong = false
  #waiting: ((line: string | undefined) => void) | undefined
  readonly #end = (): void => this.#give(undefined)
  readonly #take = (chunk: Buffer | string): void => {
    for (const byte of Buffer.from(chunk)) this.#byte(byte)
  }

  constructor(stdin: Readable, signal: AbortSignal) {
    this.#stdin = stdin
    this.#signal = signal
    this.#wasFlowing = stdin.readableFlowing === true
    // What was read before the question stood does not answer it.
    if (!this.#wasFlowing) while (stdin.read() !== null);
    stdin.on('data', this.#take)
    for (const event of ['end', 'close', 'error']) stdin.on(event, this.#end)
    signal.addEventListener('abort', this.#end)
    stdin.resume()
  }

  /** Undefined once no line can come any more. */
  next(): Promise<string | undefined> {
    this.#bytes = []
    this.#isTooLong = false
    if (this.#signal.aborted || this.#stdin.readableEnded || this.#stdin.destroyed) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  close(): void {
    this.#stdin.off('data', this.#take)
    for (const event of ['end', 'close', 'error']) this.#stdin.off(event, this.#end)
    this.#signal.removeEventListener('abort', this.#end)
    if (!this.#wasFlowing) this.#stdin.pause()
  }

  #byte(byte: number): void {
    if (this.#waiting === undefined) return
    if (byte !== LINE_FEED) {
      if (this.#bytes.length < LINE_BYTES_MAX) this.#bytes.push(byte)
      else this.#isTooLong = true
      return
    }
    // A line of which the end was not kept cannot be told from the word that it begins with.
    this.#give(this.#isTooLong ? '?' : Buffer.from(this.#bytes).toString('utf8'))
  }

  #give(line: string | undefined): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.(line)
  }
}
