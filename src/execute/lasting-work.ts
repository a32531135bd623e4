// Work that goes on after the call that began it, such as a command in the background. It lasts no longer than it would be
// allowed to be begun: it is asked about again whenever something changes, and ended with the gate.

import type { Call, CheckedInput } from '../describe/call.ts'
import { type Caller, samePrincipal } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import { SessionEnded } from '../describe/session-ended.ts'

export type Work = { readonly call: Call; readonly entry: Entry; readonly input: CheckedInput }

type Lasting = Work & { readonly end: (reason: Error) => void }

export class LastingWork {
  readonly #denies: (call: Call, entry: Entry, input: CheckedInput) => Decision | undefined
  readonly #lasting = new Set<Lasting>()
  #stopped = false

  constructor(denies: (call: Call, entry: Entry, input: CheckedInput) => Decision | undefined) {
    this.#denies = denies
  }

  /** `end` is called once, at once where nothing may go on any more. The answer takes the work out again. */
  add(work: Work, end: (reason: Error) => void): () => void {
    if (this.#stopped) {
      end(new Error('the gate is closing'))
      return () => {}
    }
    const lasting: Lasting = { ...work, end }
    this.#lasting.add(lasting)
    return () => void this.#lasting.delete(lasting)
  }

  /** Ends what is denied now. */
  review(): void {
    for (const lasting of [...this.#lasting]) {
      const denial = this.#denies(lasting.call, lasting.entry, lasting.input)
      if (denial !== undefined) this.#end(lasting, new Error(denial.reason))
    }
  }

  /** Ends what calls of one conversation have left going on, and of those who work for it. */
  sessionEnded(caller: Caller): void {
    for (const lasting of [...this.#lasting])
      if (isOf(lasting.call.caller, caller)) this.#end(lasting, new SessionEnded())
  }

  /** Ends everything, and whatever would begin after that. */
  stop(): void {
    this.#stopped = true
    for (const lasting of [...this.#lasting]) this.#end(lasting, new Error('the gate is closing'))
  }

  #end(lasting: Lasting, reason: Error): void {
    this.#lasting.delete(lasting)
    try {
      lasting.end(reason)
    } catch {
      // Whatever it cannot end, the others are ended all the same.
    }
  }
}

function isOf(caller: Caller | undefined, ended: Caller): boolean {
  for (let at = caller; at !== undefined; at = at.parent)
    if (at.session === ended.session && samePrincipal(at, ended)) return true
  return false
}
