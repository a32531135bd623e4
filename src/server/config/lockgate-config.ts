// What a configuration file says, checked and with every path resolved. Only shapes.

import type { PolicyOptions } from '../../authorize/policy-options.ts'
import type { Caller } from '../../describe/caller.ts'
import type { DeclaredEffect } from '../../describe/effect.ts'
import type { ConfigFile } from './config-file.ts'

type Governed = {
  readonly name: string
  /** The source's own tool names, or globs over them → what they may do. */
  readonly effects: Readonly<Record<string, DeclaredEffect>>
  readonly trustAnnotations: boolean
  readonly deadlineMs?: number
}

export type SourceConfig =
  | (Governed & {
      readonly kind: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
      /** Absolute. */
      readonly cwd: string
    })
  | (Governed & { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> })
  | {
      readonly kind: 'module'
      readonly name: string
      /** Absolute. */
      readonly file: string
      /** Of its bytes. */
      readonly digest: string
    }

export type LockgateConfig = {
  /** The configuration file, without links. */
  readonly file: string
  /** Root folders by name, absolute; empty where the file names none. */
  readonly workspace: Readonly<Record<string, string>>
  readonly store:
    | { readonly kind: 'state' }
    | { readonly kind: 'memory' }
    | { readonly kind: 'sqlite'; readonly file: string }
  readonly tools: { readonly files: boolean }
  readonly sources: readonly SourceConfig[]
  readonly caller: Partial<Caller>
  readonly policy: PolicyOptions
  readonly approvals: { readonly expiresMs?: number }
  readonly limits: { readonly resultBytes?: number; readonly deadlineMs?: number; readonly argumentBytes?: number }
  readonly listen: { readonly host: string; readonly port: number }
  /** The file itself and every file that it refers to, with the digest of what was read: what `trust` records. */
  readonly files: readonly ConfigFile[]
  /** What no tool may reach: those files, under every name that is known for them, and a database beside them. */
  readonly ownFiles: readonly string[]
}
