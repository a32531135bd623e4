// What `serve` writes to stderr while it runs: lines for people, or one JSON object a line for whatever collects logs. Standard
// output is never written to; it belongs to the client, or to the one value that the command prints.

import type { LogEntry } from '../gate-contract.ts'
import type { LogOptions } from '../server/config/observe-shape.ts'
import type { CliIo } from './cli-io.ts'
import type { Terminal } from './terminal.ts'

const RANK = { info: 0, warning: 1, error: 2 } as const

export type WriteLog = (entry: LogEntry) => void

/** Takes over the notes of the terminal too, so that everything on stderr is of one form and of the wanted level. */
export async function serveLog(
  { stderr }: Pick<CliIo, 'stderr'>,
  terminal: Terminal,
  { level = 'warning', format = 'text' }: LogOptions,
): Promise<WriteLog> {
  const isWanted = (entry: LogEntry): boolean => RANK[entry.level] >= RANK[level]
  if (format === 'text') {
    terminal.silenceBelow(level)
    return (entry) => {
      if (isWanted(entry)) noteEntry(terminal, entry)
    }
  }
  const { pino } = await import('pino')
  const logger = pino(
    {
      level: 'info',
      messageKey: 'message',
      base: { name: 'lockgate' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label === 'warn' ? 'warning' : label }) },
    },
    stderr,
  )
  const write: WriteLog = (entry) => {
    if (!isWanted(entry)) return
    const { details, message } = entry
    const name = entry.level === 'warning' ? 'warn' : entry.level
    // Below a key of its own: details may have members of any name.
    logger[name](details === undefined ? {} : { details }, message)
  }
  terminal.logNotes(write)
  return write
}

export function noteEntry(terminal: Terminal, { level, message, details }: LogEntry): void {
  const tail = details === undefined ? '' : ` ${JSON.stringify(details)}`
  const style = level === 'error' ? 'red' : level === 'warning' ? 'yellow' : 'dim'
  terminal.note([style, `${level}: `], message, ['dim', tail])
}
