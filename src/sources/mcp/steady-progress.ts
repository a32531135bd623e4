// Keeps a server that reports progress without end from flooding whoever waits: the first report, then one at a time in a
// while and the one that completes go on; the rest is dropped.

import type { Clock } from '../../base/clock.ts'
import type { Progress } from '../../describe/tool.ts'

const GAP_MS = 50

export function steadyProgress(report: (progress: Progress) => void, clock: Clock): (progress: Progress) => void {
  let lastMs = Number.NEGATIVE_INFINITY
  let isComplete = false
  return (progress) => {
    const nowMs = clock.monotonic()
    const completes = progress.total !== undefined && progress.progress === progress.total
    if (isComplete || (nowMs - lastMs < GAP_MS && !completes)) return
    lastMs = nowMs
    isComplete = completes
    report(progress)
  }
}
