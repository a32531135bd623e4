// Gives sources that are still starting a moment before the first listing goes out: many clients list once, when they
// connect, and never again. A source that is slow holds nobody up for longer, and is announced when it comes.

import type { Clock } from '../base/clock.ts'
import { within } from '../base/within.ts'
import type { Gate } from '../gate-contract.ts'

/** Milliseconds that the first listing may wait. */
const WARM_UP_MS = 5_000

/** Resolves when all sources are ready or failed, or once the moment is over; at once from then on. */
export function warmUp(gate: Gate, clock: Clock): () => Promise<void> {
  const settled = within(gate.settled(), WARM_UP_MS, clock, 'background').then(() => {})
  return () => settled
}
