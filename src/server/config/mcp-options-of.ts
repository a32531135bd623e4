// What a configuration says of an MCP server, as the source takes it.

import type { McpSourceOptions } from '../../sources/mcp/mcp-options.ts'
import type { SourceConfig } from './lockgate-config.ts'

export function mcpOptionsOf(source: SourceConfig & { kind: 'stdio' | 'http' }): McpSourceOptions {
  const { effects, trustAnnotations, deadlineMs, idleMs } = source
  const governed = {
    effects,
    ...(trustAnnotations ? { trust: 'annotations' as const } : {}),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(idleMs === undefined ? {} : { idleMs }),
  }
  if (source.kind === 'http') return { url: source.url, headers: source.headers, ...governed }
  const { command, args, env, cwd, bounds } = source
  return { command, args, env, cwd, ...bounds, ...governed }
}
