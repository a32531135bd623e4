// From a configuration to what `createGate` takes. Nothing is decided and nothing is started here; code of sources that the
// configuration does not name is not loaded.

import type { Activation, Source } from '../../describe/source.ts'
import type { ApprovalsOptions, GateOptions, LogEntry } from '../../gate-contract.ts'
import type { LockgateConfig, SourceConfig } from './lockgate-config.ts'
import { mcpOptionsOf } from './mcp-options-of.ts'
import { builtinOptionsOf, familiesOf, hasBuiltin } from './tools-shape.ts'

export type GateOptionsParts = {
  readonly config: LockgateConfig
  /** The database file; undefined keeps everything in memory. */
  readonly database: string | undefined
  readonly ownFiles: readonly string[]
  readonly log: (entry: LogEntry) => void
  /** Shows a one-time code to the person at this terminal. */
  readonly showCode?: ApprovalsOptions['showCode']
  /** Which of the sources to start; all of them where it is not given. */
  readonly starts?: (source: SourceConfig) => boolean
}

export async function gateOptionsOf({
  config,
  database,
  ownFiles,
  log,
  showCode,
  starts = () => true,
}: GateOptionsParts): Promise<GateOptions> {
  const { guards, workspace, policy, limits, artifacts, redaction, audit, telemetry } = config
  const { channels, ...approvals } = config.approvals
  const sources = await Promise.all(config.sources.filter(starts).map(sourceOf))
  return {
    ...(Object.keys(workspace).length === 0 ? {} : { workspace }),
    sources: [...(await builtinSources(config)), ...sources],
    store: database === undefined ? 'memory' : { sqlite: database },
    ...{ policy, limits, ownFiles, log, audit, telemetry },
    ...(artifacts === undefined ? {} : { artifacts }),
    ...(redaction === undefined ? {} : { redaction }),
    ...(guards.length === 0 ? {} : { guards }),
    approvals: showCode === undefined ? approvals : { ...approvals, showCode },
  }
}

async function builtinSources({ tools }: LockgateConfig): Promise<readonly Source[]> {
  if (!hasBuiltin(tools)) return []
  const { builtinTools } = await import('../../sources/builtin/builtin-tools.ts')
  return [builtinTools(familiesOf(tools), builtinOptionsOf(tools))]
}

async function sourceOf(source: SourceConfig): Promise<Source> {
  if (source.kind === 'module') {
    const { moduleSource } = await import('./module-source.ts')
    return activated(moduleSource({ name: source.name, file: source.file, digest: source.digest }), source.activation)
  }
  const { mcpSource } = await import('../../sources/mcp/mcp-source.ts')
  return activated(mcpSource(source.name, mcpOptionsOf(source)), source.activation)
}

/** The same source, whose tools are there only where the activation holds. */
function activated(source: Source, activation: Activation | undefined): Source {
  if (activation === undefined) return source
  const { name, layer, identity, foreign } = source
  return {
    ...{ name, layer, identity, foreign, activation },
    start: (host) => source.start(host),
    close: () => source.close(),
  }
}
