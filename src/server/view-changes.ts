// When what a caller sees may be another: tools come and go, rules are replaced, something is stopped or goes on.

import type { Gate } from '../gate-contract.ts'

/** Calls back after each such change, until the answer is called. */
export function onViewsChanged(gate: Pick<Gate, 'on'>, changed: () => void): () => void {
  const stops = [
    gate.on('catalogue-changed', changed),
    gate.on('policy-changed', changed),
    gate.on('stops-changed', changed),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}
