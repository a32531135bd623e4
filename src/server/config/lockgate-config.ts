// What a configuration file says, checked and with every path resolved. Only shapes.

import type { PolicyOptions } from '../../authorize/policy-options.ts'
import type { Caller } from '../../describe/caller.ts'
import type { DeclaredEffect } from '../../describe/effect.ts'
import type { Activation } from '../../describe/source.ts'
import type { ApprovalsOptions, GateOptions } from '../../gate-contract.ts'
import type { StdioUpstream } from '../../sources/mcp/mcp-options.ts'
import type { ConfigFile } from './config-file.ts'
import type { LogOptions } from './observe-shape.ts'
import type { ToolsOptions } from './tools-shape.ts'

type Governed = {
  readonly name: string
  /** The source's own tool names, or globs over them → what they may do. */
  readonly effects: Readonly<Record<string, DeclaredEffect>>
  readonly trustAnnotations: boolean
  readonly deadlineMs?: number
  readonly idleMs?: number
  readonly activation?: Activation
}

/**
 * Where a person may answer: at the terminal of `serve`, in the console with its API, and through the client of
 * `serve --stdio`.
 */
export type ApprovalChannel = 'terminal' | 'console' | 'elicitation'

export type SourceConfig =
  | (Governed & {
      readonly kind: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
      /** Absolute. */
      readonly cwd: string
      /** Of `readable` and `writable` the paths are absolute. */
      readonly bounds: Pick<StdioUpstream, 'sandbox' | 'readable' | 'writable' | 'network' | 'limits'>
    })
  | (Governed & { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> })
  | {
      readonly kind: 'module'
      readonly name: string
      /** Absolute. */
      readonly file: string
      /** Of its bytes. */
      readonly digest: string
      readonly activation?: Activation
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
  readonly tools: ToolsOptions
  /** Further guards around the tools of sources. */
  readonly guards: NonNullable<GateOptions['guards']>
  readonly sources: readonly SourceConfig[]
  readonly caller: Partial<Caller>
  readonly policy: PolicyOptions
  readonly approvals: Pick<ApprovalsOptions, 'expiresMs' | 'holdMs' | 'grantMs' | 'proof'> & {
    readonly channels?: readonly ApprovalChannel[]
  }
  readonly limits: NonNullable<GateOptions['limits']>
  readonly artifacts?: NonNullable<GateOptions['artifacts']>
  readonly redaction?: NonNullable<GateOptions['redaction']>
  /** Of files the paths are absolute. */
  readonly audit: NonNullable<GateOptions['audit']>
  readonly telemetry: boolean
  readonly log: LogOptions
  readonly listen: { readonly host: string; readonly port: number }
  /** Names under which clients may come, besides those that follow from `listen`. */
  readonly names: readonly string[]
  /** The file itself and every file that it refers to, with the digest of what was read: what `trust` records. */
  readonly files: readonly ConfigFile[]
  /** The rule file of each workspace root that has one and that nothing refers to: what `trust` records besides. */
  readonly projectFiles: readonly ConfigFile[]
  /** Every file that has a part in the policy, whether or not it is there now. */
  readonly policyPaths: readonly string[]
  /** What no tool may reach: those files, under every name that is known for them, and a database beside them. */
  readonly ownFiles: readonly string[]
}
