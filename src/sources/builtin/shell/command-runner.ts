// Runs a settled command: looks once more whether everything is what it was, builds its environment and its sandbox, and starts
// it. It refuses, with nothing done, whatever it cannot keep inside the bounds that were decided.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { Clock } from '../../../base/clock.ts'
import type { Place } from '../../../describe/place.ts'
import type { RunContext } from '../../../describe/tool.ts'
import { type ToolFailure, toolFailure } from '../../../describe/tool-failure.ts'
import type { MachineAbilities } from '../../../machine/abilities.ts'
import type { ProcessEnd, ProcessLimits, ProcessPlan, SandboxPlan } from '../../../machine/process-plan.ts'
import { runProcess } from '../../../machine/run-process.ts'
import { fileResource, treeResource } from '../files/file-resources.ts'
import { commandEnvironment } from './command-environment.ts'
import { type Exposure, exposureOf, isWithin, movedLinks } from './command-exposure.ts'
import { filesProblem } from './files-problem.ts'
import { gitEnvironment } from './git-environment.ts'
import { assumedPaths, GitHistory, type RunGit, revisionWords, showsHistory } from './git-history.ts'
import { findRepository, type GitRepository } from './git-repository.ts'
import { gitStarts } from './git-starts.ts'
import { protectedChanges, stateOf } from './protected-changes.ts'
import { protectedFailure } from './protected-failure.ts'
import { rootOf, rootsOf, type SettledCommand, treesOf } from './settled-command.ts'
import { notPermitted } from './undone.ts'

export type CommandRunnerParts = {
  readonly clock: Clock
  readonly machine: () => Promise<MachineAbilities>
  /** The gate's own files, absolute. */
  readonly own: () => readonly string[]
  /** Folders of programs, in the order of their search. */
  readonly folders: readonly string[]
  /** What a sandbox shows besides the system, so that one program can start another. */
  readonly shown: readonly string[]
}

/** A command that may start. */
export type ReadyCommand = {
  readonly command: SettledCommand
  readonly place: Place
  readonly plan: Omit<ProcessPlan, 'signal' | 'limits'>
  readonly abilities: MachineAbilities
  /** To be called when it has ended; the failure of one that changed what nobody may. */
  readonly finish: () => Promise<ToolFailure | undefined>
  /** To be called in the place of `finish` where it never started. */
  readonly discard: () => undefined
}

export type RunSettings = Pick<ProcessPlan, 'onOutput' | 'onBytes' | 'signal'> & { readonly limits: ProcessLimits }

/** In a sandbox this folder is its own and empty. */
const SANDBOX_HOME = '/tmp'
/** Of the questions to git about its own history. */
const HISTORY_LIMITS = { outputBytes: 33_554_432, floodBytes: 67_108_864, cpuMs: 20_000 }
const HISTORY_MS = 10_000

export class CommandRunner {
  readonly #parts: CommandRunnerParts

  readonly #history = new GitHistory()
  /** Commands that may change something and run now, jobs too. */
  #changing = 0

  constructor(parts: CommandRunnerParts) {
    this.#parts = parts
  }

