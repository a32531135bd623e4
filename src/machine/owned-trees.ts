// Everything that this process has started and has to take along when it leaves: by an exit, a throw that nobody caught, or a
// signal that nobody else handles. It refuses to decide for a host that handles the signal itself.

export interface OwnedTree {
  /** Ends all of it at once, without waiting for anything. */
  endNow(): void
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

const living = new Set<OwnedTree>()

/** The answer lets go of it. */
export function ownTree(tree: OwnedTree): () => void {
  if (living.size === 0) watch()
  living.add(tree)
  return () => {
    if (living.delete(tree) && living.size === 0) unwatch()
  }
}

function watch(): void {
  process.once('exit', endAll)
  // Before the others: a listener of theirs that hears one signal only is gone by the time that it was told.
  for (const signal of SIGNALS) process.prependListener(signal, leave)
}

function unwatch(): void {
  process.off('exit', endAll)
  for (const signal of SIGNALS) process.off(signal, leave)
}

/** Listening to a signal keeps it from ending the process, so that has to be made good where nobody else listens. */
function leave(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return
  endAll()
  unwatch()
  process.kill(process.pid, signal)
}

function endAll(): void {
  for (const tree of living) tree.endNow()
}
