// What an operator says about commands: which programs, in which bounds, and the narrow commands of their own. Only shapes;
// `read-shell-options.ts` and `read-narrow-command.ts` check them before anything starts.

import type { Effect } from '../../../describe/effect.ts'
import type { ProcessLimit, SandboxMode } from '../../../machine/abilities.ts'
import type { ProgramsOption } from './program-grammar.ts'

/** Bounds of one command and of everything that it starts. */
export type CommandLimits = Partial<Readonly<Record<ProcessLimit, number>>> & {
  /** Bytes of standard output, and of standard error, that are kept: head and tail. 1 KiB to 8 MiB; default 1 MiB. */
  readonly outputBytes?: number
}

/** Commands that go on after their call. */
export type JobOptions = {
  /** Jobs of one session that may run at the same time, 0 to 100; default 4. */
  readonly perSession?: number
  /** Jobs of the whole gate that may run at the same time, 0 to 1,000; default 32. */
  readonly perGate?: number
  /** Milliseconds that a job may take, up to a day; default 30 minutes. */
  readonly deadlineMs?: number
  /** Milliseconds without a call about it after which a job is ended, up to a day; default 15 minutes. */
  readonly idleMs?: number
}

export type ShellOptions = {
  /** Default: `inspect`, every shipped grammar that only reads. */
  readonly programs?: ProgramsOption
  /** Default: `preferred`. */
  readonly sandbox?: SandboxMode
  /** Whether programs reach the network from inside the sandbox. Default: false; programs that only read never do. */
  readonly network?: boolean
  /** Milliseconds that a command in the foreground may take, up to 10 minutes; default 60 s. A call's `timeoutMs` can only be shorter. */
  readonly deadlineMs?: number
  readonly limits?: CommandLimits
  readonly jobs?: JobOptions
  /**
   * Further folders to find programs in, absolute, after `/usr/local/bin`, `/usr/bin` and `/bin`. They have to lie outside the workspace,
   * and nobody but root and the user that the gate runs as may be able to change them.
   */
  readonly folders?: readonly string[]
}

/** What one placeholder may become: always a part of one single argument. */
export type NarrowInput = {
  readonly description?: string
  /** Where it is not given, the arguments that hold it are left out. */
  readonly optional?: boolean
} & (
  | { readonly path: true }
  /** One line of up to 1,000 characters that fits the whole of a linear-time pattern. A leading `-` only where `flag` is true. */
  | { readonly text: true; readonly pattern?: string; readonly flag?: boolean }
  /** Exactly these. What is written here may be a flag. */
  | { readonly oneOf: readonly string[] }
  /** A whole number. */
  | { readonly number: true; readonly min?: number; readonly max?: number }
)

/** A tool of its own: one program, an argument template, an effect. */
export type NarrowCommandOptions = {
  /** Bare name. */
  readonly program: string
  /** `{name}` stands for an input; `{{` and `}}` for braces. Each text becomes one argument, whatever the input holds. */
  readonly args: readonly string[]
  readonly inputs?: Readonly<Record<string, NarrowInput>>
  /** `read` runs with the workspace read-only. */
  readonly effect: Effect
  readonly description?: string
  /** Milliseconds, up to a day; default 60 s. The gate's own deadline holds where it is shorter. */
  readonly deadlineMs?: number
  /** Default: as of the shell tools, else `preferred`. */
  readonly sandbox?: SandboxMode
  /** Whether it reaches the network from inside the sandbox. Default: only where the effect is `external`. */
  readonly network?: boolean
  readonly limits?: CommandLimits
  /** Exit codes besides 0 that are answers and no failures. */
  readonly benign?: readonly number[]
  /**
   * Whether it runs code that the workspace holds, as test runners do: then only in a sandbox, or with an approval. Default: true
   * where the effect is more than `read`.
   */
  readonly runsWorkspaceCode?: boolean
}
