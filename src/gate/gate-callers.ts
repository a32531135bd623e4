// Who a session speaks for: checked, frozen, and known to the policy with the rules that its conversation brings. A caller is
// made here and nowhere else, so that none has more than whoever it works for.

import { randomUUID } from 'node:crypto'
import { type CallerRead, readCaller, readChild } from '../authorize/caller-identity.ts'
import type { Caller } from '../describe/caller.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import type { ChildOptions, SessionOptions } from '../gate-contract.ts'
import type { LivePolicy } from './live-policy.ts'

/** The profile under which a child has no role but those that it is given. */
const NOTHING_INHERITED = 'platform'

export class GateCallers {
  readonly #policy: LivePolicy

  constructor(policy: LivePolicy) {
    this.#policy = policy
  }

  /**
   * A conversation without a name gets one of its own: what a person answers for a session, and what goes in circles, is
   * never shared with another one.
   *
   * @throws GateConfigError for a caller, or for rules, that do not hold.
   */
  of({ rules = [], ...given }: SessionOptions): Caller {
    const named = given.session === undefined ? { ...given, session: `session_${randomUUID()}` } : given
    const caller = readOrThrow('caller', readCaller(named))
    this.#policy.give(caller, rules)
    return caller
  }

  /** The same caller in another phase of its task. */
  atStep(caller: Caller, step: string): Caller {
    const { parent, ...own } = caller
    const read = readOrThrow('step', readCaller({ ...own, step }))
    const moved = parent === undefined ? read : Object.freeze({ ...read, parent })
    this.#policy.give(moved, this.#policy.rulesOf(caller))
    return moved
  }

  childOf(parent: Caller, options: ChildOptions): Caller {
    if (typeof options !== 'object' || options === null)
      throw new GateConfigError([{ key: 'child', message: 'expected an object' }])
    const { rules = [], ...given } = options
    const inherits = this.#policy.current.profile !== NOTHING_INHERITED
    const child = readOrThrow('child', readChild(given, parent, inherits))
    this.#policy.give(child, [...this.#policy.rulesOf(parent), ...rules])
    return child
  }
}

function readOrThrow(key: string, read: CallerRead): Caller {
  if (read.kind === 'bad') throw new GateConfigError([{ key, message: read.reason }])
  return read.caller
}
