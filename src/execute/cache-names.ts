// The names under which answers are kept: the definition, the rules, whom an answer is for, and the arguments. Whatever may make
// two calls get different answers is part of the name, so that they never share one.

import { sha256 } from '../base/digest.ts'
import type { JsonObject } from '../base/json-value.ts'
import type { CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Entry } from '../describe/entry.ts'
import type { CacheOptions } from '../describe/tool.ts'
import type { Job } from './guard.ts'

/** Canonical arguments, and the text outside of them that decides what the call does. */
function asked({ binds, text }: CheckedInput): string {
  if (binds !== undefined && binds.length > 0) return sha256(JSON.stringify([text, binds]))
  return text.length > ARGUMENT_CHARACTERS_MAX ? sha256(text) : text
}

/** Another object as soon as the rules are others. */
export type Rules = { readonly version: string }

/** Longer arguments stand in a name by their digest. */
const ARGUMENT_CHARACTERS_MAX = 512

/** What is known of a caller. Callers are frozen, so this is worked out once, and again when the rules are others. */
type Known = {
  readonly rules: readonly Rules[]
  /** How the names of its answers of a definition begin. */
  readonly begins: WeakMap<Entry, string>
}

/** Beginnings that are told apart; with more of them, all begin anew and nothing that was kept is found again. */
const BEGINNINGS_MAX = 10_000

export class CacheNames {
  readonly #rulesOf: (caller: Caller) => Rules
  readonly #known = new WeakMap<Caller, Known>()
  readonly #beginnings = new Map<string, string>()
  #count = 0

  constructor(rulesOf: (caller: Caller) => Rules) {
    this.#rulesOf = rulesOf
  }

  /** The rules in force for a caller, and for everybody that it works for: the same list as long as they are the same. */
  rulesOf(caller: Caller): readonly Rules[] {
    return this.#of(caller).rules
  }

  nameOf({ call, entry, input }: Job, options: CacheOptions<JsonObject>): string {
    const { begins, rules } = this.#of(call.caller)
    const args = asked(input)
    const known = begins.get(entry)
    if (known !== undefined) return known + args
    const begin = this.#beginningOf(fullName(call.caller, entry, rules, options))
    begins.set(entry, begin)
    return begin + args
  }

  /** A short text in the place of a long one: names are looked up with every call. None ever stands for two. */
  #beginningOf(full: string): string {
    const known = this.#beginnings.get(full)
    if (known !== undefined) return known
    if (this.#beginnings.size >= BEGINNINGS_MAX) this.#beginnings.clear()
    const begin = `${++this.#count} `
    this.#beginnings.set(full, begin)
    return begin
  }

  #of(caller: Caller): Known {
    const known = this.#known.get(caller)
    if (known !== undefined && this.#holds(known.rules, caller)) return known
    const rules: Rules[] = []
    for (let above: Caller | undefined = caller; above !== undefined; above = above.parent)
      rules.push(this.#rulesOf(above))
    const made: Known = { rules, begins: new WeakMap() }
    this.#known.set(caller, made)
    return made
  }

  #holds(rules: readonly Rules[], caller: Caller): boolean {
    let above: Caller | undefined = caller
    for (const known of rules) {
      if (above === undefined || this.#rulesOf(above) !== known) return false
      above = above.parent
    }
    return true
  }
}

/**
 * What a tool shows that walks depends on what its caller may see, which rules may tie to the session too: it is shared with
 * nobody.
 */
function fullName(
  caller: Caller,
  { fingerprint, tool }: Entry,
  rules: readonly Rules[],
  { shared = false }: CacheOptions<JsonObject>,
): string {
  const walks = tool.walks === true
  const who = shared && !walks ? null : identityOf(caller, walks)
  return JSON.stringify([fingerprint, rules.map(({ version }) => version), who])
}

/** Who asks, in full: everything that a rule or a tool can tell callers apart by. */
function identityOf(caller: Caller, session: boolean): string {
  const { tenant, user, agent, roles, task, step, layers, parent } = caller
  return JSON.stringify([
    ...[tenant, user, agent, roles, task ?? null, step ?? null, layers ?? null],
    ...[session ? caller.session : null, parent === undefined ? null : identityOf(parent, session)],
  ])
}
