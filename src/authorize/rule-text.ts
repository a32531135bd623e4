// A rule as one line of text for an operator, and as the canonical text that the version of a policy is made of.

import type { Rule } from './rule.ts'
import { visibleLine } from './visible-text.ts'

const TEXT_MAX = 500
const PLAIN = /^[A-Za-z0-9_\-*?./[\]!^{}\\@:+,]+$/

type Conditions = Omit<Rule, 'reference'>

/** One line, e.g. `deny read_file where path=**\/.env*`; of a longer one the beginning. */
export function ruleText(rule: Conditions): string {
  const { answer, tools, sources, effects, resources, callers, where } = rule
  const parts: string[] = [answer]
  if (tools !== undefined) parts.push(list(patternsOf(tools)))
  if (sources !== undefined) parts.push(`source=${list(patternsOf(sources))}`)
  if (effects !== undefined) parts.push(`effect=${list(effects)}`)
  if (resources !== undefined) parts.push(`resource=${list(resources.map(({ text }) => text))}`)
  if (callers.length > 0) parts.push('for', ...callers.map(({ key, names }) => `${key}=${list(patternsOf(names))}`))
  if (where.length > 0)
    parts.push('where', ...where.map(({ name, patterns }) => `${word(name)}=${list(patterns.map(({ text }) => text))}`))
  const text = visibleLine(parts.join(' '))
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}… (${text.length} characters)`
}

/** Equal for rules that mean the same: neither the order of keys and lists nor the place in a file counts. */
export function canonicalRule({ answer, tools, sources, effects, resources, callers, where, reference }: Rule): string {
  return JSON.stringify([
    answer,
    tools === undefined ? null : patternsOf(tools).toSorted(),
    sources === undefined ? null : patternsOf(sources).toSorted(),
    effects?.toSorted() ?? null,
    resources?.map(({ text }) => text).toSorted() ?? null,
    callers.map(({ key, names }) => [key, patternsOf(names).toSorted()]).toSorted(byFirst),
    where.map(({ name, patterns }) => [name, patterns.map(({ text }) => text).toSorted()]).toSorted(byFirst),
    reference.because ?? null,
  ])
}

const patternsOf = ({ globs }: { readonly globs: readonly { readonly pattern: string }[] }): readonly string[] =>
  globs.map(({ pattern }) => pattern)

const byFirst = ([one]: readonly unknown[], [other]: readonly unknown[]): number =>
  String(one) < String(other) ? -1 : 1

const list = (texts: readonly string[]): string => (texts.length === 0 ? '(nothing)' : texts.map(word).join('|'))

const word = (text: string): string => (PLAIN.test(text) ? text : JSON.stringify(text))
