// `run_command`: one program of those that the operator named, with arguments that its grammar allows, and no shell. It runs in
// a sandbox where there is one; what a caller may not read is not there, what no tool may change cannot be changed, and what it made
// of that where nothing could hold it is told.

import type { JsonObject } from '../../../base/json-value.ts'
import { textPart } from '../../../describe/content.ts'
import { defineTool } from '../../../describe/define-tool.ts'
import type { RunContext, Tool } from '../../../describe/tool.ts'
import { ToolFailure, toolFailure } from '../../../describe/tool-failure.ts'
import { isRefusal } from '../files/file-place.ts'
import { type CommandValue, presentCommand } from './command-answer.ts'
import { commandInput } from './command-input.ts'
import type { CommandRunner } from './command-runner.ts'
import { DecidedCalls } from './decided-calls.ts'
import type { Jobs } from './jobs.ts'
import type { ShellSettings } from './read-shell-options.ts'
import { runForeground } from './run-foreground.ts'
import type { SettledCommand } from './settled-command.ts'
import type { CommandArgs, ShellCommands } from './shell-commands.ts'
import { type StartedJob, startJob } from './start-job.ts'
import { stale } from './undone.ts'

export type RunCommandParts = {
  readonly commands: ShellCommands
  readonly runner: CommandRunner
  /** Absent where commands cannot go on after their call. */
  readonly jobs: Jobs | undefined
  readonly settings: ShellSettings
  /** Names of the programs that may be run. */
  readonly names: readonly string[]
  /** Names of the roots, where there are several. */
  readonly roots: readonly string[]
}

const NAMES_SHOWN_MAX = 60

export function runCommandTool(parts: RunCommandParts): Tool {
  const { commands, settings } = parts
  const decided = new DecidedCalls()
  // INVARIANT last-check: every function below is called with arguments that `input` has passed, so their type is known.
  const as = (args: JsonObject): CommandArgs => args as CommandArgs
  const settle = (args: JsonObject): SettledCommand => {
    const settled = commands.settle(as(args))
    if (isRefusal(settled)) throw new Error(settled.message)
    return settled
  }
  return defineTool({
    name: 'run_command',
    version: '1.0.0',
    title: 'Run a program',
    description: `Run one program in the workspace, without a shell: no pipes, redirections, variables or wildcards. Programs: ${namesOf(parts.names)}.`,
    returns: 'Its output and exit code; or, of one that goes on in the background, the id of the job.',
    guidance: {
      useWhen: 'a program answers better than the file tools do',
      limits: `only these programs, with flags in their exact spelling; ${settings.deadlineMs / 1_000} seconds; paths stay inside the workspace`,
    },
    input: commandInput({ settings, roots: parts.roots, hasJobs: parts.jobs !== undefined }),
    examples: [{ program: parts.names[0] ?? 'git', args: [] }],
    effect: 'execute',
    repeat: 'never',
    place: 'child',
    sandbox: settings.sandbox,
    lane: 'touches',
    walks: true,
    deadlineMs: settings.deadlineMs,
    limits: { ...settings.asked, argumentBytes: 1_048_576 },
    resolve: (args) => {
      const late = timeProblem(as(args), settings)
      if (late !== undefined) return { kind: 'refused', code: 'invalid_args', message: late }
      const resolved = commands.resolve(as(args))
      return isRefusal(resolved) ? resolved : ({ ...resolved } as JsonObject)
    },
    touches: (args) => decided.touches(args, settle(args)),
    command: (args) => commands.facts(as(args)),
    binds: (args) => decided.binds(args, settle(args)),
    run: (args, context) => run(parts, decided, args, context),
    present: (value) => present(value as CommandValue | StartedJob),
  })
}

async function run(parts: RunCommandParts, decided: DecidedCalls, args: JsonObject, context: RunContext) {
  const { commands, runner, settings } = parts
  const given = args as CommandArgs
  const command = commands.settle(given)
  if (isRefusal(command)) return stale()
  const changed = await decided.problem(args, command)
  if (changed !== undefined) return changed
  if (given.background === true) return runBackground(parts, command, given.timeoutMs, context)
  const ready = await runner.prepare(command, context)
  if (ready instanceof ToolFailure) return ready
  return runForeground({
    ...{ runner, ready, context, limits: settings.limits },
    timeoutMs: given.timeoutMs ?? settings.deadlineMs,
  })
}

async function runBackground(
  { runner, jobs, settings }: RunCommandParts,
  command: SettledCommand,
  timeoutMs: number | undefined,
  context: RunContext,
) {
  const slot = jobs?.reserve(context.caller) ?? { full: 'commands cannot go on in the background here' }
  if ('full' in slot) return toolFailure({ type: 'busy', code: 'too_many_jobs', effect: 'none', message: slot.full })
  let isStarted = false
  try {
    const ready = await runner.prepare(command, context)
    if (ready instanceof ToolFailure) return ready
    isStarted = true
    return startJob({
      runner,
      ready,
      slot,
      context,
      limits: settings.limits,
      timeoutMs: timeoutMs ?? settings.jobs.deadlineMs,
    })
  } finally {
    if (!isStarted) slot.release()
  }
}

function timeProblem({ timeoutMs, background }: CommandArgs, { deadlineMs, jobs }: ShellSettings): string | undefined {
  const most = background === true ? jobs.deadlineMs : deadlineMs
  return timeoutMs === undefined || timeoutMs <= most ? undefined : `\`timeoutMs\`: at most ${most}`
}

function present(value: CommandValue | StartedJob) {
  if (!('job' in value)) return presentCommand(value)
  return { content: [textPart(`\`${value.program}\` goes on in the background as ${value.job}`)] }
}

const namesOf = (names: readonly string[]): string =>
  names.length <= NAMES_SHOWN_MAX
    ? names.join(', ')
    : `${names.slice(0, NAMES_SHOWN_MAX).join(', ')} and ${names.length - NAMES_SHOWN_MAX} more`
