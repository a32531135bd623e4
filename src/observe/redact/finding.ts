// Secrets found in a text, and the text without them.

/** From `from` up to `to`, its end not included. */
export type Finding = { readonly from: number; readonly to: number; readonly name: string }

/** Ordered, without overlaps: what begins first covers what begins within it. */
export function ordered(findings: Finding[]): readonly Finding[] {
  if (findings.length < 2) return findings
  findings.sort((one, other) => one.from - other.from || other.to - one.to)
  const kept: Finding[] = []
  for (const finding of findings) {
    const last = kept.at(-1)
    if (last === undefined || finding.from >= last.to) kept.push(finding)
    // Of two that overlap, all that either covers goes.
    else if (finding.to > last.to) kept[kept.length - 1] = { ...last, to: finding.to }
  }
  return kept
}

/** `findings`: ordered. */
export function withoutFindings(text: string, findings: readonly Finding[]): string {
  let result = ''
  let at = 0
  for (const { from, to, name } of findings) {
    result += `${text.slice(at, from)}[redacted:${name}]`
    at = to
  }
  return result + text.slice(at)
}
