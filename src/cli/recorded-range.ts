// Which records a command looks at: `--since 7d`, or since a date.

import type { RecordedRange } from '../gate-contract.ts'
import { readRecordFilters } from '../server/record-filters.ts'
import type { CommandLine } from './command-line.ts'

export type RangeReading =
  | { readonly kind: 'ok'; readonly range: RecordedRange }
  | { readonly kind: 'bad'; readonly reason: string }

/** All that is kept where nothing is said. */
export function readRange(line: CommandLine): RangeReading {
  const read = readRecordFilters({ since: line.text('since') }, Date.now())
  if (read.kind === 'bad') return { kind: 'bad', reason: `\`--since\`: ${read.reason}` }
  const { since } = read.filters
  return { kind: 'ok', range: since === undefined ? {} : { since } }
}
