// Tools from a JavaScript module of the operator's own. It is loaded once, when the source starts; one that throws while
// it loads is a source that failed, and nothing else.

import { pathToFileURL } from 'node:url'
import type { OfferedTool, Source, SourceHost } from '../../describe/source.ts'
import type { Tool } from '../../describe/tool.ts'

export type ModuleSourceOptions = {
  readonly name: string /** Absolute. */
  readonly file: string /** Of the module's bytes. */
  readonly digest: string
}

/** The module exports `tools`: a list of what `defineTool` of this very installation answered. */
export function moduleSource({ name, file, digest }: ModuleSourceOptions): Source {
  return {
    name,
    layer: 'domain',
    identity: `module ${file} ${digest}`,
    foreign: false,
    async start(host: SourceHost) {
      const loaded: unknown = await import(pathToFileURL(file).href)
      host.offer(offersOf(loaded, file))
    },
    async close() {},
  }
}

function offersOf(loaded: unknown, file: string): readonly OfferedTool[] {
  const tools = typeof loaded === 'object' && loaded !== null && 'tools' in loaded ? loaded.tools : undefined
  if (!Array.isArray(tools)) throw new Error(`the module ${file} does not export a list named \`tools\``)
  return tools.map((tool: unknown, index): OfferedTool => {
    if (isTool(tool)) return { kind: 'tool', tool }
    return {
      kind: 'problem',
      name: `tool_${index}`,
      problem: `number ${index} of \`tools\` in ${file} is not what \`defineTool\` answers`,
    }
  })
}

// A definition that somebody wrote by hand has no run that can be found, so that it could be listed and never called.
const isTool = (value: unknown): value is Tool =>
  typeof value === 'object' &&
  value !== null &&
  Object.isFrozen(value) &&
  'name' in value &&
  typeof value.name === 'string' &&
  'input' in value &&
  !('run' in value)
