// The gate's sessions behind a server's credentials: who calls is the credential's to say, never the message's. Sessions
// are kept while they are used, because what a caller sees is kept with them.

import type { Entrance } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Gate, Session } from '../gate-contract.ts'
import type { TokenRow } from './token-rows.ts'

const SESSIONS_MAX = 1_000
/** A conversation's name below that of its credential. */
const NAME = /^[A-Za-z0-9._:-]{1,128}$/

export const isConversationName = (name: string): boolean => NAME.test(name)

export class CallerSessions {
  readonly #gate: Gate
  readonly #entrance: Entrance
  readonly #defaults: Partial<Caller>
  readonly #sessions = new Map<string, Session>()

  /** `defaults`: what a credential does not say of its caller. */
  constructor(gate: Gate, entrance: Entrance, defaults: Partial<Caller> = {}) {
    this.#gate = gate
    this.#entrance = entrance
    this.#defaults = defaults
  }

  /** The session of a credential, or of one conversation under it. */
  of({ id, caller = {} }: Pick<TokenRow, 'id' | 'caller'>, conversation?: string): Session {
    const name = conversation === undefined ? id : `${id}/${conversation}`
    const known = this.#sessions.get(name)
    // Sessions stand in the order of their last use, so that the one not used for longest goes first.
    this.#sessions.delete(name)
    const session = known ?? this.#gate.session({ ...this.#defaults, ...caller, session: name }, this.#entrance)
    this.#sessions.set(name, session)
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size > SESSIONS_MAX && oldest !== undefined) this.#sessions.delete(oldest)
    return session
  }
}
