// What a local server may see, change and use up, worked out before it starts: from what the operator says of it, the files of
// its launch line, and what this machine can keep. It decides nothing about calls, and starts nothing.
//
// A server lives for long, so that only what is there when it starts is frozen or hidden: holding an absent path would leave
// an empty file in its place for as long as the server lives.

import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import type { Workspace } from '../../describe/workspace.ts'
import type { MachineAbilities, ProcessLimit } from '../../machine/abilities.ts'
import { findProgram } from '../../machine/find-program.ts'
import type { ProcessBounds } from '../../machine/piped-process.ts'

import { PROTECTED_NAMES } from '../../machine/protected-names.ts'
import type { StdioUpstream } from './mcp-options.ts'

/** What a server is started as, and what keeps it. */
export type BoundedServer = {
  readonly program: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly bounds: ProcessBounds
}

type SandboxPlan = NonNullable<ProcessBounds['sandbox']>

export type Bounded =
  /** Nothing was asked for. */
  | { readonly kind: 'free' }
  /** `unkept`: what was asked for and is not kept on this machine; each call's record says so. */
  | { readonly kind: 'bounded'; readonly server: BoundedServer; readonly unkept: readonly ('sandbox' | ProcessLimit)[] }
  /** The server is not started; the reason is for the operator. */
  | { readonly kind: 'refused'; readonly reason: string }

export type BoundsParts = { readonly workspace: Workspace; machine(): Promise<MachineAbilities> }

/** Never rejects but where the machine cannot be asked. */
export async function boundServer(upstream: StdioUpstream, { workspace, machine }: BoundsParts): Promise<Bounded> {
  const { sandbox: mode = 'off', limits = {} } = upstream
  const asked = Object.keys(limits) as ProcessLimit[]
  if (mode === 'off' && asked.length === 0) return { kind: 'free' }
  const abilities = await machine()
  const lacks = lacking(mode !== 'off', asked, abilities)
  const [first] = lacks
  // INVARIANT closed: where the sandbox is required, so is everything that was asked for beside it.
  if (mode === 'required' && first !== undefined) return { kind: 'refused', reason: first.reason }
  const cwd = resolve(upstream.cwd ?? process.cwd())
  const program = findProgram(upstream.command, { path: upstream.env?.PATH ?? process.env.PATH ?? '', cwd })
  if (program === undefined) return { kind: 'refused', reason: `\`${upstream.command}\` is not on this machine` }
  const encloses = mode !== 'off' && abilities.sandbox.kind === 'ready'
  const plan = encloses ? sandboxPlan(upstream, program, cwd, workspace) : undefined
  if (plan?.kind === 'refused') return plan
  const { env = {} } = upstream
  return {
    kind: 'bounded',
    unkept: lacks.map(({ what }) => what),
    server: {
      ...{ program, cwd },
      // Its home is not shown in there; what it keeps below it would have nowhere to go.
      env: plan === undefined ? env : { HOME: '/tmp', TMPDIR: '/tmp', ...env },
      bounds: { limits, abilities, ...(plan === undefined ? {} : { sandbox: plan.plan }) },
    },
  }
}

type Lack = { readonly what: 'sandbox' | ProcessLimit; readonly reason: string }

function lacking(encloses: boolean, asked: readonly ProcessLimit[], abilities: MachineAbilities): readonly Lack[] {
  const { sandbox, limits } = abilities
  const missing: readonly Lack[] =
    encloses && sandbox.kind === 'missing'
      ? [{ what: 'sandbox', reason: `there is no sandbox on this machine: ${sandbox.reason}; ${sandbox.mend}` }]
      : []
  const unkept = asked.flatMap((what): readonly Lack[] => {
    const ability = limits[what]
    if (ability.kind === 'enforced') return []
    return [{ what, reason: `this machine does not keep \`limits.${what}\`: ${ability.reason}; ${ability.mend}` }]
  })
  return [...missing, ...unkept]
}

