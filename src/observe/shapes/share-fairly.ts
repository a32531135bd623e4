// Shares one budget over several that want some of it: who wants little gets all of it, and those who want more get the same
// (max-min fairness).

/** What each may have; never more than it wants, and never more than `budget` together. */
export function shareFairly(wanted: readonly number[], budget: number): readonly number[] {
  const most = fairShare(wanted, Math.max(0, budget))
  return wanted.map((one) => Math.min(one, most))
}

function fairShare(wanted: readonly number[], budget: number): number {
  const rising = wanted.toSorted((one, other) => one - other)
  let left = budget
  for (const [index, one] of rising.entries()) {
    const share = Math.floor(left / (rising.length - index))
    if (one > share) return share
    left -= one
  }
  return Number.POSITIVE_INFINITY
}
