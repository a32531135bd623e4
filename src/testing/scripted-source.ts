// A source that does what a test tells it: offers tools, fails, hangs, changes its mind.

import type { Layer } from '../describe/layer.ts'
import type { OfferedTool, Source, SourceHost } from '../describe/source.ts'
import type { Tool } from '../describe/tool.ts'
import type { AnyTool } from '../gate-contract.ts'

export type ScriptedSourceOptions = {
  readonly name: string
  readonly tools?: readonly AnyTool[]
  readonly layer?: Layer
  /** True (the default) where its schemas come from someone else. */
  readonly foreign?: boolean
  /** `fail` rejects, `hang` never answers. */
  readonly starts?: 'well' | 'fail' | 'hang'
}

export class ScriptedSource implements Source {
  readonly name: string
  readonly layer: Layer
  readonly identity: string
  readonly foreign: boolean
  /** True once the gate has closed it. */
  closed = false
  readonly #options: ScriptedSourceOptions
  #host: SourceHost | undefined

  constructor(options: ScriptedSourceOptions) {
    this.#options = options
    this.name = options.name
    this.layer = options.layer ?? 'domain'
    this.foreign = options.foreign ?? true
    this.identity = `scripted ${options.name}`
  }

  async start(host: SourceHost): Promise<void> {
    this.#host = host
    const { starts = 'well', tools = [] } = this.#options
    if (starts === 'fail') throw new Error('scripted to fail')
    if (starts === 'hang') return new Promise(() => {})
    this.offer(tools)
  }

  /** Replaces what it offers. */
  offer(tools: readonly AnyTool[], problems: readonly (OfferedTool & { kind: 'problem' })[] = []): void {
    this.#host?.offer([...tools.map((tool) => ({ kind: 'tool', tool: tool as Tool }) as const), ...problems])
  }

  /** Reports a failure in the middle of its life. */
  fail(reason: string): void {
    this.#host?.report({ kind: 'failed', reason })
  }

  async close(): Promise<void> {
    this.closed = true
  }
}
