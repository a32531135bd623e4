// A child process that is spoken to in lines: its own process group, an environment built from empty, bounded lines and
// a bounded memory of what it complained about. It is never given a shell, and nothing that it prints reaches the
// gate's own output. Ending it ends its whole group.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { CappedLines, type OversizedLine } from '../base/capped-lines.ts'
import type { Clock } from '../base/clock.ts'

/** Bytes of standard error that are kept, the newest. */
const STDERR_BYTES = 64 * 1024
/** Milliseconds between asking to end by a closed input, by SIGTERM and by SIGKILL. */
const GRACE_MS = 1_000
/** Milliseconds in which pipes may still bring what the process said before it ended. */
const DRAIN_MS = 100

/** Taken over from the gate's own environment; everything else has to be given. */
const INHERITED =
  process.platform === 'win32'
    ? ['PATH', 'PATHEXT', 'SYSTEMROOT', 'COMSPEC', 'TEMP', 'TMP', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'LANG']
    : ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR']

export type PipedProcessOptions = {
  readonly command: string
  readonly args: readonly string[]
  /** Joins what is inherited: PATH, HOME, LANG, LC_ALL and TMPDIR. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  readonly lineBytesMax: number
  readonly discardBytesMax: number
  readonly clock: Clock
  readonly onLine: (line: Buffer) => void
  readonly onOversized: (line: OversizedLine) => void
  /** Called once, however it ends; the reason is for the operator. */
  readonly onExit: (reason: string) => void
}

type Child = ChildProcessWithoutNullStreams

/** Thrown by `write` where not a byte has reached the process. */
export class NotRunning extends Error {
  override readonly name = 'NotRunning'
}

/** Groups that are alive, so that none outlives a host that leaves without closing anything. */
const living = new Set<Child>()

export class PipedProcess {
  readonly #options: PipedProcessOptions
  readonly #child: Child
  readonly #exited: Promise<void>
  #stderr = Buffer.alloc(0)
  #over = false
  #reason: string | undefined

  private constructor(options: PipedProcessOptions, child: Child) {
    this.#options = options
    this.#child = child
    this.#exited = this.#watch()
  }

  /** Resolves once the process runs; rejects where it cannot be started. */
  static start(options: PipedProcessOptions): Promise<PipedProcess> {
    return new Promise((resolve, reject) => {
      const child = spawn(options.command, [...options.args], {
        cwd: options.cwd,
        env: { ...inherited(), ...options.env },
        stdio: ['pipe', 'pipe', 'pipe'],
        shell: false,
        windowsHide: true,
        // A group of its own, so that helpers of the server end with it.
        detached: process.platform !== 'win32',
      })
      child.once('error', (error) => reject(new Error(describeSpawnError(options.command, error), { cause: error })))
      child.once('spawn', () => resolve(new PipedProcess(options, child)))
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** The newest 64 KiB of standard error. */
  stderr(): string {
    return this.#stderr.toString('utf8')
  }

  /** Resolves when the text is handed to the pipe and there is room for more; rejects when the process is gone. */
  write(text: string): Promise<void> {
    const { stdin } = this.#child
    if (this.#over || !stdin.writable) return Promise.reject(new NotRunning('the process has ended'))
    if (stdin.write(text)) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const settle = (done: () => void) => (): void => {
        stdin.off('drain', drained)
        stdin.off('close', gone)
        done()
      }
      const drained = settle(resolve)
      const gone = settle(() => reject(new Error('the process has ended')))
      stdin.once('drain', drained)
      stdin.once('close', gone)
    })
  }

  /** Ends the process and its group: input closed, then SIGTERM, then SIGKILL, a second apart. Resolves when it is gone. */
  async close(): Promise<void> {
    this.#reason ??= 'it was closed'
    this.#child.stdin.end()
    if (await this.#goneWithin(GRACE_MS)) return
    signalGroup(this.#child, 'SIGTERM')
    if (await this.#goneWithin(GRACE_MS)) return
    this.kill()
    await this.#goneWithin(GRACE_MS)
  }

  /** Ends the process and its group at once. */
  kill(reason?: string): void {
    this.#reason ??= reason
    signalGroup(this.#child, 'SIGKILL')
  }

  #watch(): Promise<void> {
    const { stdout, stderr, stdin } = this.#child
    const { lineBytesMax, discardBytesMax, onLine, onOversized } = this.#options
    const onEndless = (): void => this.kill(`it sent a line of more than ${lineBytesMax + discardBytesMax} bytes`)
    const lines = new CappedLines({ lineBytesMax, discardBytesMax, onLine, onOversized, onEndless })
    stdout.on('data', (chunk: Buffer) => {
      if (!this.#over) lines.push(chunk)
    })
    stderr.on('data', (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-STDERR_BYTES)
    })
    // A pipe breaks when the process ends; its exit says the rest.
    for (const stream of [stdin, stdout, stderr, this.#child]) stream.on('error', () => {})
    keepTrack(this.#child)
    return new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        const drained = (): void => {
          cancel()
          this.#end(code, signal)
          resolve()
        }
        const cancel = this.#options.clock.after(DRAIN_MS, drained)
        this.#child.once('close', drained)
      })
    })
  }

  #end(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#over) return
    this.#over = true
    // Helpers that the server left behind hold its pipes and would otherwise live on.
    signalGroup(this.#child, 'SIGKILL')
    forget(this.#child)
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy()
    this.#options.onExit(
      this.#reason ?? (signal === null ? `it ended with status ${code}` : `it was ended by ${signal}`),
    )
  }

  #goneWithin(waitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(waitMs, () => resolve(false))
      this.#exited.then(() => {
        cancel()
        resolve(true)
      })
    })
  }
}

function inherited(): Record<string, string> {
  const pairs = INHERITED.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(pairs)
}

function describeSpawnError(command: string, error: Error): string {
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return `\`${command}\` is not on this machine, or its working directory does not exist`
  if (code === 'EACCES') return `\`${command}\` may not be run`
  return `\`${command}\` could not be started: ${error.message}`
}

function signalGroup(child: Child, signal: NodeJS.Signals): void {
  const { pid } = child
  if (pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-pid, signal)
  } catch {
    // Nobody of that group is left.
  }
}

function keepTrack(child: Child): void {
  if (living.size === 0) process.once('exit', endAll)
  living.add(child)
}

function forget(child: Child): void {
  living.delete(child)
  if (living.size === 0) process.off('exit', endAll)
}

function endAll(): void {
  for (const child of living) signalGroup(child, 'SIGKILL')
}
