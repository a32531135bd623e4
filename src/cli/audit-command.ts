// `lockgate audit`: the newest records in words, and whether the chains that they form still hold.

import { isJsonObject, type JsonObject } from '../base/json-value.ts'
import type { RecordRow } from '../observe/store.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { atDesk, type Desk } from './open-desk.ts'
import type { Piece } from './terminal.ts'

const TAIL_DEFAULT = 20
const TAIL_MAX = 10_000

export const auditCommand: RunCommand = async (input) => {
  const { line, terminal } = input
  const [action] = line.positionals
  if (action === 'verify') return atDesk(input, (desk) => verify(desk, input))
  if (action !== 'tail')
    return terminal.fail(
      'usage',
      `expected tail or verify, got ${action === undefined ? 'nothing' : `\`${action}\``}`,
      ['see `lockgate audit --help`'],
    )
  const number = Number(line.text('number') ?? TAIL_DEFAULT)
  if (!Number.isSafeInteger(number) || number < 1 || number > TAIL_MAX)
    return terminal.fail('usage', `\`-n\` takes a whole number from 1 to ${TAIL_MAX}`)
  return atDesk(input, (desk) => tail(desk, input, number))
}

async function verify(desk: Desk, { terminal }: CommandInput): Promise<ExitCode> {
  const verified = await desk.records.verify()
  terminal.value(verified)
  if (verified.kind === 'ok') {
    terminal.line(['green', 'the records hold'], `: ${verified.rows} rows in ${verified.chains} chains`)
    for (const note of verified.notes) terminal.note(['dim', note])
    return 0
  }
  terminal.line(
    ['red', 'the records do not hold'],
    `: row ${verified.seq} of chain ${verified.chain}: ${verified.reason}`,
  )
  return 1
}

async function tail(desk: Desk, { terminal }: CommandInput, number: number): Promise<ExitCode> {
  const newest = await desk.records.query({ newestFirst: true, limit: number })
  const rows = [...newest].reverse()
  const tools = terminal.json ? new Map() : await toolsAnsweredFor(desk, rows)
  for (const row of rows) printRow(terminal, row, tools)
  if (rows.length === 0) terminal.note('there are no records yet')
  terminal.value(rows.map((row) => ({ ...row, body: parsedBody(row) ?? row.body })))
  return 0
}

/** The record of an answer names its question, and the question the tool. */
async function toolsAnsweredFor(desk: Desk, rows: readonly RecordRow[]): Promise<ReadonlyMap<string, string>> {
  const tools = new Map<string, string>()
  for (const row of rows.filter(({ kind }) => kind === 'approval')) {
    const body = parsedBody(row) ?? {}
    const id = text(body, 'approvalId') || text(body, 'approval')
    const tool = text(body, 'tool') || tools.get(id) || (await desk.approvals.show(id))?.tool
    if (tool !== undefined) tools.set(id, tool)
  }
  return tools
}

function printRow(terminal: CommandInput['terminal'], row: RecordRow, tools: ReadonlyMap<string, string>): void {
  const body = parsedBody(row) ?? {}
  const who = ['user', 'agent']
    .map((key) => text(body, key))
    .filter((name) => name !== '')
    .join('/')
  terminal.line(
    ['dim', `${new Date(row.at).toISOString()} `],
    row.kind.padEnd(11),
    ['cyan', (text(body, 'tool') || (tools.get(text(body, 'approval')) ?? '') || concerned(body)).padEnd(28)],
    '  ',
    who === '' ? '' : `${who}  `,
    endPiece(row, body),
    ['dim', `  ${row.callId ?? ''}`],
  )
}

/** In one word or two, how it stands after this row. */
function endPiece({ kind }: RecordRow, body: JsonObject): Piece {
  const error = body.error
  if (isJsonObject(error)) return ['red', text(error, 'type')]
  if (body.ok === true) return ['green', 'done']
  const by = text(body, 'by')
  if (kind === 'approval' && by === '') return ['yellow', text(body, 'code') === 'renewed' ? 'a new code' : 'asked']
  if (kind === 'approval') return ['yellow', `${text(body, 'decision') || text(body, 'refused')} by ${by}`]
  if (kind === 'grant') return ['yellow', `${text(body, 'state')} by ${by}`]
  if (kind === 'stop') return ['yellow', `${text(body, 'lifted') === '' ? 'stopped' : 'lifted'} by ${by}`]
  return ['dim', text(body, 'effect')]
}

/** What a row is about that names no tool: a grant or a stop by its id, or all that was stopped. */
function concerned(body: JsonObject): string {
  const { target } = body
  if (!isJsonObject(target)) return text(body, 'grant') || text(body, 'lifted')
  const named = ['tool', 'source', 'session'].flatMap((key) => (text(target, key) === '' ? [] : [text(target, key)]))
  return named.length === 0 ? 'everything' : named.join(' ')
}

const text = (body: JsonObject, key: string): string => {
  const value = Object.hasOwn(body, key) ? body[key] : undefined
  return typeof value === 'string' ? value : ''
}

function parsedBody({ body }: RecordRow): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
