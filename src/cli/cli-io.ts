// What a command may touch of the process it runs in. Tests hand in their own; nothing below `main` reads `process`.

import type { Readable, Writable } from 'node:stream'
import type { Variables } from './locations.ts'

export type CliIo = {
  /** What stands after `lockgate`. */
  readonly argv: readonly string[]
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean }
  readonly stderr: Writable & { readonly isTTY?: boolean }
  readonly variables: Variables
  readonly cwd: string
  /** Aborts when the operator asks for an end. */
  readonly signal: AbortSignal
  /** False while another job has the terminal, so that reading from it would stop this process. Absent: true. */
  readonly isForeground?: () => boolean
  /** Calls back each time that the operator asks for the configuration to be read again; the answer ends that. */
  readonly onReload?: (again: () => void) => () => void
}

/** 0 done, 1 the call or check ended in an error outcome or finding, 2 usage or configuration. */
export type ExitCode = 0 | 1 | 2