  /** Everything up to the start. Nothing has been done where it fails. */
  async prepare(command: SettledCommand, context: RunContext): Promise<ReadyCommand | ToolFailure> {
    const boxed = context.place.place === 'sandbox'
    const problem =
      (await filesProblem(command)) ?? repositoryProblem(command, boxed) ?? codeProblem(command, boxed, context)
    if (problem !== undefined) return problem
    // Beside one that changes things a name may come to mean another file after it was judged: so nothing denied is there.
    const everywhere = boxed && this.#changing > 0
    const exposure = await exposureOf(command, context, { own: this.#parts.own, everywhere, ...neededBy(command) })
    if (exposure.kind === 'unbounded')
      return notPermitted(
        `it cannot be told what of this folder \`${command.program.name}\` may see: ${exposure.reason}; name a smaller part`,
      )
    if (exposure.exposes && !boxed)
      return notPermitted(
        `\`${command.program.name}\` would look at files that you may not see, and nothing here can hide them from it; name the files that it needs`,
      )
    const ready = {
      ...(await this.#planOf(command, boxed ? this.#sandboxOf(command, exposure) : undefined, exposure)),
      command,
    }
    const shown = await this.#historyProblem(ready, context)
    if (shown === undefined) return ready
    ready.discard()
    return shown
  }

  async run({ command, plan, abilities }: ReadyCommand, settings: RunSettings): Promise<ProcessEnd> {
    const stdin = command.stdin === undefined ? {} : { stdin: command.stdin }
    const changing = command.reads ? 0 : 1
    this.#changing += changing
    try {
      return await runProcess({ ...plan, ...stdin, ...settings }, { clock: this.#parts.clock, abilities })
    } finally {
      this.#changing -= changing
    }
  }

  /** Git shows what it has committed, also of files that are hidden where they stand. */
  async #historyProblem(ready: ReadyCommand, context: RunContext): Promise<ToolFailure | undefined> {
    const { program, args } = ready.command
    const shows = program.name === 'git' ? showsHistory(args) : 'no'
    const found = shows === 'no' ? undefined : repositoryOf(ready.command)
    if (found === undefined) return undefined
    const trees = shows === 'all' ? [found.worktree] : treesOf(ready.command).map(({ absolute }) => absolute)
    const asked = trees.filter((tree) => !context.mayTouch(treeResource('read', tree)))
    if (asked.length === 0) return undefined
    const run: RunGit = (git) =>
      runProcess(
        {
          ...ready.plan,
          args: git,
          cwd: found.worktree,
          signal: context.signal,
          limits: HISTORY_LIMITS,
          idleMs: HISTORY_MS,
        },
        { clock: this.#parts.clock, abilities: ready.abilities },
      )
    const paths = await (shows === 'assumed' ? assumedPaths(run) : this.#history.paths(found, run, revisionWords(args)))
    const hidden = paths?.some((path) => {
      const absolute = join(found.worktree, path)
      return asked.some((tree) => isWithin(tree, absolute)) && !context.mayTouch(fileResource('read', absolute))
    })
    if (hidden === false) return undefined
    return notPermitted(
      'the commits of this repository hold files that you may not see, and git would show them; use `git log` or `git blame` with the paths that you need behind `--`, or read the files',
    )
  }

  #sandboxOf(command: SettledCommand, { masked, frozen }: Exposure): SandboxPlan {
    const roots = rootsOf(command)
    const programs = [...new Set([...command.program.folders, ...this.#parts.shown])]
    return {
      readable: [...programs, ...(command.reads ? roots : [])],
      writable: command.reads ? [] : roots,
      ...{ frozen, masked, network: command.network },
    }
  }

  async #planOf(command: SettledCommand, sandbox: SandboxPlan | undefined, exposure: Exposure) {
    const { program, before, args, cwd } = command
    const abilities = await this.#parts.machine()
    const home = sandbox === undefined ? mkdtempSync(join(tmpdir(), 'lockgate-command-')) : SANDBOX_HOME
    const env = {
      ...commandEnvironment({ folders: this.#parts.folders, home }),
      ...(program.name === 'git' ? gitEnvironment(repositoryOf(command)) : {}),
    }
    const discard = (): undefined => {
      if (sandbox === undefined) rmSync(home, { recursive: true, force: true })
    }
    // Where nothing holds them in place they are compared as well.
    const unheld = sandbox === undefined ? exposure.protectedNames : []
    const states = new Map(unheld.map((path) => [path, stateOf(path)]))
    return {
      abilities,
      place: sandbox === undefined ? ('child' as const) : ('sandbox' as const),
      plan: {
        ...{ program: program.path, name: program.name, args: [...before, ...args], cwd: cwd.absolute, env },
        ...(sandbox === undefined ? {} : { sandbox }),
      },
      discard,
      finish: (): Promise<ToolFailure | undefined> => {
        discard()
        return this.#changesOf(command, exposure, states)
      },
    }
  }

  /** What could not be held in place is told afterwards. */
  async #changesOf(
    command: SettledCommand,
    { links, masked, frozen }: Exposure,
    unheld: ReadonlyMap<string, string>,
  ): Promise<ToolFailure | undefined> {
    if (command.reads) return undefined
    const trees = treesOf(command)
    const known = new Set([...frozen, ...links.keys()])
    const parts = { trees, known, masked: new Set(masked), unheld }
    const { paths, cut } = await protectedChanges(parts, this.#parts.clock)
    const roots = trees.map(({ absolute }) => absolute)
    const moved = movedLinks(links).map((path) => relative(roots.find((root) => isWithin(root, path)) ?? '/', path))
    return protectedFailure(command.program.name, [...new Set([...moved, ...paths])], cut)
  }
}

/** A repository that lies elsewhere is refused anywhere; one that names programs, where no sandbox holds them. */
function repositoryProblem({ program, cwd }: SettledCommand, boxed: boolean): ToolFailure | undefined {
  if (program.name !== 'git') return undefined
  const found = findRepository(cwd.absolute, rootOf(cwd))
  if (found.kind === 'none') return undefined
  if (found.kind === 'outside')
    return toolFailure({ type: 'unsafe_args', code: 'repository_outside', effect: 'none', message: found.reason })
  const named = boxed ? undefined : gitStarts(found)
  return named === undefined
    ? undefined
    : notPermitted(
        `the configuration of this repository may start programs (${named}), and nothing here can hold them; git can be used in it only in a sandbox`,
      )
}

function codeProblem({ program, runsWorkspaceCode }: SettledCommand, boxed: boolean, context: RunContext) {
  if (!runsWorkspaceCode || boxed || context.approved) return undefined
  return notPermitted(
    `\`${program.name}\` runs code of the workspace: that needs a sandbox, which there is none of here, or a person's approval of this very call`,
  )
}

/** What git cannot work without: it is no file that a caller sees. */
function neededBy(command: SettledCommand): { readonly needed?: readonly string[] } {
  const found = command.program.name === 'git' ? repositoryOf(command) : undefined
  return found === undefined ? {} : { needed: [found.gitFolder, found.commonFolder] }
}

function repositoryOf({ cwd }: SettledCommand): GitRepository | undefined {
  const found = findRepository(cwd.absolute, rootOf(cwd))
  return found.kind === 'repository' ? found : undefined
}
