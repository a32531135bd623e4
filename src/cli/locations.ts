// Where things are: the configuration that a command works with, and the folder that keeps the state of it. Which of
// these counts as the operator's own word is decided here; nothing is read but names.

import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { sha256 } from '../base/digest.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/**
 * How the configuration was come by. `named`: by `--config` or LOCKGATE_CONFIG; `user`: in the user's own configuration
 * folder. Both are the operator's word. `found`: it lies in the working directory, and anybody may have put it there.
 */
export type ConfigLocation = { readonly file: string; readonly by: 'named' | 'user' | 'found' }

export const CONFIG_NAME = 'lockgate.yaml'

/** The configuration of a command; a list of the places that were looked at where there is none. */
export function locateConfig(
  named: string | undefined,
  cwd: string,
  variables: Variables,
): ConfigLocation | { readonly looked: readonly string[] } {
  const given = named ?? filled(variables, 'LOCKGATE_CONFIG')
  if (given !== undefined) return { file: resolve(cwd, given), by: 'named' }
  const here = join(cwd, CONFIG_NAME)
  if (existsSync(here)) return { file: here, by: 'found' }
  const own = join(baseFolder(variables, 'XDG_CONFIG_HOME', '.config'), 'lockgate', CONFIG_NAME)
  return existsSync(own) ? { file: own, by: 'user' } : { looked: [here, own] }
}

/** Rules that hold for every configuration: those of the machine, and those of the user. */
export type OperatorPolicies = {
  readonly system: string
  /** The operator has named it, so that it has to be there. */
  readonly systemNamed: boolean
  readonly user: string
}

const POLICY_NAME = 'policy.yaml'

export function operatorPolicies(cwd: string, variables: Variables): OperatorPolicies {
  const named = filled(variables, 'LOCKGATE_SYSTEM_POLICY')
  return {
    system: named === undefined ? join('/etc/lockgate', POLICY_NAME) : resolve(cwd, named),
    systemNamed: named !== undefined,
    user: join(baseFolder(variables, 'XDG_CONFIG_HOME', '.config'), 'lockgate', POLICY_NAME),
  }
}

/** The folder of all state: LOCKGATE_STATE, or `lockgate` in the user's state folder. */
export function stateRoot(cwd: string, variables: Variables): string {
  const given = filled(variables, 'LOCKGATE_STATE')
  return given === undefined
    ? join(baseFolder(variables, 'XDG_STATE_HOME', join('.local', 'state')), 'lockgate')
    : resolve(cwd, given)
}

/** The folder of one configuration below the root: a name that a person recognises, and the digest of its path. */
export function stateFolderOf(root: string, configFile: string): string {
  const path = realpathSync(configFile)
  const slug = basename(dirname(path))
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .slice(0, 32)
  return join(root, `${slug === '' ? 'root' : slug}-${sha256(path).slice(0, 16)}`)
}

/** The root folders that a folder lies in, of those given. A tool that reaches the root could reach the folder. */
export const foldersAround = (folder: string, roots: readonly string[]): readonly string[] =>
  roots.filter((root) => folder === root || folder.startsWith(root.endsWith(sep) ? root : root + sep))

// The XDG Base Directory Specification has relative paths ignored.
function baseFolder(variables: Variables, name: string, fallback: string): string {
  const given = filled(variables, name)
  return given !== undefined && isAbsolute(given) ? given : join(filled(variables, 'HOME') ?? homedir(), fallback)
}

const filled = (variables: Variables, name: string): string | undefined => variables[name] || undefined
