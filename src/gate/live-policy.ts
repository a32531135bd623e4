// The policy that holds now. It is replaced whole or not at all: what does not hold, or does not fit the tools that are
// there, leaves the last good one in force. Rules of a conversation stand beside it for its callers, and follow it.

import { type Admission, type LoadedPolicy, loadPolicy, type Policy, type PolicyContext } from '../authorize/policy.ts'
import type { PolicyOptions, RuleOptions } from '../authorize/policy-options.ts'
import { strictest } from '../authorize/strictest.ts'
import type { CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import { DECLARED_EFFECTS } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import { type ConfigProblem, GateConfigError } from '../describe/gate-config-error.ts'

export type LivePolicyParts = {
  readonly context: PolicyContext
  /** The tools that rules are held against when they are loaded: those that do not come from somebody else. */
  readonly known: () => readonly Entry[]
  /** Told after another policy has come into force. */
  readonly changed: (policy: Policy) => void
}

export type Replaced =
  | { readonly kind: 'ok'; readonly policy: Policy }
  | { readonly kind: 'kept'; readonly problems: readonly ConfigProblem[] }

/** Rules of origin `session`, and the policy that they make with the one that holds. */
type OwnRules = { readonly rules: readonly RuleOptions[]; from: Policy; policy: Policy }

export class LivePolicy {
  #current: Policy
  readonly #parts: LivePolicyParts
  /** INVARIANT closed: what judges a conversation whose rules do not hold under the policy that came into force since. */
  readonly #shut: Policy
  /** By caller: frozen, and alive as long as its conversation. */
  readonly #own = new WeakMap<Caller, OwnRules>()
  #anyOwn = false

  constructor(policy: Policy, parts: LivePolicyParts) {
    this.#parts = parts
    this.#current = policy
    const defaults = Object.fromEntries(DECLARED_EFFECTS.map((effect) => [effect, 'deny' as const]))
    this.#shut = loadedOrThrow(loadPolicy({ defaults }, parts.context))
  }

  /** The policy of everybody who has no rules of their own. */
  get current(): Policy {
    return this.#current
  }

  /** The policy with the rules of this caller's conversation. */
  of(caller: Caller): Policy {
    const own = this.#anyOwn ? this.#own.get(caller) : undefined
    if (own === undefined) return this.#current
    if (own.from !== this.#current) {
      const loaded = this.#current.withRules(own.rules, 'session')
      own.from = this.#current
      own.policy = loaded.kind === 'ok' ? loaded.policy : this.#shut
    }
    return own.policy
  }

  /** The rules that a caller was given, those of whoever it works for included. */
  rulesOf(caller: Caller): readonly RuleOptions[] {
    return this.#own.get(caller)?.rules ?? []
  }

  /**
   * Gives a caller rules of its own.
   *
   * @throws GateConfigError where they do not hold, or do not fit the tools that are known.
   */
  give(caller: Caller, rules: readonly RuleOptions[]): void {
    if (rules.length === 0) return
    const policy = loadedOrThrow(this.#fitting(this.#current.withRules(rules, 'session')))
    this.#anyOwn = true
    this.#own.set(caller, { rules: Object.freeze(structuredClone([...rules])), from: this.#current, policy })
  }

  /** Loads a policy over the same workspace and the same tools, and takes nothing into force. */
  load(options: PolicyOptions): LoadedPolicy {
    return this.#fitting(loadPolicy(options, this.#parts.context))
  }

  /** Takes another policy, or keeps the one that there is and says why. */
  reload(options: PolicyOptions): Replaced {
    const loaded = this.load(options)
    if (loaded.kind === 'bad') return { kind: 'kept', problems: loaded.problems }
    this.#current = loaded.policy
    this.#parts.changed(loaded.policy)
    return { kind: 'ok', policy: loaded.policy }
  }

  /** @throws GateConfigError where the policy does not fit the tools that are known. */
  check(): void {
    const { problems } = this.#current.check(this.#parts.known())
    if (problems.length > 0) throw new GateConfigError(problems)
  }

  admit(caller: Caller, entry: Entry): Admission {
    const policy = this.of(caller)
    if (policy === this.#current) return policy.admit(caller, entry)
    // What rules of a conversation do not fit is held for that conversation.
    if (policy.fits(entry) !== undefined) return this.#shut.admit(caller, entry)
    const admission = policy.admit(caller, entry)
    if (admission.kind === 'deny' || caller.parent === undefined) return admission
    // INVARIANT child-within-parent: rules that only the child has widen nothing; its parent is asked under its own.
    return this.admit(caller.parent, entry)
  }

  decide(caller: Caller, entry: Entry, input: CheckedInput): Decision {
    const policy = this.of(caller)
    const decision = policy.decide(caller, entry, input)
    if (policy === this.#current || decision.kind === 'deny' || caller.parent === undefined) return decision
    return strictest(decision, this.decide(caller.parent, entry, input))
  }

  /** Everything that asks about this call, under the rules of the caller and of everybody that it works for. */
  askedBy(caller: Caller, entry: Entry, input: CheckedInput, served: Caller = caller): readonly string[] {
    const policy = this.of(caller)
    const asking = policy.askedBy(caller, entry, input, served)
    if (policy === this.#current || caller.parent === undefined) return asking
    return [...new Set([...asking, ...this.askedBy(caller.parent, entry, input, served)])].sort()
  }

  mayTouch(caller: Caller, entry: Entry, resource: string, input: CheckedInput): boolean {
    const policy = this.of(caller)
    if (!policy.mayTouch(caller, entry, resource, input)) return false
    if (policy === this.#current || caller.parent === undefined) return true
    return this.mayTouch(caller.parent, entry, resource, input)
  }

  #fitting(loaded: LoadedPolicy): LoadedPolicy {
    if (loaded.kind === 'bad') return loaded
    // What the rules in force do not fit was registered later, and is held; it keeps no other rules out.
    const known = this.#parts.known().filter((entry) => this.#current.fits(entry) === undefined)
    const { problems } = loaded.policy.check(known)
    return problems.length === 0 ? loaded : { kind: 'bad', problems }
  }
}

/** @throws GateConfigError naming every problem. */
export function loadedOrThrow(loaded: LoadedPolicy): Policy {
  if (loaded.kind === 'bad') throw new GateConfigError(loaded.problems)
  return loaded.policy
}
