// A rule in one line for the operator: where it stands, as a path from the working directory where that is shorter, and what
// it says.

import { relative } from 'node:path'
import type { RuleReference } from '../describe/decision.ts'

/** `lockgate.yaml:12`; empty for a rule that stands in no file. */
export function rulePlace({ file, line }: RuleReference, cwd: string): string {
  if (file === undefined) return ''
  const near = relative(cwd, file)
  return `${near === '' || near.startsWith('..') ? file : near}${line === undefined ? '' : `:${line}`}`
}

/** The rule with its place behind it. */
export function ruleLine(rule: RuleReference, cwd: string): string {
  const place = rulePlace(rule, cwd)
  return place === '' ? rule.text : `${rule.text} (${place})`
}
