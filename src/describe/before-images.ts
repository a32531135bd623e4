// What a file was before a call changed it, so that the change can be undone. Kept outside every tool's reach.

import type { Principal } from './caller.ts'

/** One file as it stood before and after a change. Paths are canonical and absolute. */
export type FileImage = {
  readonly path: string
  /** The bytes before; undefined where the file did not exist. */
  readonly before: Uint8Array | undefined
  /** SHA-256 (hex) of what the change leaves; undefined where the file is gone after it. */
  readonly afterHash: string | undefined
  /** Permission bits before. */
  readonly mode?: number
}

export type FileChange = {
  readonly callId: string
  readonly principal: Principal
  readonly at: number
  readonly tool: string
  readonly files: readonly FileImage[]
}

/** Bounded: the oldest changes go first once the bound on bytes is reached. */
export interface BeforeImages {
  /** Keeps one change; resolves when it is kept. A change that cannot be kept rejects, and the file is not touched. */
  keep(change: FileChange): Promise<void>
  /** The change of one call; undefined where none is kept. The asker compares the principal. */
  find(callId: string): Promise<FileChange | undefined>
}
