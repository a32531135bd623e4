// Which records a command looks at: `--since 7d`, or since a date.

import type { RecordedRange } from '../gate-contract.ts'
import { parseDurationMs } from '../server/config/units.ts'
import type { CommandLine } from './command-line.ts'

export type RangeReading =
  | { readonly kind: 'ok'; readonly range: RecordedRange }
  | { readonly kind: 'bad'; readonly reason: string }

/** All that is kept where nothing is said. */
export function readRange(line: CommandLine): RangeReading {
  const since = line.text('since')
  if (since === undefined) return { kind: 'ok', range: {} }
  const ago = parseDurationMs(since)
  const at = ago === undefined ? dateOf(since) : Date.now() - ago
  return at === undefined
    ? {
        kind: 'bad',
        reason: `\`--since\` takes a duration such as \`7d\`, or a date such as \`2026-01-31\`, not \`${since}\``,
      }
    : { kind: 'ok', range: { since: at } }
}

function dateOf(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2})?)?$/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}
