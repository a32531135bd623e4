// Guards around the tools of one source: `retry`, `breaker`, `attempt`, `tries`. Each stands where the list of all guards has
// it, whatever the order in which they are written.

import type { GateOptions } from '../../gate-contract.ts'
import { duration, whole } from './shape.ts'
import { type FieldsValue, fields, optional } from './shape-object.ts'

const DAY_MS = 86_400_000

const retry = fields({
  times: optional(whole(1, 10), 'How often it is tried again. Default: 2.'),
  backoff: optional(
    duration({ min: 1, max: 60_000 }),
    'The wait before the second try; each further one is twice as long. Default: 200ms.',
  ),
})

const breaker = fields({
  failures: optional(whole(1, 1_000), 'Failures of the source, one after the other, that open it. Default: 5.'),
  cool: optional(duration({ min: 1, max: DAY_MS }), 'After so long one call is let through to see. Default: 10s.'),
})

const time = duration({ min: 1, max: DAY_MS })

/** Keys of a source. */
export const guarded = {
  retry: optional(
    retry,
    'Calls that failed are tried again, where it is known that nothing happened, or where the tool may be repeated.',
  ),
  breaker: optional(breaker, 'When calls of this source are ended at once because it fails.'),
  attempt: optional(time, 'How long each try may take.'),
  tries: optional(time, 'How long all tries of one call may take together.'),
}

type Guarded = FieldsValue<typeof guarded>

type Guards = NonNullable<GateOptions['guards']>

const RETRIES = 2

/** What is written of the times of one source. */
type Times = Guarded & { readonly deadline?: number | undefined; readonly idle?: number | undefined }

/**
 * INVARIANT enforced: bounds that never come before the deadline of the call, by their keys. `deadlineMs` is that of the gate.
 */
export function vainBounds(
  times: Times,
  deadlineMs: number,
): readonly { readonly key: string; readonly message: string }[] {
  const endsMs = Math.min(times.deadline ?? deadlineMs, deadlineMs)
  const own = times.deadline !== undefined && times.deadline <= deadlineMs
  const whose = own ? `the \`deadline\` of the source` : '`limits.deadline`'
  return (
    (['attempt', 'tries', 'idle'] as const)
      .filter((key) => (times[key] ?? 0) >= endsMs)
      // A silence that is no shorter than its own deadline is what the source itself refuses.
      .filter((key) => key !== 'idle' || (times.idle ?? 0) < (times.deadline ?? Number.POSITIVE_INFINITY))
      .map((key) => ({ key, message: `it never comes before ${whose}, ${endsMs} ms, which ends the call` }))
  )
}

/** The guards of all sources that name any. */
export const guardsOf = (sources: ReadonlyMap<string, Guarded>): Guards =>
  [...sources].flatMap(([name, source]) => guardsOfSource(name, source))

function guardsOfSource(source: string, { retry: again, breaker: open, attempt, tries }: Guarded): Guards {
  const concerned = { source }
  return [
    ...(open === undefined
      ? []
      : [
          {
            ...{ for: concerned, guard: 'breaker' as const },
            ...(open.failures === undefined ? {} : { failures: open.failures }),
            ...(open.cool === undefined ? {} : { coolMs: open.cool }),
          },
        ]),
    ...(tries === undefined ? [] : [{ for: concerned, guard: 'tries' as const, ms: tries }]),
    ...(again === undefined
      ? []
      : [
          {
            ...{ for: concerned, guard: 'retry' as const, times: again.times ?? RETRIES },
            ...(again.backoff === undefined ? {} : { backoffMs: again.backoff }),
          },
        ]),
    ...(attempt === undefined ? [] : [{ for: concerned, guard: 'attempt' as const, ms: attempt }]),
  ]
}
