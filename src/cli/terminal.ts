// The two output streams of a command. Results go to stdout and everything else to stderr; with `--json` stdout gets one
// JSON value and no more. All text is made printable here, colours are put around it afterwards, and only on a terminal.

import type { Writable } from 'node:stream'
import { plainTerminalText } from '../base/terminal-text.ts'
import type { ConfigProblem } from '../describe/gate-config-error.ts'
import { describeProblem } from '../describe/gate-config-error.ts'
import { hasPerson } from './approval-prompt.ts'
import type { CliIo } from './cli-io.ts'
import { printable, printableBlock, printableJson, styledBlock } from './printable.ts'

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const
export type Style = keyof typeof STYLES

/** A piece of a line; a plain text has no colour. */
export type Piece = string | readonly [Style, string]

type Stream = Writable & { readonly isTTY?: boolean }

/** A note as a log has it. */
export type Note = { readonly level: 'info' | 'warning' | 'error'; readonly message: string }

export class Terminal {
  readonly json: boolean
  readonly #config: string | undefined
  readonly #io: CliIo
  readonly #colours: boolean
  #jsonWritten = false
  #log: ((entry: Note) => void) | undefined
  #hidesWarnings = false

  /** `config`: the configuration as the command line named it. */
  constructor(io: CliIo, options: { readonly json: boolean; readonly config?: string | undefined }) {
    this.#io = io
    this.json = options.json
    this.#config = options.config
    this.#colours = (io.variables.NO_COLOR ?? '') === '' && io.variables.TERM !== 'dumb'
  }

  /** Another command over the same configuration, in backticks, as it can be typed. */
  command(words: string): string {
    const config = this.#config
    if (config === undefined) return `\`lockgate ${words}\``
    const quoted = /^[A-Za-z0-9_./:@-]+$/.test(config) ? config : `'${config.replaceAll("'", "'\\''")}'`
    return `\`lockgate --config ${quoted} ${words}\``
  }

  /** One line of the result. Not printed with `--json`. */
  line(...pieces: readonly Piece[]): void {
    if (!this.json) this.#write(this.#io.stdout, pieces)
  }

  /** Several lines of the result, as they stand. Not printed with `--json`. */
  block(text: string): void {
    if (!this.json && text !== '') this.#io.stdout.write(`${printableBlock(text)}${text.endsWith('\n') ? '' : '\n'}`)
  }

  /** Several lines in which sequences for colour and style stand: they show on a terminal and are taken out elsewhere. */
  styled(text: string): void {
    if (this.json || text === '') return
    const colours = this.#colours && this.#io.stdout.isTTY === true
    const shown = colours ? styledBlock(text) : printableBlock(plainTerminalText(text))
    this.#io.stdout.write(`${shown}${shown.endsWith('\n') ? '' : '\n'}`)
  }

  /** Progress, warnings and errors: one line on stderr. */
  note(...pieces: readonly Piece[]): void {
    const level = levelOf(pieces)
    if (this.#log !== undefined) this.#log({ level, message: pieces.map(textOf).join('') })
    else if (level !== 'warning' || !this.#hidesWarnings) this.#write(this.#io.stderr, pieces)
  }

  /** From now on notes go to a log, which has the level that their colour says. */
  logNotes(log: (entry: Note) => void): void {
    this.#log = log
  }

  /** With `error`, warnings are not written any more. */
  silenceBelow(level: Note['level']): void {
    this.#hidesWarnings = level === 'error'
  }

  /** One line for nobody but the person at this terminal; false, and nothing written, where none sits there. */
  confide(...pieces: readonly Piece[]): boolean {
    if (!hasPerson(this.#io)) return false
    // Never to a log.
    this.#write(this.#io.stderr, pieces)
    return true
  }

  /** The one JSON value of this command; does nothing without `--json`. */
  value(value: unknown): void {
    if (!this.json || this.#jsonWritten) return
    this.#jsonWritten = true
    this.#io.stdout.write(`${printableJson(value)}\n`)
  }

  /** Says why the command cannot be done, on stderr and as the JSON value; answers the exit code. */
  fail(kind: 'usage' | 'configuration', message: string, hints: readonly string[] = []): 2 {
    this.note(['red', 'error: '], message)
    for (const hint of hints) this.note('  ', hint)
    this.value({ error: { kind, message, ...(hints.length === 0 ? {} : { hints }) } })
    return 2
  }

  /** Every problem of a configuration on a line of its own; answers the exit code. */
  failConfiguration(problems: readonly ConfigProblem[]): 2 {
    for (const problem of problems) this.note(['red', 'error: '], describeProblem(problem))
    this.note(
      `${problems.length === 1 ? 'one problem' : `${problems.length} problems`} in the configuration; nothing was started`,
    )
    this.value({ error: { kind: 'configuration', message: 'the configuration does not hold', problems } })
    return 2
  }

  #write(stream: Stream, pieces: readonly Piece[]): void {
    const colours = this.#colours && stream.isTTY === true
    stream.write(`${pieces.map((piece) => paint(piece, colours)).join('')}\n`)
  }
}

const textOf = (piece: Piece): string => (typeof piece === 'string' ? piece : piece[1])

function levelOf([first]: readonly Piece[]): Note['level'] {
  const style = Array.isArray(first) ? first[0] : undefined
  if (style === 'red') return 'error'
  return style === 'yellow' ? 'warning' : 'info'
}

function paint(piece: Piece, colours: boolean): string {
  if (typeof piece === 'string') return printable(piece)
  const [style, text] = piece
  const [on, off] = STYLES[style]
  return colours ? `\u001b[${on}m${printable(text)}\u001b[${off}m` : printable(text)
}
