// Finds well-known credentials by their form. A pattern is tried only where its own prefix stands.

import type { Finding } from './finding.ts'
import type { Candidate } from './pair-scanner.ts'
import { isPlaceholder } from './placeholder.ts'
import type { ShapeRule } from './secret-shapes.ts'

/** Each prefix once, with all rules that begin so. */
export function shapeCandidates(rules: readonly ShapeRule[]): readonly Candidate[] {
  const byAnchor = new Map<string, ShapeRule[]>()
  for (const rule of rules)
    for (const anchor of rule.anchors) byAnchor.set(anchor, [...(byAnchor.get(anchor) ?? []), rule])
  return [...byAnchor].map(([anchor, own]) => ({ anchor, tryAt: (text, at) => tried(own, text, at) }))
}

function tried(rules: readonly ShapeRule[], text: string, at: number): Finding | undefined {
  for (const { name, pattern, anywhere, keeps } of rules) {
    if (anywhere !== true && !beginsWord(text, at)) continue
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) continue
    const [from, to] = match.indices?.[1] ?? match.indices?.[0] ?? [at, pattern.lastIndex]
    const secret = text.slice(from, to)
    if (keeps?.(secret) !== true && !isPlaceholder(secret)) return { from, to, name }
  }
  return undefined
}

export const literalPattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

const WORD = /[A-Za-z0-9_-]/
/** What ends in a letter or digit and is none: `\n`, `%20`, `\u0022`, `&quot;` ends otherwise, and a colour of a terminal. */
const ESCAPE_BEFORE = /(?:\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\u001b\[[0-9;]{0,12}m)$/

/** Whether what begins here is not the middle of a longer word. */
function beginsWord(text: string, at: number): boolean {
  if (at === 0 || !WORD.test(text.charAt(at - 1))) return true
  // What a diff takes away.
  if (text.charAt(at - 1) === '-' && (at === 1 || /[\r\n]/.test(text.charAt(at - 2)))) return true
  return ESCAPE_BEFORE.test(text.slice(Math.max(0, at - 16), at))
}