type Planned =
  | { readonly kind: 'plan'; readonly plan: SandboxPlan }
  | { readonly kind: 'refused'; readonly reason: string }

function sandboxPlan(upstream: StdioUpstream, program: string, cwd: string, { own }: Workspace): Planned {
  const { args = [], network = true } = upstream
  const named: { readable: string[]; writable: string[] } = { readable: [], writable: [] }
  for (const key of ['readable', 'writable'] as const) {
    for (const path of upstream[key] ?? []) {
      const real = realPath(resolve(cwd, path))
      if (real === undefined) return { kind: 'refused', reason: `\`${key}\` names \`${path}\`, which does not exist` }
      named[key].push(real)
    }
  }
  const launched = launchedFiles(program, args, cwd)
  const needed = [...programFolders(program), ...launched.map(packageFolder), realPath(cwd)].filter(isShowable)
  const readable = unique([...needed, ...named.readable, ...launched]).filter((path) => !named.writable.includes(path))
  const writable = unique(named.writable)
  const shown = [...readable, ...writable]
  const masked = own
    .paths()
    .flatMap((path) => [path, realPath(path) ?? path])
    // INVARIANT own-files: of what is the gate's, a server sees what it is started from, and cannot change it.
    .filter((path) => existsSync(path) && shown.some((root) => isWithin(root, path)) && !holdsOne(path, launched))
  return {
    kind: 'plan',
    plan: { readable, writable, frozen: frozenIn(writable, launched), masked: unique(masked), network },
  }
}

/** The program and the files that the arguments name, under the name that was written and the real one. */
function launchedFiles(program: string, args: readonly string[], cwd: string): readonly string[] {
  const files = args
    .filter((text) => text !== '' && !text.startsWith('-') && text.length < 4_096)
    .map((text) => (isAbsolute(text) ? text : join(cwd, text)))
  return unique(
    [program, ...files]
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
      .flatMap((path) => [path, realPath(path) ?? path]),
  )
}

/** Where a program that was installed by itself keeps what it is made of: beside its `bin` stands its `lib`. */
function programFolders(program: string): readonly string[] {
  const folders = unique([dirname(program), dirname(realPath(program) ?? program)])
  return folders.flatMap((folder) =>
    basename(folder) === 'bin' && folder !== '/bin' ? [folder, join(dirname(folder), 'lib')] : [],
  )
}

const MANIFESTS = ['package.json', 'pyproject.toml']
const PACKAGE_LEVELS = 6

/** The package that a file belongs to, so that it finds its other files; without one, the file alone. */
function packageFolder(file: string): string {
  let folder = dirname(file)
  for (let level = 0; level < PACKAGE_LEVELS && isShowable(folder); level++) {
    if (MANIFESTS.some((name) => existsSync(join(folder, name)))) return folder
    folder = dirname(folder)
  }
  return file
}

/** Folders that hold everything of everybody are shown to nobody by guessing. */
function isShowable(path: string | undefined): path is string {
  if (path === undefined || !existsSync(path)) return false
  const home = process.env.HOME
  return path.split(sep).filter((name) => name !== '').length > 1 && (home === undefined || !isWithin(path, home))
}

/** What no tool may change, as far as it is there; of a repository what git would run or obey. */
function frozenIn(writable: readonly string[], launched: readonly string[]): readonly string[] {
  const names = PROTECTED_NAMES.flatMap((name) => (name === '.git' ? ['.git/hooks', '.git/config'] : [name]))
  const frozen = writable.flatMap((root) =>
    names
      .map((name) => join(root, name))
      .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === false),
  )
  return unique([...frozen, ...launched.filter((file) => writable.some((root) => isWithin(root, file)))])
}

const holdsOne = (folder: string, files: readonly string[]): boolean => files.some((file) => isWithin(folder, file))

const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

const unique = (paths: readonly string[]): readonly string[] => [...new Set(paths)]

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
