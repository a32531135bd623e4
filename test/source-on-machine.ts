// An MCP source on a machine that the test makes up.

import type { Source, SourceHost } from '../src/describe/source.ts'
import type { MachineAbilities } from '../src/machine/abilities.ts'
import { type McpSourceOptions, mcpSource } from '../src/sources/mcp/mcp-source.ts'

export class McpSourceOn implements Source {
  readonly name: string
  readonly layer: Source['layer']
  readonly identity: string
  readonly foreign: boolean
  readonly #source: Source
  readonly #machine: MachineAbilities

  constructor(machine: MachineAbilities, name: string, options: McpSourceOptions) {
    const source = mcpSource(name, options)
    this.#source = source
    this.#machine = machine
    this.name = source.name
    this.layer = source.layer
    this.identity = source.identity
    this.foreign = source.foreign
  }

  start(host: SourceHost): Promise<void> {
    return this.#source.start({ ...host, machine: async () => this.#machine })
  }

  close(): Promise<void> {
    return this.#source.close()
  }
}
