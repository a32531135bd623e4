// One command, decided in every part before anything starts: which program, with what, where, inside which bounds. There
// is no shell and nothing is inherited: what is not named here is not there.

import type { ProcessLimit } from './abilities.ts'

export type ProcessLimits = Partial<Readonly<Record<ProcessLimit, number>>> & {
  /** Bytes of standard output, and of standard error, that are kept: the head and the tail. A command that prints `floodBytes` is ended. */
  readonly outputBytes: number
  readonly floodBytes?: number
}

/** Absolute real paths. What is not named is not there. */
export type SandboxPlan = {
  /** Shown as they are, and not to be changed. */
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Below what is writable: not to be changed, or made where it is absent. */
  readonly frozen: readonly string[]
  /** Files and folders below all these that are not shown: an empty file or folder stands there. */
  readonly masked: readonly string[]
  readonly network: boolean
}

export type ProcessPlan = {
  /** Absolute. */
  readonly program: string
  /** What the program is told that it was called as. */
  readonly name?: string
  readonly args: readonly string[]
  readonly cwd: string
  /** All of it. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: string | Uint8Array
  readonly limits: ProcessLimits
  /** Absent: none. The machine has to have one. */
  readonly sandbox?: SandboxPlan
  /** Ends the command and everything that it started. */
  readonly signal: AbortSignal
  /** Milliseconds without any output after which it is ended. */
  readonly idleMs?: number
  /** Told of output as it comes, at most a few times a second; the newest part of it. */
  readonly onOutput?: (output: { readonly stream: 'stdout' | 'stderr'; readonly bytes: Buffer }) => void
  /** Told of every piece of output, before anything is cut. Must not throw. */
  readonly onBytes?: (stream: 'stdout' | 'stderr', bytes: Buffer) => void
}

/** Head and tail of what one stream said. */
export type CapturedOutput = {
  readonly head: Buffer
  /** Empty where nothing was cut. */
  readonly tail: Buffer
  readonly totalBytes: number
}

export type ProcessEnd =
  /** Nothing ran. `missing`: no such program, folder or sandbox; `refused`: the machine does not let it start. */
  | { readonly kind: 'unstarted'; readonly why: 'missing' | 'refused'; readonly reason: string }
  | {
      readonly kind: 'ended'
      /** Null where a signal ended it. */
      readonly exitCode: number | null
      readonly endSignal: string | null
      /** Why the runner ended it, where it did. */
      readonly stopped?: 'aborted' | 'idle' | 'flood' | 'limit'
      /** The bounds that it ran into. */
      readonly limitsHit: readonly (ProcessLimit | 'outputBytes')[]
      /** Bounds that were asked for and that this machine cannot keep. */
      readonly unenforced: readonly ProcessLimit[]
      readonly stdout: CapturedOutput
      readonly stderr: CapturedOutput
      readonly elapsedMs: number
      /** Something still held its pipes when it had ended, and was ended too. */
      readonly leftovers: boolean
    }
