// May it happen? The one policy of a gate: rules and defaults, loaded whole or not at all. It decides from what it is
// given and looks at nothing else: no file, no clock, no memory of earlier calls.
//
// The strictest rule that holds wins (deny, ask, allow); defaults by effect speak only where no rule holds. The order of
// rules never matters. Whoever works for somebody is asked about together with them.

import { sha256 } from '../base/digest.ts'
import type { CheckedInput } from '../describe/call.ts'
import { type Caller, samePrincipal } from '../describe/caller.ts'
import type { Decision, RuleOrigin } from '../describe/decision.ts'
import { DECLARED_EFFECTS } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import type { ConfigProblem } from '../describe/gate-config-error.ts'
import { parseResource } from '../describe/resource.ts'
import type { Tool } from '../describe/tool.ts'
import { taskIncludes, toolAdmits } from './admission.ts'
import { CallQuestion } from './call-question.ts'
import { DecisionTexts } from './decision-text.ts'
import type { RuleFinding } from './explain.ts'
import { findingsOf, gateFindings } from './explain-rules.ts'
import { FileScope } from './file-scope.ts'
import { looksAt } from './looks-at.ts'
import { type Outlook, outlookOf } from './outlook.ts'
import { checkRules, matchesOf, type PolicyCheck, type RuleMatches } from './policy-check.ts'
import type { PolicyOptions, ProfileName, RuleOptions } from './policy-options.ts'
import { type DefaultRow, type Defaults, defaultsAsRules, PROFILE_OF } from './profiles.ts'
import { type PolicySettings, readMoreRules, readPolicy } from './read-policy.ts'
import { type Rule, speaksOfTool } from './rule.ts'
import { RuleBook } from './rule-book.ts'
import { misfitOf } from './rule-fit.ts'
import { type KnownTool, warningsOf } from './rule-warnings.ts'
import { strictest } from './strictest.ts'
import { canonicalSteps, stepIncludes, stepIncludesCall } from './task-steps.ts'
import { isDeniedByDefault, ToolPlan } from './tool-plan.ts'

export type { KnownTool, Outlook, PolicyCheck, RuleMatches }

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

/** A decision, and what each rule that speaks of the tool found. `caller`: the one asked about, or one that it works for. */
export type Explanation = {
  readonly decision: Decision
  readonly findings: readonly RuleFinding[]
  readonly caller: Caller
}

/** The cheap half explained: the rules that look at no argument. */
export type ExplainedAdmission = {
  readonly admission: Admission
  readonly findings: readonly RuleFinding[]
  readonly caller: Caller
}

/** Reads a policy. Every problem is named with its key and place; a policy with a problem is no policy. */
export function loadPolicy(options: PolicyOptions, context: PolicyContext): LoadedPolicy {
  const scope = new FileScope(context.roots.values())
  const read = readPolicy(options, scope, context.file)
  return read.kind === 'bad' ? read : { kind: 'ok', policy: new Policy(read.rules, read.settings, context) }
}

/** With more rules that deny whole tools than this, looking them up in the plan of a tool is cheaper. */
const GATES_LOOKED_AT = 8

const ADMITTED: Admission = Object.freeze({ kind: 'admitted' })

export class Policy {
  /** SHA-256 (hex) of everything that can change a decision. Equal for rules in another order. */
  readonly version: string
  readonly profile: ProfileName
  /** A tool that is denied as a whole is to be answered as if it were not there. */
  readonly denialsHidden: boolean
  readonly defaults: Defaults
  /** In the order in which they were given. */
  readonly #rules: readonly Rule[]
  readonly #settings: PolicySettings
  readonly #context: PolicyContext
  readonly #book: RuleBook
  readonly #scope: FileScope
  readonly #onFault: (fault: unknown) => void
  /** By definition: an entry for each, gone with the definition. */
  readonly #plans = new WeakMap<Tool, ToolPlan>()

  constructor(rules: readonly Rule[], settings: PolicySettings, context: PolicyContext) {
    const { defaults, profile, steps } = settings
    const { reach, denialsHidden } = PROFILE_OF[profile]
    this.defaults = defaults
    this.profile = profile
    this.denialsHidden = denialsHidden
    this.#rules = rules
    this.#settings = settings
    this.#context = context
    this.#scope = new FileScope(context.roots.values())
    this.#onFault = (fault) => report(context.onFault, fault)
    this.version = versionOf(rules, settings)
    this.#book = new RuleBook({ rules, defaults, reach, steps, version: this.version })
  }

