// Decisions with their reasons. A reason is read by the model and by the operator, so it names the tool that was called
// and the words that the operator gave for the rule, and no other tool, rule or place.

import type { DecidedBy, Decision, Reach, RuleReference } from '../describe/decision.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import type { Answer } from './policy-options.ts'
import type { Reaches } from './profiles.ts'
import type { Rule } from './rule.ts'
import { visibleLine } from './visible-text.ts'

const CALLS: Readonly<Record<DeclaredEffect, string>> = {
  read: 'reads',
  write: 'writes',
  execute: 'calls that run programs',
  external: 'calls that reach outside',
  destructive: 'destructive calls',
  undeclared: 'calls of unknown effect',
}

/** The decisions about one tool, under one version of the policy. All of them are frozen and can be shared. */
export class DecisionTexts {
  readonly #tool: string
  readonly #policyVersion: string
  readonly #reach: Reaches

  constructor(tool: string, { version, reach }: { readonly version: string; readonly reach: Reaches }) {
    this.#tool = `\`${visibleLine(tool)}\``
    this.#policyVersion = version
    this.#reach = reach
  }

  /** `effect`: of the call, which tells how far an answer to its question may reach. */
  byRule(rule: Rule, effect: DeclaredEffect): Decision {
    if (rule.displaced) return this.#byPlace(rule)
    const { answer, where, when, resources, programs, reads, reference } = rule
    const { because } = reference
    const why = because === undefined ? 'by a rule' : `by a rule: ${visibleLine(because)}`
    const subject =
      where.length > 0 ||
      resources !== undefined ||
      programs !== undefined ||
      reads !== undefined ||
      when?.looksAtArguments === true
        ? `${this.#tool} with these arguments`
        : this.#tool
    const reasons = {
      allow: `${subject} is allowed ${why}`,
      ask: `${subject} asks a person first, ${why}`,
      deny: `${subject} is denied ${why}`,
    }
    return this.#decision(answer, 'rule', reasons[answer], { rule: reference, effect })
  }

  /** `of`: the effect of the whole call; `effect` may be that of something that it reads. */
  byDefault(effect: DeclaredEffect, answer: Answer, of: DeclaredEffect): Decision {
    const calls = CALLS[effect]
    const reasons = {
      allow: `${calls} are allowed by default`,
      ask: `${this.#tool} asks a person first because ${calls} ask by default`,
      deny: `${this.#tool} is denied because ${calls} are denied by default`,
    }
    return this.#decision(answer, 'default', reasons[answer], { effect: of })
  }

  byTask(task: string): Decision {
    return this.#decision('deny', 'task', `the task \`${visibleLine(task)}\` does not include ${this.#tool}`)
  }

  byStep(step: string): Decision {
    return this.#decision('deny', 'step', `the step \`${visibleLine(step)}\` does not include ${this.#tool}`)
  }

  byTool(): Decision {
    return this.#decision('deny', 'tool', `${this.#tool} does not admit this caller`)
  }

  closed(): Decision {
    return this.#decision(
      'deny',
      'closed',
      `nothing could be decided about ${this.#tool}, so it is denied; the operator can see why`,
    )
  }

  #byPlace({ places, reference }: Rule): Decision {
    const { because } = reference
    const where = `a rule wants it to run in another place (${(places ?? []).join(', ')})`
    const why = because === undefined ? where : `${where}: ${visibleLine(because)}`
    return this.#decision('deny', 'rule', `${this.#tool} is denied because ${why}`, { rule: reference })
  }

  #decision(
    kind: Answer,
    by: DecidedBy,
    reason: string,
    { rule, effect }: { readonly rule?: RuleReference; readonly effect?: DeclaredEffect } = {},
  ): Decision {
    const reach = kind === 'ask' && effect !== undefined ? { reach: this.#reachOf(effect) } : {}
    const policyVersion = this.#policyVersion
    return Object.freeze({ kind, by, ...(rule === undefined ? {} : { rule }), reason, ...reach, policyVersion })
  }

  #reachOf(effect: DeclaredEffect): Reach {
    return Object.hasOwn(this.#reach, effect) ? this.#reach[effect] : 'once'
  }
}
