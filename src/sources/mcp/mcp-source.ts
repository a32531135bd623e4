// One MCP server as a source of tools, shown as `mcp__server__tool`. Everything that the server says is somebody else's
// text; what its tools may do is the operator's to say. The protocol's library is loaded when the source starts.

import type { Source, SourceHost } from '../../describe/source.ts'
import { effectRules } from './effect-rules.ts'
import { checkMcpOptions, handedBy, identityOf, type McpSourceOptions } from './mcp-options.ts'
import type { Upstream } from './upstream.ts'

export type { HttpUpstream, McpSourceOptions, StdioUpstream } from './mcp-options.ts'

/**
 * A server over stdio (`command`) or Streamable HTTP (`url`). It is started with the gate, again when it has died, and
 * takes nothing else down.
 *
 * @param name 1 to 32 letters, digits, `_` and `-`, without `__`; part of each listed name.
 * @throws GateConfigError for a name or an option that does not hold.
 */
export function mcpSource(name: string, options: McpSourceOptions): Source {
  checkMcpOptions(name, options)
  return new McpSource(name, structuredClone(options))
}

class McpSource implements Source {
  readonly layer = 'discovered'
  readonly foreign = true
  readonly name: string
  readonly identity: string
  readonly handed: Source['handed'] & object
  readonly #options: McpSourceOptions
  #upstream: Upstream | undefined
  #closed = false

  constructor(name: string, options: McpSourceOptions) {
    this.name = name
    this.identity = identityOf(options)
    this.handed = handedBy(options)
    this.#options = options
  }

  async start(host: SourceHost): Promise<void> {
    const { effects, trust, deadlineMs, idleMs } = this.#options
    const [{ offerTools }, { Upstream }] = await Promise.all([import('./offer-tools.ts'), import('./upstream.ts')])
    if (this.#closed) return
    const rules = effectRules(effects, trust === 'annotations')
    const upstream: Upstream = new Upstream({
      options: this.#options,
      host,
      offer: (listed) =>
        offerTools(listed, {
          server: this.name,
          rules,
          deadlineMs,
          idleMs,
          run: (tool, args, context) => upstream.call(tool, args, context),
        }),
    })
    this.#upstream = upstream
    await upstream.start()
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#upstream?.close()
  }
}
