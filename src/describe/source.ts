// Where tools come from. The life of a source, as the gate drives it:
// 1. `start` is called once, not awaited by other sources, and given a bounded time.
// 2. The source offers its tools through the host, all at once; offering again replaces them all in one step.
// 3. It reports each change of its state; a failure takes nothing else down.
// 4. `close` is called once; it ends whatever the source started, and resolves.

import type { Clock } from '../base/clock.ts'
import type { MachineAbilities } from '../machine/abilities.ts'
import type { BeforeImages } from './before-images.ts'
import type { Layer } from './layer.ts'
import type { Redactor } from './redactor.ts'
import type { Tool } from './tool.ts'
import type { Workspace } from './workspace.ts'

export type SourceState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'closed' }

/** A tool on offer. `family`: several tools of a source that belong together, such as `files`. `problem`: it is known, and cannot be called for this reason. */
export type OfferedTool =
  | { readonly kind: 'tool'; readonly tool: Tool; readonly family?: string }
  | { readonly kind: 'problem'; readonly name: string; readonly problem: string }

export interface SourceHost {
  readonly workspace: Workspace
  readonly images: BeforeImages
  readonly clock: Clock
  /** For what a source keeps or passes on outside of a result: output of jobs, lines for the log. */
  readonly redactor: Redactor
  /** What this machine can do to keep a command in its bounds; found out once. */
  machine(): Promise<MachineAbilities>
  /** Replaces all tools of this source in one step. */
  offer(tools: readonly OfferedTool[]): void
  report(state: SourceState): void
  log(message: string, details?: Readonly<Record<string, unknown>>): void
}

/** Where it does not hold, the tools are not found, as if there were none. */
export type Activation = {
  /** The caller has one of these roles. */
  readonly roles?: readonly string[]
  /** Every root of the workspace is looked at: one of them holds one of these, each a relative path such as `.git`. */
  readonly workspace?: readonly string[]
}

export interface Source {
  /** `[A-Za-z0-9_-]{1,32}`, unique in a gate. */
  readonly name: string
  readonly layer: Layer
  /** Text that belongs into the fingerprint of each of its tools: launch command or address. */
  readonly identity: string
  /** Settings that it hands on, such as headers and variables: what of them is secret is taken out of all results. */
  readonly handed?: readonly { readonly name: string; readonly value: string }[]
  /** True where schemas and texts come from someone whom the operator does not control. */
  readonly foreign: boolean
  /** When its tools are there at all; absent: always. All keys must hold. */
  readonly activation?: Activation
  start(host: SourceHost): Promise<void>
  close(): Promise<void>
}
