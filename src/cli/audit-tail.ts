// `lockgate audit tail` and `query`: records in words, the newest of them or those that filters find.

import { bodyOf } from '../observe/record-text.ts'
import type { RecordRow } from '../observe/store.ts'
import type { RecordFilters } from '../server/record-filters.ts'
import { recordView } from '../server/record-view.ts'
import { auditFilters, PAGE_ROWS, pageAfter, readCount } from './audit-filters.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { endOfRecords, followRecords } from './follow-records.ts'
import { atDesk, type Desk } from './open-desk.ts'
import { questionOf, recordLine, textOf } from './record-line.ts'

const TAIL_DEFAULT = 20
const QUERY_DEFAULT = 100
/** Read besides what was asked for, in place of those that are not shown. */
const EXTRA_ROWS = 20

export const auditTail: RunCommand = async (input) => {
  const { io, line, terminal } = input
  const number = readCount(line.text('number'), TAIL_DEFAULT, PAGE_ROWS)
  if (number === undefined) return terminal.fail('usage', `\`-n\` takes a whole number from 1 to ${PAGE_ROWS}`)
  const read = auditFilters(line)
  if (read.kind === 'bad') return terminal.fail('usage', read.reason)
  const follows = line.flag('follow')
  if (follows && terminal.json)
    return terminal.fail('usage', '`--follow` goes on, and `--json` is one value', [
      '`audit export --follow` prints one JSON value for each record',
    ])
  return atDesk(input, async (desk): Promise<ExitCode> => {
    const end = await endOfRecords(desk)
    const isShown = line.flag('all') ? () => true : told(read.filters)
    const rows = await newestRows(desk, read.filters, number, isShown)
    const printer = new RecordPrinter(desk, input)
    await printer.print(rows)
    if (rows.length === 0) terminal.note('there are no records yet')
    terminal.value(rows.map(recordView))
    const from = Math.max(end, rows.at(-1)?.position ?? 0)
    const tell = async (row: RecordRow): Promise<void> => void (isShown(row) && (await printer.print([row])))
    if (follows) await followRecords(desk, read.filters, from, { signal: io.signal, tell })
    return 0
  })
}

/** Checkpoints prove the other records and tell of nothing else: they are shown to whoever asks for them. */
const told =
  ({ kind }: RecordFilters) =>
  (row: RecordRow): boolean =>
    row.kind !== 'checkpoint' || kind === 'checkpoint'

/** The newest that are shown, oldest first. */
async function newestRows(
  { records }: Pick<Desk, 'records'>,
  filters: RecordFilters,
  number: number,
  isShown: (row: RecordRow) => boolean,
): Promise<readonly RecordRow[]> {
  const rows: RecordRow[] = []
  const limit = Math.min(PAGE_ROWS, number + EXTRA_ROWS)
  for (let after: number | undefined, isLast = false; rows.length < number && !isLast; ) {
    const page = await records.query(pageAfter({ ...filters, newestFirst: true }, after, limit))
    rows.push(...page.filter(isShown))
    after = page.at(-1)?.position
    isLast = page.length < limit
  }
  return rows.slice(0, number).reverse()
}

export const auditQuery: RunCommand = async (input) => {
  const { line, terminal } = input
  const limit = readCount(line.text('number'), QUERY_DEFAULT, PAGE_ROWS)
  if (limit === undefined) return terminal.fail('usage', `\`-n\` takes a whole number from 1 to ${PAGE_ROWS}`)
  const read = auditFilters(line)
  if (read.kind === 'bad') return terminal.fail('usage', read.reason)
  return atDesk(input, async (desk): Promise<ExitCode> => {
    // One more than asked for tells whether there are more, without a second look.
    const page = await desk.records.query(pageAfter(read.filters, undefined, Math.min(limit + 1, PAGE_ROWS)))
    const rows = page.slice(0, limit)
    const isMore = page.length > limit || (limit === PAGE_ROWS && page.length === PAGE_ROWS)
    const next = isMore ? rows.at(-1)?.position : undefined
    await new RecordPrinter(desk, input).print(rows)
    if (rows.length === 0) terminal.note('no record fits')
    if (next !== undefined) terminal.note(['dim', `there are more: add --after ${next}`])
    terminal.value({ records: rows.map(recordView), ...(next === undefined ? {} : { next }) })
    return 0
  })
}

/** Prints rows as lines; remembers which tools questions were about. */
class RecordPrinter {
  readonly #desk: Pick<Desk, 'approvals'>
  readonly #terminal: CommandInput['terminal']
  readonly #tools = new Map<string, string>()

  constructor(desk: Pick<Desk, 'approvals'>, { terminal }: CommandInput) {
    this.#desk = desk
    this.#terminal = terminal
  }

  async print(rows: readonly RecordRow[]): Promise<void> {
    if (this.#terminal.json) return
    for (const row of rows) {
      if (row.kind === 'approval') await this.#noteTool(row)
      this.#terminal.line(...recordLine(row, this.#tools))
    }
  }

  async #noteTool(row: RecordRow): Promise<void> {
    const body = bodyOf(row)
    const id = questionOf(body)
    if (id === '' || this.#tools.has(id)) return
    const tool = textOf(body, 'tool') || (await this.#desk.approvals.show(id))?.tool
    if (tool !== undefined) this.#tools.set(id, tool)
  }
}
