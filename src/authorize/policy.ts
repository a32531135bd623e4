// May it happen? The one policy of a gate: rules and defaults, loaded whole or not at all. It decides from what it is
// given and looks at nothing else: no file, no clock, no memory of earlier calls.
//
// The strictest rule that holds wins (deny, ask, allow); defaults by effect speak only where no rule holds. The order of
// rules never matters.

import { sha256 } from '../base/digest.ts'
import type { CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import { DECLARED_EFFECTS } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import type { ConfigProblem } from '../describe/gate-config-error.ts'
import { parseResource } from '../describe/resource.ts'
import type { Tool } from '../describe/tool.ts'
import { taskIncludes, toolAdmits } from './admission.ts'
import { CallQuestion } from './call-question.ts'
import { DecisionTexts } from './decision-text.ts'
import { FileScope } from './file-scope.ts'
import { OptionReader } from './option-reader.ts'
import type { PolicyOptions } from './policy-options.ts'
import { type Defaults, readDefaults, readRule } from './read-rules.ts'
import { type Rule, speaksOfTool } from './rule.ts'
import { canonicalRule } from './rule-text.ts'
import { type KnownTool, warningsOf } from './rule-warnings.ts'
import { asksAbout, isDeniedByDefault, isGate, type RuleBook, ToolPlan } from './tool-plan.ts'

/** Whether a caller may use a tool at all, before anything of the arguments is read. */
export type Admission = { readonly kind: 'admitted' } | { readonly kind: 'deny'; readonly decision: Decision }

export type PolicyContext = {
  /** Workspace roots by name: absolute real paths, from which relative file patterns count. */
  readonly roots: ReadonlyMap<string, string>
  /** Where the rules stand, for problems of rules that carry no place of their own. */
  readonly file?: string
  /** Told of what went wrong inside a decision that was then closed. */
  readonly onFault?: (fault: unknown) => void
}

export type LoadedPolicy =
  | { readonly kind: 'ok'; readonly policy: Policy }
  | { readonly kind: 'bad'; readonly problems: readonly ConfigProblem[] }

/** Reads a policy. Every problem is named with its key and place; a policy with a problem is no policy. */
export function loadPolicy(options: PolicyOptions, context: PolicyContext): LoadedPolicy {
  const { file } = context
  const reader = new OptionReader(file === undefined ? {} : { file }, [])
  const fields = reader.fields(options, 'policy', ['defaults', 'rules'])
  const defaults = readDefaults(fields?.get('defaults'), 'policy.defaults', reader)
  const given = fields?.get('rules') === undefined ? [] : fields.get('rules')
  if (!Array.isArray(given)) reader.problem('policy.rules', 'must be a list of rules')
  const items: readonly unknown[] = Array.isArray(given) ? given : []
  const rules = items.flatMap((rule, index) => readRule(rule, `policy.rules[${index}]`, reader, file) ?? [])
  if (reader.problems.length > 0) return { kind: 'bad', problems: reader.problems }
  return { kind: 'ok', policy: new Policy(rules, defaults, context) }
}

/** With more rules that deny whole tools than this, looking them up in the plan of a tool is cheaper. */
const GATES_LOOKED_AT = 8

const ADMITTED: Admission = Object.freeze({ kind: 'admitted' })

export class Policy {
  /** SHA-256 (hex) of everything that can change a decision. Equal for rules in another order. */
  readonly version: string
  readonly defaults: Defaults
  readonly #book: RuleBook
  readonly #scope: FileScope
  readonly #onFault: (fault: unknown) => void
  /** By definition: an entry for each, gone with the definition. */
  readonly #plans = new WeakMap<Tool, ToolPlan>()

  constructor(rules: readonly Rule[], defaults: Defaults, { roots, onFault }: PolicyContext) {
    this.defaults = defaults
    this.#scope = new FileScope(roots.values())
    this.#onFault = (fault) => report(onFault, fault)
    const answers = DECLARED_EFFECTS.map((effect) => defaults[effect])
    this.version = sha256(JSON.stringify(['lockgate-policy-1', answers, rules.map(canonicalRule).toSorted()]))
    this.#book = { rules, gates: rules.filter(isGate), defaults, version: this.version }
  }

  /** The cheap half: deny rules that depend on no argument, the caller's task, the tool's own `admit`. Never throws. */
  admit(caller: Caller, entry: Entry): Admission {
    try {
      if (caller.task === undefined && this.#isOpen(entry)) return ADMITTED
      const plan = this.#planOf(entry)
      const gate = plan.gate(caller)
      if (gate !== undefined) return denied(gate)
      if (!taskIncludes(caller, entry.tool.name)) return denied(plan.texts.byTask(caller.task?.name ?? ''))
      return toolAdmits(entry.tool, caller, this.#onFault) ? ADMITTED : denied(plan.texts.byTool())
    } catch (fault) {
      return denied(this.#close(entry, fault))
    }
  }

  /** The exact half: this caller, this definition, these arguments, these resources. Never throws. */
  decide(caller: Caller, entry: Entry, input: CheckedInput): Decision {
    try {
      const plan = this.#planOf(entry)
      const decision = plan.steady(input.effect) ?? plan.answer(new CallQuestion(plan, this.#scope, caller, input))
      if (decision.kind === 'deny' || taskIncludes(caller, entry.tool.name)) return decision
      return plan.texts.byTask(caller.task?.name ?? '')
    } catch (fault) {
      // INVARIANT closed: whatever fails on the way to a decision, the decision is no.
      return this.#close(entry, fault)
    }
  }

  /**
   * Whether a running call may also touch a resource, e.g. `read file:/ws/a.txt`: as if the call were about that resource
   * alone, with the file in the place of its argument `path`. An ask counts as answered only where each rule that asks
   * about the resource was asked about the call as a whole. Everything else is withheld. Never throws.
   */
  mayTouch(caller: Caller, entry: Entry, resourceText: string, input: CheckedInput): boolean {
    try {
      const asked = parseResource(resourceText)
      if (asked === undefined) return false
      const plan = this.#planOf(entry)
      const question = new CallQuestion(plan, this.#scope, caller, input, asked)
      const decision = plan.answer(question)
      if (decision.kind !== 'ask') return decision.kind === 'allow'
      const whole = new CallQuestion(plan, this.#scope, caller, input)
      if (decision.by === 'default') {
        const answered = plan.answer(whole)
        return answered.kind === 'ask' && answered.by === 'default'
      }
      return plan.asking(question).every((rule) => asksAbout(rule, whole))
    } catch (fault) {
      this.#onFault(fault)
      return false
    }
  }

  /** What an operator should know: rules and patterns that match none of the tools that are known. */
  warnings(known: Iterable<KnownTool>): readonly string[] {
    return warningsOf(this.#book.rules, [...known], this.#scope)
  }

  /** Whether nothing stands between any caller and a tool: a listing of a thousand tools needs no plan for each. */
  #isOpen({ tool, source }: Entry): boolean {
    const { gates } = this.#book
    if (tool.admit !== undefined || gates.length > GATES_LOOKED_AT) return false
    if (gates.some((rule) => speaksOfTool(rule, tool.name, source))) return false
    return !isDeniedByDefault(tool.effect, this.defaults)
  }

  #planOf(entry: Entry): ToolPlan {
    const known = this.#plans.get(entry.tool)
    if (known !== undefined && known.source === entry.source) return known
    const plan = new ToolPlan(entry, this.#book)
    this.#plans.set(entry.tool, plan)
    return plan
  }

  #close(entry: Entry, fault: unknown): Decision {
    this.#onFault(fault)
    return new DecisionTexts(nameOf(entry), this.version).closed()
  }
}

const denied = (decision: Decision): Admission => ({ kind: 'deny', decision })

function nameOf(entry: Entry): string {
  try {
    return String(entry.tool.name)
  } catch {
    return 'tool'
  }
}

function report(onFault: ((fault: unknown) => void) | undefined, fault: unknown): void {
  try {
    onFault?.(fault)
  } catch {
    // Whoever listens must not be able to turn a refusal into something else.
  }
}
