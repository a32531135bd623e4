// Starts what was prepared: the one place where this room calls `spawn` for commands. The group, the sandbox's arguments and
// what was made on the disk belong to the tree that it returns, and are given back when that tree is let go.

import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../base/clock.ts'
import { ownTree } from './owned-trees.ts'
import type { Launch } from './prepare-launch.ts'

/** Bytes that are read of what a launched process tells of itself. */
const STATUS_BYTES = 16_384

export class LaunchedTree {
  readonly child: ChildProcess
  readonly #launch: Launch
  readonly #disown: () => void
  #status = ''
  #released = false

  /** Throws where the arguments cannot be handed to any process. Whether it starts is told by the child's events. */
  constructor(launch: Launch, cwd: string | undefined, stdin: 'pipe' | 'ignore') {
    this.#launch = launch
    const extra =
      launch.status === 'none' ? [] : launch.status === 'joins' ? ['pipe' as const] : ['pipe' as const, 'pipe' as const]
    try {
      this.child = spawn(launch.file, [...launch.args], {
        ...(cwd !== undefined && { cwd }),
        env: { ...launch.env },
        stdio: [stdin, 'pipe', 'pipe', ...extra],
        shell: false,
        windowsHide: true,
        // A group of its own, so that one signal reaches whoever stays in it.
        detached: process.platform !== 'win32',
        ...(launch.argv0 !== undefined && { argv0: launch.argv0 }),
      })
    } catch (error) {
      launch.group?.removeNow()
      launch.held.giveBackNow()
      throw error
    }
    this.#disown = ownTree({ endNow: () => this.#endNow() })
    this.#speak()
  }

  /** Whether the command itself was reached: undefined where nobody tells. */
  get reached(): boolean | undefined {
    if (this.#launch.status === 'joins') return !this.#status.includes('unjoined')
    // bubblewrap tells an exit code only of a command that it really started.
    return this.#launch.status === 'sandbox' ? this.#status.includes('"exit-code"') : undefined
  }

  /** Asks the tree to end. */
  ask(signal: NodeJS.Signals): void {
    // The group of bubblewrap holds itself alone; the command has one of its own inside.
    const inner = this.#innerPid()
    if (inner !== undefined && signalTo(-inner, signal)) return
    this.#signalGroup(signal)
  }

  /** Ends all of it at once: the namespace by its first process, the control group, the process group. */
  kill(): void {
    const inner = this.#innerPid()
    if (inner !== undefined) signalTo(inner, 'SIGKILL')
    this.#launch.group?.kill()
    this.#signalGroup('SIGKILL')
  }

  /** To be called when the process has ended: ends what it left behind, and gives everything back. Resolves when the disk is clear. */
  async letGo(clock: Clock): Promise<void> {
    if (this.#released) return
    this.#released = true
    this.#launch.group?.kill()
    if (this.child.pid !== undefined) this.#signalGroup('SIGKILL')
    for (const stream of this.child.stdio) stream?.destroy()
    const groupGone = new Promise<void>((resolve) => {
      if (this.#launch.group === undefined) resolve()
      else this.#launch.group.remove(clock, resolve)
    })
    const diskClear = this.#launch.held.giveBack().catch(() => {})
    // A host that leaves before all of it is gone takes the rest along.
    void Promise.all([groupGone, diskClear]).then(this.#disown)
    await diskClear
  }

  #speak(): void {
    const [, , , status, sandbox] = this.child.stdio
    for (const stream of [...this.child.stdio, this.child]) stream?.on('error', () => {})
    ;(status as Readable | undefined)?.on('data', (chunk: Buffer) => {
      if (this.#status.length < STATUS_BYTES) this.#status += chunk.toString('latin1')
    })
    ;(sandbox as Writable | undefined)?.end(this.#launch.sandboxArguments)
  }

  #innerPid(): number | undefined {
    const [, pid] = /"child-pid": ?([1-9]\d*)/.exec(this.#status) ?? []
    // Once it has told an exit code its first process is gone, and the number may be somebody else's.
    return pid === undefined || this.#status.includes('"exit-code"') ? undefined : Number(pid)
  }

  #signalGroup(signal: NodeJS.Signals): void {
    const { pid } = this.child
    if (pid === undefined) return
    if (process.platform === 'win32') this.child.kill(signal)
    else signalTo(-pid, signal)
  }

  #endNow(): void {
    this.kill()
    this.#launch.held.giveBackNow()
    this.#launch.group?.removeNow()
  }
}

/** False where nobody is there. */
function signalTo(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}
