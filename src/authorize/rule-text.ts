// A rule as one line of text for an operator, and as the canonical text that the version of a policy is made of.

import type { RuleReference } from '../describe/decision.ts'
import type { ArgumentCondition } from './argument-condition.ts'
import type { RuleConditions } from './rule.ts'
import { visibleLine } from './visible-text.ts'

const TEXT_MAX = 500
const PLAIN = /^[A-Za-z0-9_\-*?./[\]!^{}\\@:+,]+$/

/** One line, e.g. `deny read_file where path=**\/.env*`; of a longer one the beginning. */
export function ruleText(rule: RuleConditions): string {
  const { answer, tools, sources, groups, effects, resources, programs, reads, callers, where, when, places } = rule
  const parts: string[] = [answer]
  if (tools !== undefined) parts.push(list(patternsOf(tools)))
  if (sources !== undefined) parts.push(`source=${list(patternsOf(sources))}`)
  if (groups !== undefined) parts.push(`group=${list(groups.names)}`)
  if (effects !== undefined) parts.push(`effect=${list(effects)}`)
  if (resources !== undefined) parts.push(`resource=${list(resources.map(({ text }) => text))}`)
  if (programs !== undefined) parts.push(`program=${list(patternsOf(programs))}`)
  if (reads !== undefined) parts.push(`reads=${reads}`)
  if (callers.length > 0) parts.push('for', ...callers.map(({ key, names }) => `${key}=${list(patternsOf(names))}`))
  if (where.length > 0) parts.push('where', ...where.map(conditionText))
  if (when !== undefined) parts.push('when', JSON.stringify(when.text))
  if (places !== undefined) parts.push(`place=${list(places)}`)
  const text = visibleLine(parts.join(' '))
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}… (${text.length} characters)`
}

/** Equal for rules that mean the same: neither the order of keys and lists nor the place in a file counts. */
export function canonicalRule(
  rule: RuleConditions,
  { because, origin }: Pick<RuleReference, 'because' | 'origin'>,
): string {
  const { answer, tools, sources, groups, effects, resources, programs, reads, callers, where, when, places } = rule
  return JSON.stringify([
    answer,
    tools === undefined ? null : patternsOf(tools).toSorted(),
    sources === undefined ? null : patternsOf(sources).toSorted(),
    groups === undefined ? null : [groups.names.toSorted(), patternsOf(groups.tools).toSorted()],
    effects?.toSorted() ?? null,
    resources?.map(({ text }) => text).toSorted() ?? null,
    programs === undefined ? null : patternsOf(programs).toSorted(),
    reads ?? null,
    callers.map(({ key, names }) => [key, patternsOf(names).toSorted()]).toSorted(byFirst),
    where.map(({ name, test }) => [name, test.globs, test.texts.toSorted()]).toSorted(byFirst),
    when?.text ?? null,
    places?.toSorted() ?? null,
    because ?? null,
    origin ?? null,
  ])
}

/** `path=docs/**`, or `amount={min=1,max=5}`. */
export const conditionText = ({ name, test }: ArgumentCondition): string =>
  `${word(name)}=${test.globs ? list(test.texts) : `{${test.texts.join(',')}}`}`

const patternsOf = ({ globs }: { readonly globs: readonly { readonly pattern: string }[] }): readonly string[] =>
  globs.map(({ pattern }) => pattern)

const byFirst = ([one]: readonly unknown[], [other]: readonly unknown[]): number =>
  String(one) < String(other) ? -1 : 1

const list = (texts: readonly string[]): string => (texts.length === 0 ? '(nothing)' : texts.map(word).join('|'))

const word = (text: string): string => (PLAIN.test(text) ? text : JSON.stringify(text))
