// The shell tools, put together for one workspace: `run_command`, jobs, and the operator's narrow commands. Programs are looked
// for here, once; what a gate closes ends here too.

import type { SourceHost } from '../../../describe/source.ts'
import type { Tool } from '../../../describe/tool.ts'
import type { FilePlace } from '../files/file-place.ts'
import { CommandRunner } from './command-runner.ts'
import { jobTools } from './job-tools.ts'
import { Jobs } from './jobs.ts'
import { narrowCommandTool } from './narrow-command.ts'
import type { ShellPlan } from './plan-shell.ts'
import { runCommandTool } from './run-command.ts'
import { ShellCommands } from './shell-commands.ts'
import { SYSTEM_FOLDERS, type TrustedProgram, trustedProgram } from './trusted-programs.ts'

export type ShellTools = { readonly tools: readonly Tool[]; close(): Promise<void> }

export function shellTools({ isOffered, settings, narrow }: ShellPlan, place: FilePlace, host: SourceHost): ShellTools {
  const { workspace, clock } = host
  const folders = [...SYSTEM_FOLDERS, ...settings.folders]
  const roots = [...workspace.roots.values()]
  const owners = settings.folders.length > 0 && process.getuid !== undefined ? [process.getuid()] : []
  const find = (name: string): TrustedProgram | undefined => trustedProgram(name, { folders, roots, owners })
  const own = (): readonly string[] => workspace.own.paths()
  // Package managers and the scripts that they run start `node` by its name.
  const shown = ['node', ...settings.grammars.keys()].flatMap((name) => find(name)?.folders ?? [])
  const runner = new CommandRunner({ clock, machine: () => host.machine(), own, folders, shown })
  const narrowTools = narrow.map((command) =>
    narrowCommandTool({ command, place, runner, program: find(command.program) }),
  )
  if (!isOffered) return { tools: narrowTools, close: async () => {} }
  const programs = new Map(
    [...settings.grammars.keys()].flatMap((name): [string, TrustedProgram][] => {
      const program = find(name)
      return program === undefined ? [] : [[name, program]]
    }),
  )
  const { perSession, perGate } = settings.jobs
  const jobs = perSession > 0 && perGate > 0 ? new Jobs(clock, settings.jobs, host.redactor) : undefined
  const commands = new ShellCommands({ place, grammars: settings.grammars, programs, network: settings.network })
  const names = [...settings.grammars.keys()]
  const run = runCommandTool({ commands, runner, jobs, settings, names, roots: place.roots })
  return {
    tools: [run, ...(jobs === undefined ? [] : jobTools(jobs)), ...narrowTools],
    close: async () => jobs?.close(),
  }
}
