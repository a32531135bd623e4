// Runs one command of `lockgate` in this process, as `main` would, with streams of its own.

import { Readable, Writable } from 'node:stream'
import { runCli } from '../src/cli/run-cli.ts'

export type RunOptions = {
  readonly cwd: string
  /** The environment; nothing of the test's own is passed on. */
  readonly variables?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** In place of `stdin`: a stream that the test holds open. */
  readonly input?: Readable
  readonly signal?: AbortSignal
  readonly terminal?: boolean
  /** Told of everything that is printed on stdout so far, each time that something is. */
  readonly onStdout?: (text: string) => void
  /** The same of stderr. */
  readonly onStderr?: (text: string) => void
  /** As `CliIo` has them. */
  readonly isForeground?: () => boolean
  readonly onReload?: (again: () => void) => () => void
}

export type Run = { readonly code: number; readonly stdout: string; readonly stderr: string }

export async function runLockgate(
  argv: readonly string[],
  {
    cwd,
    variables = {},
    stdin = '',
    input,
    signal,
    terminal = false,
    onStdout,
    onStderr,
    isForeground,
    onReload,
  }: RunOptions,
): Promise<Run> {
  const stdout = collect(terminal, onStdout)
  const stderr = collect(terminal, onStderr)
  const io = {
    argv,
    stdin: input ?? Readable.from([stdin]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    variables,
    cwd,
    signal: signal ?? new AbortController().signal,
    ...(isForeground === undefined ? {} : { isForeground }),
    ...(onReload === undefined ? {} : { onReload }),
  }
  const code = await runCli(io)
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

function collect(isTTY: boolean, onText: (text: string) => void = () => {}) {
  let text = ''
  const stream = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk)
        onText(text)
        done()
      },
    }),
    { isTTY },
  )
  return { stream, text: () => text }
}
