// The source of the built-in tool families. A family is offered for the workspace of the gate that starts the source; nothing
// is opened before that.

import { GateConfigError } from '../../describe/gate-config-error.ts'
import type { Source, SourceHost } from '../../describe/source.ts'
import type { Tool } from '../../describe/tool.ts'
import type { Platform } from '../../machine/rooted-path.ts'

export const BUILTIN_FAMILIES = ['files'] as const
export type BuiltinFamily = (typeof BUILTIN_FAMILIES)[number]

export type BuiltinOptions = {
  /** Judge names of files as this platform does; the one that runs where it is left out. */
  readonly platform?: Platform
}

/**
 * The built-in tools of these families.
 *
 * @throws GateConfigError for a family that does not exist.
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
  return {
    name: 'builtin',
    layer: 'builtin',
    identity: 'builtin',
    foreign: false,
    start: async (host) => offer(families, options, host),
    close: async () => {},
  }
}

async function offer(
  families: readonly BuiltinFamily[],
  { platform }: BuiltinOptions,
  host: SourceHost,
): Promise<void> {
  try {
    if (host.workspace.roots.size === 0) throw new Error('file tools need a workspace, and this gate has none')
    const tools = families.includes('files') ? await filesFamily(host, platform) : []
    host.offer(tools.map((tool) => ({ kind: 'tool', tool })))
    host.report({ kind: 'ready' })
  } catch (error) {
    // A root that is gone: known when the workspace was read, so the operator hears of it here.
    host.offer([])
    host.report({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
}

/** Loaded when a gate asks for it: whoever imports the library for tools of their own does not pay for these. */
async function filesFamily(host: SourceHost, platform: Platform | undefined): Promise<readonly Tool[]> {
  const [{ FilePlace }, { fileTools }] = await Promise.all([
    import('./files/file-place.ts'),
    import('./files/file-tools.ts'),
  ])
  return fileTools(new FilePlace(host.workspace, host.images, platform))
}
