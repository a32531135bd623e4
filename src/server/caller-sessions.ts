// The gate's sessions behind a server's credentials: who calls is the credential's to say, never the message's. Sessions
// are kept while they are used, because what a caller sees is kept with them.

import type { Entrance } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Gate, Session } from '../gate-contract.ts'
import type { TokenCaller, TokenRow } from './token-rows.ts'

const SESSIONS_MAX = 1_000
/** A conversation's name below that of its credential. */
const NAME = /^[A-Za-z0-9._:-]{1,128}$/

export const isConversationName = (name: string): boolean => NAME.test(name)

/** A session, and the caller that it was made for. */
type Kept = { readonly session: Session; readonly caller: TokenCaller }

const NOBODY_SAID: TokenCaller = Object.freeze({})

export class CallerSessions {
  readonly #gate: Gate
  readonly #entrance: Entrance
  readonly #defaults: Partial<Caller>
  readonly #sessions = new Map<string, Kept>()

  /** `defaults`: what a credential does not say of its caller. */
  constructor(gate: Gate, entrance: Entrance, defaults: Partial<Caller> = {}) {
    this.#gate = gate
    this.#entrance = entrance
    this.#defaults = defaults
  }

  /** The session of a credential, or of one conversation under it. */
  of({ id, caller = NOBODY_SAID }: Pick<TokenRow, 'id' | 'caller'>, conversation?: string): Session {
    const name = conversation === undefined ? id : `${id}/${conversation}`
    const known = this.#sessions.get(name)
    // Sessions stand in the order of their last use, so that the one not used for longest goes first.
    this.#sessions.delete(name)
    // A credential that was given another task, step or role is another caller from its next call on.
    const kept = known !== undefined && isSame(known.caller, caller) ? known : this.#make(name, caller)
    this.#sessions.set(name, kept)
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size > SESSIONS_MAX && oldest !== undefined) this.#sessions.delete(oldest)
    return kept.session
  }

  #make(name: string, caller: TokenCaller): Kept {
    return { caller, session: this.#gate.session({ ...this.#defaults, ...caller, session: name }, this.#entrance) }
  }
}

/** Whether two credentials speak for the same caller. */
export const isSame = (one: TokenCaller | undefined, other: TokenCaller | undefined): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other)
