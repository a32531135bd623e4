// From a configuration to what `createGate` takes. Nothing is decided and nothing is started here; code of sources that the
// configuration does not name is not loaded.

import type { Source } from '../../describe/source.ts'
import type { GateOptions, LogEntry } from '../../gate-contract.ts'
import type { LockgateConfig, SourceConfig } from './lockgate-config.ts'
import { mcpOptionsOf } from './mcp-options-of.ts'

export type GateOptionsParts = {
  readonly config: LockgateConfig
  /** The database file; undefined keeps everything in memory. */
  readonly database: string | undefined
  readonly ownFiles: readonly string[]
  readonly log: (entry: LogEntry) => void
  /** Which of the sources to start; all of them where it is not given. */
  readonly starts?: (source: SourceConfig) => boolean
}

export async function gateOptionsOf({
  config,
  database,
  ownFiles,
  log,
  starts = () => true,
}: GateOptionsParts): Promise<GateOptions> {
  const { workspace, policy, approvals, limits } = config
  const sources = await Promise.all(config.sources.filter(starts).map(sourceOf))
  return {
    ...(Object.keys(workspace).length === 0 ? {} : { workspace }),
    sources: [...(await builtinSources(config)), ...sources],
    store: database === undefined ? 'memory' : { sqlite: database },
    ...{ policy, approvals, limits, ownFiles, log },
  }
}

async function builtinSources({ tools }: LockgateConfig): Promise<readonly Source[]> {
  if (!tools.files) return []
  const { builtinTools } = await import('../../sources/builtin/builtin-tools.ts')
  return [builtinTools(['files'])]
}

async function sourceOf(source: SourceConfig): Promise<Source> {
  if (source.kind === 'module') {
    const { moduleSource } = await import('./module-source.ts')
    return moduleSource({ name: source.name, file: source.file, digest: source.digest })
  }
  const { mcpSource } = await import('../../sources/mcp/mcp-source.ts')
  return mcpSource(source.name, mcpOptionsOf(source))
}
