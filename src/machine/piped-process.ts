// A child process that is spoken to in lines: its own process group, an environment built from empty, bounded lines and
// a bounded memory of what it complained about. It is never given a shell, and nothing that it prints reaches the
// gate's own output. Ending it ends its whole group.

import type { ChildProcess } from 'node:child_process'
import { isAbsolute, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { CappedLines, type OversizedLine } from '../base/capped-lines.ts'
import type { Clock } from '../base/clock.ts'
import type { MachineAbilities, ProcessLimit } from './abilities.ts'
import { findProgram } from './find-program.ts'
import { LaunchedTree } from './launched-tree.ts'
import { leavingPlaceholders } from './placeholders.ts'
import { type Launch, type LaunchPlan, NOTHING_HELD, prepareLaunch, type Unlaunchable } from './prepare-launch.ts'
import type { SandboxPlan } from './process-plan.ts'

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
  /** Absent: none but those of the gate itself. */
  readonly bounds?: ProcessBounds
  readonly lineBytesMax: number
  readonly discardBytesMax: number
  readonly clock: Clock
  readonly onLine: (line: Buffer) => void
  readonly onOversized: (line: OversizedLine) => void
  /** Called once, however it ends; the reason is for the operator. `hits`: the bounds that it ran into. */
  readonly onExit: (reason: string, hits: readonly ProcessLimit[]) => void
}

/** What keeps a process, for as long as it lives. `sandbox` absent: none; where the machine has none, it does not start. */
export type ProcessBounds = {
  readonly limits: LaunchPlan['limits']
  readonly sandbox?: SandboxPlan
  readonly abilities: MachineAbilities
}

type Streams = { readonly stdin: Writable; readonly stdout: Readable; readonly stderr: Readable }

/** Thrown by `write` where not a byte has reached the process. */
export class NotRunning extends Error {
  override readonly name = 'NotRunning'
}

export class PipedProcess {
  /** Bounds that were asked for and that this machine cannot keep. */
  readonly unenforced: readonly ProcessLimit[]
  readonly #options: PipedProcessOptions
  readonly #tree: LaunchedTree
  readonly #launch: Launch
  readonly #streams: Streams
  readonly #exited: Promise<void>
  #stderr = Buffer.alloc(0)
  #over = false
  #reason: string | undefined

  private constructor(options: PipedProcessOptions, launch: Launch, tree: LaunchedTree, streams: Streams) {
    this.#options = options
    this.#launch = launch
    this.#tree = tree
    this.#streams = streams
    this.unenforced = launch.unenforced
    this.#exited = this.#watch()
  }

  /** Resolves once the process runs; rejects where it cannot be started. */
  static async start(options: PipedProcessOptions): Promise<PipedProcess> {
    while (options.bounds?.sandbox !== undefined && leavingPlaceholders() !== undefined) await leavingPlaceholders()
    const launch = launchOf(options)
    if (launch.kind === 'unstarted') throw new Error(launch.reason)
    const tree = new LaunchedTree(launch, options.cwd, 'pipe')
    const { child } = tree
    try {
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve)
        child.once('error', (error) => reject(new Error(describeSpawnError(options.command, error), { cause: error })))
      })
    } catch (error) {
      await tree.letGo(options.clock)
      throw error
    }
    return new PipedProcess(options, launch, tree, streamsOf(child))
  }

  get pid(): number | undefined {
    return this.#tree.child.pid
  }

  /** The newest 64 KiB of standard error. */
  stderr(): string {
    return this.#stderr.toString('utf8')
  }

  /** Resolves when the text is handed to the pipe and there is room for more; rejects when the process is gone. */
  write(text: string): Promise<void> {
    const { stdin } = this.#streams
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
    this.#streams.stdin.end()
    if (await this.#goneWithin(GRACE_MS)) return
    this.#tree.ask('SIGTERM')
    if (await this.#goneWithin(GRACE_MS)) return
    this.kill()
    await this.#goneWithin(GRACE_MS)
  }

  /** Ends the process and its group at once. */
  kill(reason?: string): void {
    this.#reason ??= reason
    this.#tree.kill()
  }

  #watch(): Promise<void> {
    const { stdout, stderr } = this.#streams
    const { child } = this.#tree
    const { lineBytesMax, discardBytesMax, onLine, onOversized } = this.#options
    const onEndless = (): void => this.kill(`it sent a line of more than ${lineBytesMax + discardBytesMax} bytes`)
    const lines = new CappedLines({ lineBytesMax, discardBytesMax, onLine, onOversized, onEndless })
    stdout.on('data', (chunk: Buffer) => {
      if (!this.#over) lines.push(chunk)
    })
    stderr.on('data', (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-STDERR_BYTES)
    })
    return new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        const drained = (): void => {
          cancel()
          this.#end(code, signal)
          resolve()
        }
        const cancel = this.#options.clock.after(DRAIN_MS, drained)
        child.once('close', drained)
      })
    })
  }

  #end(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#over) return
    this.#over = true
    const hits = this.#launch.group?.hits() ?? []
    const reason = this.#reason ?? this.#endReason(code, signal, hits)
    // Helpers that the server left behind hold its pipes and would otherwise live on.
    this.#tree.letGo(this.#options.clock)
    this.#options.onExit(reason, hits)
  }

  #endReason(code: number | null, signal: NodeJS.Signals | null, hits: readonly ProcessLimit[]): string {
    if (this.#tree.reached === false) return `it could not be started: ${this.#stderr.toString('utf8').split('\n')[0]}`
    const ended = signal === null ? `it ended with status ${code}` : `it was ended by ${signal}`
    return hits.length === 0 ? ended : `${ended}, at its limit of ${hits.join(' and ')}`
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

function launchOf({ command, args, env, cwd, bounds }: PipedProcessOptions): Launch | Unlaunchable {
  const whole = { ...inherited(), ...env }
  if (bounds === undefined) {
    const shared = { status: 'none', group: undefined, unenforced: [], held: NOTHING_HELD } as const
    return { kind: 'ready', file: command, args, env: whole, ...shared }
  }
  const { limits, sandbox, abilities } = bounds
  const folder = resolve(cwd ?? '.')
  const program = isAbsolute(command) ? command : findProgram(command, { path: whole.PATH ?? '', cwd: folder })
  if (program === undefined)
    return { kind: 'unstarted', why: 'missing', reason: `\`${command}\` is not on this machine` }
  const plan = { program, args, cwd: folder, env: whole, limits, ...(sandbox !== undefined && { sandbox }) }
  return prepareLaunch(plan, abilities)
}

function streamsOf({ stdin, stdout, stderr }: ChildProcess): Streams {
  if (stdin === null || stdout === null || stderr === null) throw new Error('a process was started without its pipes')
  return { stdin, stdout, stderr }
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
