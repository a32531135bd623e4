// One configuration, found, read, trusted, with its state folder ready: what every command that may run something starts
// from. A configuration that does not hold, or that nobody has vouched for, ends here and starts nothing.

import { lstatSync, mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readConfigFile } from '../server/config/config-file.ts'
import { environmentOf } from '../server/config/environment.ts'
import type { LockgateConfig } from '../server/config/lockgate-config.ts'
import type { ConfigReading } from '../server/config/read-config.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput } from './command.ts'
import {
  CONFIG_NAME,
  type ConfigLocation,
  foldersAround,
  locateConfig,
  operatorPolicies,
  stateFolderOf,
  stateRoot,
} from './locations.ts'
import { checkTrust, type TrustAnswer } from './trust-store.ts'

export type Project = {
  readonly config: LockgateConfig
  readonly location: ConfigLocation
  /** The folder of this configuration's state: database, tokens. Mode 0700. */
  readonly stateFolder: string
  /** What no tool may reach: everything that the configuration refers to, all state, files of variables. */
  readonly ownFiles: readonly string[]
  /** The database of records and approvals; undefined where the configuration keeps them in memory. */
  readonly database: string | undefined
}

export type Opened<Value> =
  | { readonly kind: 'ok'; readonly value: Value }
  | { readonly kind: 'end'; readonly code: ExitCode }

const end = (code: ExitCode): Opened<never> => ({ kind: 'end', code })

/** A configuration that was read, before anybody asked whether it is trusted. */
export type ReadProject = {
  readonly config: LockgateConfig
  readonly location: ConfigLocation
  readonly root: string
  readonly trust: TrustAnswer
}

/**
 * Reads one configuration together with the rules of the machine, the user and the project. `vouching`: whoever asks is about
 * to look at the project's rules, so that they may say anything.
 */
export async function readConfiguration(
  { io }: Pick<CommandInput, 'io'>,
  file: string,
  texts: readonly string[],
  vouching = false,
): Promise<ConfigReading> {
  const { readConfig } = await import('../server/config/read-config.ts')
  const root = stateRoot(io.cwd, io.variables)
  return readConfig(file, environmentOf(io.variables, texts), {
    ...operatorPolicies(io.cwd, io.variables),
    trusts: (found) => vouching || checkTrust(root, [found]).kind === 'trusted',
  })
}

/** Finds and reads the configuration; runs nothing and creates nothing. */
export async function readProject(
  { io, line, terminal }: CommandInput,
  options: { readonly vouching?: boolean } = {},
): Promise<Opened<ReadProject>> {
  const location = locateConfig(line.text('config'), io.cwd, io.variables)
  if ('looked' in location) {
    const looked = location.looked.map((file) => `looked for ${file}`)
    return end(
      terminal.fail('configuration', 'there is no configuration', [
        ...looked,
        '`lockgate init` writes one for this folder',
      ]),
    )
  }
  const variables = envTexts({ io, line })
  if (variables.kind === 'bad') return end(terminal.fail('usage', variables.reason))
  const read = await readConfiguration({ io }, location.file, variables.texts, options.vouching)
  if (read.kind === 'bad') return end(terminal.failConfiguration(read.problems))
  const root = stateRoot(io.cwd, io.variables)
  return { kind: 'ok', value: { config: read.config, location, root, trust: checkTrust(root, read.config.files) } }
}

type EnvTexts =
  | { readonly kind: 'ok'; readonly texts: readonly string[] }
  | { readonly kind: 'bad'; readonly reason: string }

/** The texts of all files of `--env-file`. */
export function envTexts(input: Pick<CommandInput, 'io' | 'line'>): EnvTexts {
  const texts: string[] = []
  for (const file of envFiles(input)) {
    const read = readConfigFile(file)
    if (read.kind === 'bad') return { kind: 'bad', reason: `\`--env-file\`: ${file}: ${read.reason}` }
    texts.push(read.text)
  }
  return { kind: 'ok', texts }
}

const envFiles = ({ io, line }: Pick<CommandInput, 'io' | 'line'>): readonly string[] =>
  line.texts('env-file').map((file) => resolve(io.cwd, file))

/** Reads the configuration and makes its state folder, if the operator has vouched for it. */
export async function openProject(input: CommandInput): Promise<Opened<Project>> {
  const read = await readProject(input)
  if (read.kind === 'end') return read
  const { config, location, root, trust } = read.value
  if (location.by === 'found' && trust.kind !== 'trusted') return end(refuseUntrusted(input, location, trust))
  const stateFolder = stateFolderOf(root, config.file)
  const problem = makeStateFolder(root) ?? makeStateFolder(stateFolder)
  if (problem !== undefined) return end(input.terminal.fail('configuration', problem))
  const around = foldersAround(root, Object.values(config.workspace))
  if (around.length > 0) {
    input.terminal.note(
      ['yellow', 'warning: '],
      `the state folder ${root} lies inside the workspace ${around.join(', ')}; tools cannot reach it, but it is better kept outside (LOCKGATE_STATE)`,
    )
  }
  return {
    kind: 'ok',
    value: {
      config,
      location,
      stateFolder,
      ownFiles: ownFilesOf(input, config, root),
      database: databaseOf(config, stateFolder),
    },
  }
}

const databaseOf = ({ store }: LockgateConfig, stateFolder: string): string | undefined => {
  if (store.kind === 'memory') return undefined
  return store.kind === 'sqlite' ? store.file : join(stateFolder, 'lockgate.db')
}

// INVARIANT own-files: the state of every configuration is out of reach, and a configuration that does not exist yet
// cannot be put where the next command would find it.
const ownFilesOf = (input: CommandInput, config: LockgateConfig, root: string): readonly string[] => [
  ...config.ownFiles,
  root,
  join(dirname(config.file), CONFIG_NAME),
  dirname(operatorPolicies(input.io.cwd, input.io.variables).user),
  ...envFiles(input),
]

/** Why a folder cannot keep state; undefined once it can. A folder that others may write to could be given trust by them. */
export function makeStateFolder(folder: string): string | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return folderProblem(folder)
  } catch (error) {
    return `the state folder ${folder} cannot be made: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Why an existing state folder does not hold. */
export function folderProblem(folder: string): string | undefined {
  const status = lstatSync(folder)
  if (!status.isDirectory()) return `the state folder ${folder} is not a folder`
  const user = process.getuid?.()
  if (user === undefined) return undefined
  if (status.uid !== user) return `the state folder ${folder} belongs to somebody else`
  return (status.mode & 0o022) === 0
    ? undefined
    : `others can write to the state folder ${folder}; mend it with: chmod 700 ${folder}`
}

function refuseUntrusted({ terminal, io }: CommandInput, { file }: ConfigLocation, trust: TrustAnswer): 2 {
  const changes = trust.kind === 'changed' ? trust.changes.map(({ path, what }) => `${what}: ${path}`) : []
  const message =
    trust.kind === 'changed'
      ? `${file} is not trusted any more: what it was trusted with has changed`
      : `${file} was found in ${io.cwd} and is not trusted`
  return terminal.fail('configuration', message, [
    ...changes,
    'it can start programs: read it, then run `lockgate trust`, or name it with `--config`',
  ])
}
