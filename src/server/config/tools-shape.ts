// `tools`: the built-in families. What their own code would refuse when it is made is refused here, at the place where it is
// written: nothing is started for that.

import { GateConfigError } from '../../describe/gate-config-error.ts'
import { type BuiltinFamily, builtinTools } from '../../sources/builtin/builtin-tools.ts'
import type { NarrowCommandOptions, ShellOptions } from '../../sources/builtin/shell/shell-options.ts'
import { commands, shell } from './command-shape.ts'
import { keyBelow } from './config-node.ts'
import { nodeAt } from './node-at.ts'
import { flag, type Reading, refined, type Shape } from './shape.ts'
import { fields, optional } from './shape-object.ts'

/** The built-in families that are on, and what they are given. */
export type ToolsOptions = {
  readonly files: boolean
  /** Undefined: no shell tools. */
  readonly shell: ShellOptions | undefined
  readonly commands: Readonly<Record<string, NarrowCommandOptions>>
}

export const NO_TOOLS: ToolsOptions = { files: false, shell: undefined, commands: {} }

export const tools: Shape<ToolsOptions> = refined(
  fields({
    files: optional(flag(), 'Tools that read, search, write, move, delete and undo files of the workspace.'),
    shell: optional(
      shell,
      'Tools that start programs: `run_command`, `job_output`, `job_stop`. `true`: those that only read.',
    ),
    commands: optional(commands, 'Narrow commands of your own: each is a tool.'),
  }),
  (written, reading): ToolsOptions | undefined => {
    const { files = false, shell: given, commands: named = {} } = written
    const options = { files, shell: given === false ? undefined : given, commands: named }
    return holds(options, reading) ? options : undefined
  },
)

/** The families that are on, in the order in which their tools are offered. */
export const familiesOf = ({ files, shell: given }: ToolsOptions): readonly BuiltinFamily[] => [
  ...(files ? (['files'] as const) : []),
  ...(given === undefined ? [] : (['shell'] as const)),
]

/** Whether there is any built-in tool. */
export const hasBuiltin = (options: ToolsOptions): boolean =>
  familiesOf(options).length > 0 || Object.keys(options.commands).length > 0

/** What `builtinTools` takes besides. */
export const builtinOptionsOf = ({ shell: given, commands: named }: ToolsOptions) => ({
  ...(given === undefined ? {} : { shell: given }),
  ...(Object.keys(named).length === 0 ? {} : { commands: named }),
})

function holds(options: ToolsOptions, reading: Reading): boolean {
  try {
    builtinTools(familiesOf(options), builtinOptionsOf(options))
    return true
  } catch (error) {
    if (!(error instanceof GateConfigError)) throw error
    for (const { key = '', message } of error.problems) {
      const { node, way } = nodeAt(reading.node, key.replace(/^tools\.?/, ''))
      reading.report({ at: node.at, key: way.reduce(keyBelow, reading.key), message })
    }
    return false
  }
}
