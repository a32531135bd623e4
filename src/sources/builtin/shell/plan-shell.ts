// Checks everything that an operator says about commands when the gate is configured, before anything is looked for or started.

import { type ConfigProblem, GateConfigError } from '../../../describe/gate-config-error.ts'
import { type NarrowCommand, readNarrowCommands } from './read-narrow-command.ts'
import { readShellOptions, type ShellSettings } from './read-shell-options.ts'
import type { NarrowCommandOptions, ShellOptions } from './shell-options.ts'

export type ShellPlan = {
  /** Whether `run_command` and the job tools are offered. */
  readonly isOffered: boolean
  readonly settings: ShellSettings
  readonly narrow: readonly NarrowCommand[]
}

/** @throws GateConfigError for options that do not hold. */
export function planShell(
  isOffered: boolean,
  shell: ShellOptions | undefined,
  commands: Readonly<Record<string, NarrowCommandOptions>> | undefined,
): ShellPlan {
  const read = readShellOptions(shell ?? {})
  const sandbox = read.kind === 'ok' ? read.settings.sandbox : 'preferred'
  const narrow = readNarrowCommands(commands ?? {}, sandbox)
  const problems: ConfigProblem[] = [
    ...(read.kind === 'ok' ? [] : read.problems),
    ...(narrow.kind === 'ok' ? [] : narrow.problems),
  ]
  if (read.kind !== 'ok' || narrow.kind !== 'ok') throw new GateConfigError(problems)
  return { isOffered, settings: read.settings, narrow: narrow.commands }
}
