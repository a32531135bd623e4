// Answers to calls that were given up. A server that was told to stop may answer all the same, and then it is known what
// became of the call. Nobody but whoever gave the call up hears of it, and nobody waits for long.

import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import type { Clock } from '../../base/clock.ts'

type Id = string | number

export type LateAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }

type Expected = { answer: LateAnswer | undefined; tell: ((answer: LateAnswer | undefined) => void) | undefined }

/** Calls that are given up and may still be answered; older ones are forgotten. */
const EXPECTED_MAX = 1_000

export class LateAnswers {
  readonly #clock: Clock
  readonly #byId = new Map<Id, Expected>()
  readonly #byArguments = new WeakMap<object, { readonly id: Id; readonly expected: Expected }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The request under this id, which carried these arguments, has been given up. */
  expect(id: Id, args: unknown): void {
    if (typeof args !== 'object' || args === null) return
    const expected: Expected = { answer: undefined, tell: undefined }
    this.#byId.set(id, expected)
    this.#byArguments.set(args, { id, expected })
    if (this.#byId.size <= EXPECTED_MAX) return
    const [oldest] = this.#byId
    if (oldest !== undefined) this.#end(oldest[0], oldest[1], undefined)
  }

  /** True for an answer to a request that was given up. */
  take(message: JSONRPCMessage): boolean {
    if ('method' in message || message.id === undefined) return false
    const expected = this.#byId.get(message.id)
    if (expected === undefined) return false
    this.#end(message.id, expected, 'result' in message ? { result: message.result } : { error: message.error })
    return true
  }

  /** The answer to the request with these very arguments; undefined where it was not given up, or none comes in time. */
  async answerTo(args: object, waitMs: number): Promise<LateAnswer | undefined> {
    const found = this.#byArguments.get(args)
    if (found === undefined) return undefined
    const { id, expected } = found
    if (expected.answer !== undefined || this.#byId.get(id) !== expected) return expected.answer
    return new Promise((resolve) => {
      const cancel = this.#clock.after(waitMs, () => this.#end(id, expected, undefined), 'background')
      expected.tell = (answer) => {
        cancel()
        resolve(answer)
      }
    })
  }

  /** The connection is gone: nothing comes any more. */
  close(): void {
    for (const [id, expected] of [...this.#byId]) this.#end(id, expected, undefined)
  }

  #end(id: Id, expected: Expected, answer: LateAnswer | undefined): void {
    this.#byId.delete(id)
    expected.answer = answer
    expected.tell?.(answer)
  }
}
