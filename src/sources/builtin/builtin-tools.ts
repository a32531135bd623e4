// The source of the built-in tool families. A family is offered for the workspace of the gate that starts the source; nothing
// is opened before that.

import { GateConfigError } from '../../describe/gate-config-error.ts'
import type { OfferedTool, Source, SourceHost } from '../../describe/source.ts'
import type { Tool } from '../../describe/tool.ts'
import type { Platform } from '../../machine/rooted-path.ts'
import type { FilePlace } from './files/file-place.ts'
import { planShell, type ShellPlan } from './shell/plan-shell.ts'
import type { NarrowCommandOptions, ShellOptions } from './shell/shell-options.ts'

const BUILTIN_FAMILIES = ['files', 'shell'] as const
export type BuiltinFamily = (typeof BUILTIN_FAMILIES)[number]

export type BuiltinOptions = {
  /** Of the family `shell`. */
  readonly shell?: ShellOptions
  /** Narrow commands of the operator's own, by the name of the tool. */
  readonly commands?: Readonly<Record<string, NarrowCommandOptions>>
  /** Judge names of files as this platform does; the one that runs where it is left out. */
  readonly platform?: Platform
}

/**
 * The built-in tools of these families, and the operator's narrow commands.
 *
 * @throws GateConfigError for a family that does not exist and for options that do not hold.
 */
export function builtinTools(families: readonly BuiltinFamily[], options: BuiltinOptions = {}): Source {
  const unknown = families.filter((family) => !BUILTIN_FAMILIES.includes(family))
  if (unknown.length > 0)
    throw new GateConfigError(
      unknown.map((family) => ({
        key: 'tools',
        message: `there is no built-in family \`${String(family)}\`; known: ${BUILTIN_FAMILIES.join(', ')}`,
      })),
    )
  const { shell, commands, platform } = options
  const isOffered = families.includes('shell')
  const plan = isOffered || commands !== undefined ? planShell(isOffered, shell, commands) : undefined
  let close = async (): Promise<void> => {}
  return {
    name: 'builtin',
    layer: 'builtin',
    identity: 'builtin',
    foreign: false,
    start: async (host) => {
      close = await offer({ files: families.includes('files'), platform, plan }, host)
    },
    close: () => close(),
  }
}

type Offer = {
  readonly files: boolean
  readonly platform: Platform | undefined
  readonly plan: ShellPlan | undefined
}

/** The answer ends what was started. */
async function offer({ files, platform, plan }: Offer, host: SourceHost): Promise<() => Promise<void>> {
  try {
    if (host.workspace.roots.size === 0) throw new Error('the built-in tools need a workspace, and this gate has none')
    const { FilePlace: Place } = await import('./files/file-place.ts')
    const place = new Place(host.workspace, host.images, platform)
    const shell =
      plan === undefined ? undefined : (await import('./shell/shell-tools.ts')).shellTools(plan, place, host)
    host.offer([...offered('files', files ? await filesFamily(place) : []), ...offered('shell', shell?.tools ?? [])])
    host.report({ kind: 'ready' })
    return () => shell?.close() ?? Promise.resolve()
  } catch (error) {
    // A root that is gone: known when the workspace was read, so the operator hears of it here.
    host.offer([])
    host.report({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
    return async () => {}
  }
}

const offered = (family: BuiltinFamily, tools: readonly Tool[]): readonly OfferedTool[] =>
  tools.map((tool) => ({ kind: 'tool', tool, family }))

/** Loaded when a gate asks for it: whoever imports the library for tools of their own does not pay for these. */
async function filesFamily(place: FilePlace): Promise<readonly Tool[]> {
  const { fileTools } = await import('./files/file-tools.ts')
  return fileTools(place)
}
