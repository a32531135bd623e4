// From a plan to what is really started: `sh` that joins the control groups, the sandbox, `prlimit`, the program, each started
// by the one before and in its place, so that it is one process and one signal reaches it. The text that `sh` runs is fixed;
// nothing of a caller is ever a part of it. It refuses whatever cannot be started as the plan says.

import { accessSync, constants, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { MachineAbilities, ProcessLimit } from './abilities.ts'
import { PROCESS_LIMITS } from './abilities.ts'
import { ControlGroup } from './control-group.ts'
import { emptyFile } from './empty-file.ts'
import { JOIN_GROUPS, joinGroupsWith } from './join-groups.ts'
import { pathKind } from './path-kind.ts'
import { type HeldOnDisk, holdPlaceholders } from './placeholders.ts'
import type { ProcessLimits, SandboxPlan } from './process-plan.ts'
import { resourceLimitArguments } from './resource-limits.ts'
import { sandboxArguments } from './sandbox-arguments.ts'
import { seatbeltProfile } from './seatbelt-profile.ts'

/** What every process needs, whether it is run to its end or spoken to in lines. */
export type LaunchPlan = {
  readonly program: string
  readonly name?: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly limits: Omit<ProcessLimits, 'outputBytes' | 'floodBytes'>
  readonly sandbox?: SandboxPlan
}

export type Launch = {
  readonly kind: 'ready'
  readonly file: string
  readonly argv0?: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The launched process tells on descriptor 3 how far it came. */
  readonly status: 'none' | 'sandbox' | 'joins'
  /** To be written to descriptor 4. */
  readonly sandboxArguments?: string
  readonly group: ControlGroup | undefined
  readonly unenforced: readonly ProcessLimit[]
  /** What was made on the disk for it; to be given back when it has ended. */
  readonly held: HeldOnDisk
}

export type Unlaunchable = { readonly kind: 'unstarted'; readonly why: 'missing' | 'refused'; readonly reason: string }

export const NOTHING_HELD: HeldOnDisk = { giveBack: () => Promise.resolve(), giveBackNow: () => {} }

/** `bwrap` itself and the one process that collects orphans count as processes too. */
const SANDBOX_PROCESSES = 2

export function prepareLaunch(plan: LaunchPlan, abilities: MachineAbilities): Launch | Unlaunchable {
  const absent = missing(plan)
  if (absent !== undefined) return unstarted('missing', absent)
  const sandbox = plan.sandbox === undefined ? { kind: 'none' as const } : enclose(plan, plan.sandbox, abilities)
  if (sandbox.kind === 'unstarted') return sandbox
  const group = groupOf(plan, abilities)
  if (typeof group === 'string') return unstarted('refused', group)
  const bounded = resourceLimitArguments(plan.limits, abilities, sandbox.kind === 'bwrap')
  const unenforced = PROCESS_LIMITS.filter(
    (limit) => plan.limits[limit] !== undefined && abilities.limits[limit].kind === 'unenforced',
  )
  const shared = { kind: 'ready', group, unenforced } as const
  if (sandbox.kind === 'bwrap') {
    const inner = [...bounded, sandbox.program, ...plan.args]
    const [file = '', ...args] = joined(group, JOIN_GROUPS, [sandbox.path, ...BWRAP_PIPES, ...inner])
    const held = holdPlaceholders(sandbox.placeholders)
    // bubblewrap gives the environment to the command; neither it nor `sh` shall see any of it.
    return { ...shared, file, args, env: {}, status: 'sandbox', sandboxArguments: sandbox.text, held }
  }
  if (sandbox.kind === 'seatbelt') {
    const [file = '', ...args] = [...sandbox.command, plan.program, ...plan.args]
    return {
      ...shared,
      file,
      args,
      env: { ...plan.env, TMPDIR: sandbox.temporary },
      status: 'none',
      held: sandbox.held,
    }
  }
  return { ...shared, ...plain(plan, bounded, group) }
}

const BWRAP_PIPES = ['--json-status-fd', '3', '--args', '4', '--']

const unstarted = (why: Unlaunchable['why'], reason: string): Unlaunchable => ({ kind: 'unstarted', why, reason })

/** Looked up before anything starts: afterwards nobody could tell a missing program from one that failed. */
function missing({ program, cwd }: LaunchPlan): string | undefined {
  try {
    accessSync(program, constants.X_OK)
    if (!statSync(program).isFile()) return `\`${program}\` is no program`
  } catch {
    return `\`${program}\` is not on this machine, or may not be run`
  }
  try {
    return statSync(cwd).isDirectory() ? undefined : `\`${cwd}\` is no folder`
  } catch {
    return `the folder \`${cwd}\` is not there`
  }
}

type Enclosed =
  | {
      readonly kind: 'bwrap'
      readonly path: string
      readonly text: string
      readonly program: string
      readonly placeholders: readonly string[]
    }
  | {
      readonly kind: 'seatbelt'
      readonly command: readonly string[]
      readonly temporary: string
      readonly held: HeldOnDisk
    }

function enclose(plan: LaunchPlan, sandbox: SandboxPlan, abilities: MachineAbilities): Enclosed | Unlaunchable {
  const ability = abilities.sandbox
  if (ability.kind === 'missing') return unstarted('missing', `there is no sandbox on this machine: ${ability.reason}`)
  if (ability.by === 'sandbox-exec') {
    const temporary = mkdtempSync(join(tmpdir(), 'lockgate-sandbox-'))
    const profile = seatbeltProfile({ plan: sandbox, program: plan.program, temporary })
    return { kind: 'seatbelt', command: [ability.path, '-p', profile], temporary, held: heldFolder(temporary) }
  }
  const { cwd, env, program, name } = plan
  const empty = sandbox.masked.length === 0 ? '/dev/null' : emptyFile()
  const made = sandboxArguments({
    plan: sandbox,
    cwd,
    env,
    program,
    kindOf: pathKind,
    empty,
    ...(name !== undefined && { name }),
  })
  if (made.kind === 'refused') return unstarted('refused', made.reason)
  const text = made.args.join('\0').concat('\0')
  return { kind: 'bwrap', path: ability.path, text, program: made.program, placeholders: made.placeholders }
}

function groupOf({ limits, sandbox }: LaunchPlan, { groups, limits: kept, sandbox: ability }: MachineAbilities) {
  if (groups === undefined || groups.length === 0) return undefined
  const wants = (limit: ProcessLimit): boolean => {
    const known = kept[limit]
    return limits[limit] !== undefined && known.kind === 'enforced' && known.by !== 'prlimit'
  }
  const held = sandbox !== undefined && ability.kind === 'ready' && ability.by === 'bwrap'
  return ControlGroup.make(groups, {
    tree: !held,
    ...(wants('cpuMs') && { cpuMs: limits.cpuMs ?? 0 }),
    ...(wants('memoryBytes') && { memoryBytes: limits.memoryBytes ?? 0 }),
    ...(wants('processes') && { processes: (limits.processes ?? 0) + (held ? SANDBOX_PROCESSES : 0) }),
  })
}

function joined(group: ControlGroup | undefined, script: string, command: readonly string[]): readonly string[] {
  if (group === undefined) return command
  const { doors } = group
  return ['/bin/sh', '-c', script, 'lockgate', String(doors.length), ...doors, ...command]
}

function plain(plan: LaunchPlan, bounded: readonly string[], group: ControlGroup | undefined) {
  const { program, name, args, env } = plan
  const other = name !== undefined && basename(name) !== basename(program) ? basename(name) : undefined
  if (bounded.length === 0 && group === undefined) {
    const named = other === undefined ? {} : { argv0: other }
    return { file: program, args, env, status: 'none' as const, held: NOTHING_HELD, ...named }
  }
  const link = other === undefined ? undefined : linkTo(program, other)
  const [file = '', ...rest] = joined(group, joinGroupsWith(env), [...bounded, link?.path ?? program, ...args])
  const status = group === undefined ? ('none' as const) : ('joins' as const)
  return { file, args: rest, env, status, held: link?.held ?? NOTHING_HELD }
}

/** Of those who start a program in their own place, none can tell it another name: so it gets a link of that name. */
function linkTo(program: string, name: string) {
  const folder = mkdtempSync(join(tmpdir(), 'lockgate-name-'))
  const path = join(folder, name)
  symlinkSync(program, path)
  return { path, held: heldFolder(folder) }
}

function heldFolder(path: string): HeldOnDisk {
  const options = { recursive: true, force: true }
  return { giveBack: () => rm(path, options), giveBackNow: () => rmSync(path, options) }
}