  /** The cheap half: deny rules that depend on no argument, the caller's task and step, the tool's own `admit`. Never throws. */
  admit(caller: Caller, entry: Entry): Admission {
    try {
      for (let who: Caller | undefined = caller; who !== undefined; who = who.parent) {
        const admission = this.#admit(who, entry)
        if (admission.kind === 'deny') return admission
      }
      return ADMITTED
    } catch (fault) {
      return denied(this.#close(entry, fault))
    }
  }

  /** The exact half: this caller, this definition, these arguments, these resources. Never throws. */
  decide(caller: Caller, entry: Entry, input: CheckedInput): Decision {
    try {
      // INVARIANT child-within-parent: whoever it works for is asked about as well, and the strictest answer holds.
      let decision = this.#decide(caller, entry, input)
      for (let who = caller.parent; who !== undefined && decision.kind !== 'deny'; who = who.parent)
        decision = strictest(decision, this.#decide(who, entry, input))
      return decision
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
      for (let who: Caller | undefined = caller; who !== undefined; who = who.parent)
        if (!this.#mayTouch(who, entry, resourceText, input)) return false
      return true
    } catch (fault) {
      this.#onFault(fault)
      return false
    }
  }

  /**
   * Everything that asks about this call: each rule, and each default where no rule does, for the caller and everybody that
   * it works for. An answer that reaches further is good for what asked, and for nothing that asks besides. `served`: who
   * calls, where `caller` is one that it works for. Never throws.
   */
  askedBy(caller: Caller, entry: Entry, input: CheckedInput, served: Caller = caller): readonly string[] {
    try {
      const plan = this.#planOf(entry)
      const asking = lineOf(caller).flatMap((who) =>
        plan.asking(new CallQuestion(plan, this.#scope, who, input)).map((asks) => {
          const what = typeof asks === 'string' ? `default ${asks}` : `rule ${sha256(asks.canonical)}`
          return `${what}${aboutWhom(who, served)}`
        }),
      )
      return [...new Set(asking)].sort()
    } catch (fault) {
      // INVARIANT closed: what cannot be told is a question that no earlier answer was about.
      this.#onFault(fault)
      return [`unknown ${input.effect}`]
    }
  }

  /** The exact half with its reasons: those of the caller whose answer holds. Never throws. */
  explain(caller: Caller, entry: Entry, input: CheckedInput): Explanation {
    const decision = this.decide(caller, entry, input)
    try {
      const asked = lineOf(caller).find((who) => this.#decide(who, entry, input).kind === decision.kind) ?? caller
      const plan = this.#planOf(entry)
      const question = new CallQuestion(plan, this.#scope, asked, input)
      return { decision, findings: findingsOf(plan, this.#rules, question, decision), caller: asked }
    } catch (fault) {
      this.#onFault(fault)
      return { decision, findings: [], caller }
    }
  }

  /** The cheap half with its reasons: what each rule found that depends on no argument. Never throws. */
  explainAdmission(caller: Caller, entry: Entry): ExplainedAdmission {
    const admission = this.admit(caller, entry)
    try {
      const asked = lineOf(caller).find((who) => this.#admit(who, entry).kind === admission.kind) ?? caller
      const decision = admission.kind === 'deny' ? admission.decision : undefined
      return { admission, findings: gateFindings(this.#planOf(entry), this.#rules, asked, decision), caller: asked }
    } catch (fault) {
      this.#onFault(fault)
      return { admission, findings: [], caller }
    }
  }

  /** What holds for a tool whatever its arguments are, and whether they can change that. Never throws. */
  outlook(caller: Caller, entry: Entry): Outlook {
    const admission = this.admit(caller, entry)
    if (admission.kind === 'deny') return { decision: admission.decision, depends: false }
    try {
      const plan = this.#planOf(entry)
      const all = lineOf(caller).map((who) => outlookOf(plan, who, entry.tool, this.#book))
      const decision = all.map((one) => one.decision).reduce(strictest)
      // Of several that are asked, one that denies whatever the arguments are has the last word.
      const isSettled = all.some((one) => one.decision.kind === 'deny' && !one.depends)
      return { decision, depends: all.some(({ depends }) => depends) && !isSettled }
    } catch (fault) {
      return { decision: this.#close(entry, fault), depends: false }
    }
  }

  dependsOnArguments(caller: Caller, entry: Entry): boolean {
    return this.outlook(caller, entry).depends
  }

  /** Whether a rule that can speak of the call looks at one of these arguments, or might. Never throws. */
  looksAt(caller: Caller, entry: Entry, input: CheckedInput, names: readonly string[]): boolean {
    try {
      const { rules } = this.#planOf(entry)
      return lineOf(caller).some((who) => looksAt(rules, { caller: who, tool: entry.tool, input }, names))
    } catch (fault) {
      this.#onFault(fault)
      return true
    }
  }

  /** Why a rule does not fit this tool, which is then held: it names an argument that the tool cannot have. */
  fits(tool: KnownTool): string | undefined {
    for (const rule of this.#rules) {
      const misfit = misfitOf(rule, tool)
      if (misfit !== undefined) return misfit.line
    }
    return undefined
  }

  /** What `loadPolicy` could not check before the tools were known. A policy with a problem does not hold. */
  check(known: Iterable<KnownTool>): PolicyCheck {
    const tools = [...known]
    return { problems: checkRules(this.#rules, tools), warnings: this.warnings(tools) }
  }

  /** What an operator should know: rules and patterns that match none of the tools that are known. */
  warnings(known: Iterable<KnownTool>): readonly string[] {
    return warningsOf(this.#rules, [...known], this.#scope)
  }

  /** For each rule, the known tools that it speaks of now. */
  matchesNow(known: Iterable<KnownTool>): readonly RuleMatches[] {
    return matchesOf(this.#rules, [...known])
  }

  /** What answers where no rule does, and how far a person's answer may reach. */
  defaultsTable(): readonly DefaultRow[] {
    const profile = PROFILE_OF[this.profile]
    return DECLARED_EFFECTS.map((effect) => ({
      effect,
      answer: this.defaults[effect],
      reach: profile.reach[effect],
      from: this.defaults[effect] === profile.defaults[effect] ? 'profile' : 'defaults',
    }))
  }

  /** The defaults in force, as plain rules. */
  profileRules(): readonly RuleOptions[] {
    return defaultsAsRules(this.defaults)
  }

  /** This policy and more rules, all of one origin. Its version is another one. */
  withRules(rules: readonly RuleOptions[], origin: RuleOrigin): LoadedPolicy {
    const read = readMoreRules(rules, origin, this.#settings, this.#scope)
    if (read.kind === 'bad') return read
    return { kind: 'ok', policy: new Policy([...this.#rules, ...read.rules], this.#settings, this.#context) }
  }

  #admit(caller: Caller, entry: Entry): Admission {
    const { task, step } = caller
    if (task === undefined && step === undefined && this.#isOpen(entry)) return ADMITTED
    const plan = this.#planOf(entry)
    const gate = plan.gate(caller)
    if (gate !== undefined) return denied(gate)
    if (!taskIncludes(caller, entry.tool.name)) return denied(plan.texts.byTask(task?.name ?? ''))
    if (!stepIncludes(this.#book.steps, caller, entry)) return denied(plan.texts.byStep(step ?? ''))
    return toolAdmits(entry.tool, caller, this.#onFault) ? ADMITTED : denied(plan.texts.byTool())
  }

  #decide(caller: Caller, entry: Entry, input: CheckedInput): Decision {
    const plan = this.#planOf(entry)
    const decision = plan.steady(input.effect) ?? plan.answer(new CallQuestion(plan, this.#scope, caller, input))
    if (decision.kind === 'deny') return decision
    if (!taskIncludes(caller, entry.tool.name)) return plan.texts.byTask(caller.task?.name ?? '')
    if (stepIncludesCall(this.#book.steps, caller, entry, input.effect)) return decision
    return plan.texts.byStep(caller.step ?? '')
  }

  #mayTouch(caller: Caller, entry: Entry, resourceText: string, input: CheckedInput): boolean {
    const resource = parseResource(resourceText)
    if (resource === undefined) return false
    const plan = this.#planOf(entry)
    // A folder as a whole: only where nothing below it is kept back needs nobody to ask about each file.
    const question = new CallQuestion(plan, this.#scope, caller, input, resource, input.effect, true)
    const decision = plan.answer(question)
    if (decision.kind !== 'ask') return decision.kind === 'allow'
    const whole = new CallQuestion(plan, this.#scope, caller, input)
    const asked = plan.asking(whole)
    return plan.asking(question).every((asks) => asked.includes(asks))
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
    return new DecisionTexts(nameOf(entry), this.#book).closed()
  }
}

/** A caller, and everybody that it works for. */
function lineOf(caller: Caller): readonly Caller[] {
  const line: Caller[] = []
  for (let who: Caller | undefined = caller; who !== undefined; who = who.parent) line.push(who)
  return line
}

/** INVARIANT child-within-parent: what asks about somebody else than the one who calls is another question. */
function aboutWhom(who: Caller, served: Caller): string {
  if (samePrincipal(who, served) && who.task?.name === served.task?.name) return ''
  const { tenant, user, agent, task } = who
  return ` for ${sha256(JSON.stringify([tenant, user, agent, task?.name ?? null]))}`
}

function versionOf(rules: readonly Rule[], { profile, defaults, steps }: PolicySettings): string {
  const answers = DECLARED_EFFECTS.map((effect) => defaults[effect])
  const all = rules.map(({ canonical }) => canonical).toSorted()
  return sha256(JSON.stringify(['lockgate-policy-2', profile, answers, canonicalSteps(steps), all]))
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
