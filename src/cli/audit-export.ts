// `lockgate audit export`: records as lines for other programs, oldest first, a page at a time: JSON Lines, or log records of
// OpenTelemetry in its JSON encoding. What nobody can read any more stays unreadable; nothing is sent anywhere.

import { once } from 'node:events'
import type { RecordRow } from '../observe/store.ts'
import { recordView } from '../server/record-view.ts'
import { auditFilters, pageAfter } from './audit-filters.ts'
import type { CliIo, ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { followRecords } from './follow-records.ts'
import { atDesk, type Desk } from './open-desk.ts'
import { printableJsonLine } from './printable.ts'

const FORMATS = ['jsonl', 'otel'] as const
const PAGE = 1_000

/** Rows to values, each of which becomes a line. */
type Lines = (rows: readonly RecordRow[]) => readonly unknown[]

export const auditExport: RunCommand = async (input) => {
  const { io, line, terminal } = input
  const format = FORMATS.find((known) => known === (line.text('format') ?? 'jsonl'))
  if (format === undefined)
    return terminal.fail('usage', `\`--format\`: expected ${FORMATS.join(' or ')}, got \`${line.text('format')}\``)
  if (terminal.json) return terminal.fail('usage', '`export` prints one JSON value for each line; leave `--json` out')
  const asStored = line.flag('stored')
  if (asStored && format === 'otel') return terminal.fail('usage', '`--stored` goes with `--format jsonl`')
  const read = auditFilters(line)
  if (read.kind === 'bad') return terminal.fail('usage', read.reason)
  if (line.flag('newest')) return terminal.fail('usage', '`export` goes from the oldest record to the newest')
  const lines = await linesOf(format, asStored)
  return atDesk(input, async (desk): Promise<ExitCode> => {
    const last = await exportAll(desk, input, read.filters, lines)
    if (line.flag('follow')) {
      const tell = (row: RecordRow): Promise<void> => writeLines(io, lines([row]))
      await followRecords(desk, read.filters, last, { signal: io.signal, tell })
    }
    return 0
  })
}

async function linesOf(format: (typeof FORMATS)[number], asStored: boolean): Promise<Lines> {
  if (format === 'otel') {
    const { recordLogs } = await import('../observe/telemetry/record-logs.ts')
    return (rows) => (rows.length === 0 ? [] : [recordLogs(rows)])
  }
  if (asStored) return (rows) => rows.map(({ personal: _, ...row }) => row)
  return (rows) => rows.map(recordView)
}

/** Answers the position of the last row. */
async function exportAll(
  desk: Pick<Desk, 'records'>,
  { io }: CommandInput,
  filters: Parameters<typeof pageAfter>[0],
  lines: Lines,
): Promise<number> {
  let after = filters.afterPosition
  for (;;) {
    const rows = await desk.records.query(pageAfter(filters, after, PAGE))
    await writeLines(io, lines(rows))
    after = rows.at(-1)?.position ?? after
    if (rows.length < PAGE || io.signal.aborted) return after ?? 0
  }
}

/** Waits for a reader that is slower than the database. */
async function writeLines({ stdout }: Pick<CliIo, 'stdout'>, values: readonly unknown[]): Promise<void> {
  for (const value of values)
    if (!stdout.write(`${printableJsonLine(value)}\n`) && stdout.writableNeedDrain) await once(stdout, 'drain')
}
