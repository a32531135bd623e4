// Of several forms that a value fits none of, picks the issues worth telling: those of the form that was probably meant.
// A form whose literal member differs (`kind: "a"`) was not meant while another one's agrees.

import type { FoundIssue } from './check-run.ts'

const JOINED_MAX = 5

/** `depth` is how many steps lead to the value that the forms judge. */
export function bestBranch(branches: readonly (readonly FoundIssue[])[], depth: number): readonly FoundIssue[] {
  const faulty = branches.filter((issues) => issues.length > 0)
  const [best, ...others] = faulty.toSorted((left, right) => distance(left, depth) - distance(right, depth))
  if (best === undefined) return []
  const key = best.find((issue) => issue.depth === depth || issue.isLiteral)
  if (key === undefined) return best
  // Even the nearest form differs in kind: say which kinds would do, instead of the faults of one of them.
  const same = others.flatMap((issues) =>
    issues.filter((issue) => issue.path === key.path && (issue.depth === depth || issue.isLiteral)),
  )
  const expected = [...new Set([key, ...same].map((issue) => issue.expected))]
  return [{ ...key, expected: joinExpected(expected) }]
}

function distance(issues: readonly FoundIssue[], depth: number): number {
  const isOtherKind = issues.some((issue) => issue.depth === depth)
  const literals = issues.filter((issue) => issue.isLiteral).length
  return (isOtherKind ? 1_000_000 : 0) + literals * 1_000 + issues.length
}

const joinExpected = (expected: readonly string[]): string =>
  expected.length > JOINED_MAX
    ? `${expected.slice(0, JOINED_MAX).join(' or ')} or one of ${expected.length - JOINED_MAX} more`
    : expected.join(' or ')
