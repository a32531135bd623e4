// Follows what a configuration refers to: folders, rule files, modules, the database. A reference that leads nowhere is an
// error at the place where it is written. Nothing is run and nothing is created.

import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import { didYouMean } from '../../base/did-you-mean.ts'
import { type ConfigFile, digestFile, errorCode } from './config-file.ts'
import { type NodeProblem, quoted } from './config-node.ts'
import type { LockgateConfig } from './lockgate-config.ts'
import type { Located } from './source-shape.ts'

/** Where relative paths start, and where problems go. */
export type References = { readonly folder: string; readonly report: (problem: NodeProblem) => void }

const refuse = ({ at, key }: Located<unknown>, { report }: References, message: string): undefined => {
  report({ at, key, message })
  return undefined
}

/** The absolute path of what is written, whether or not it exists. */
export function absolutePath(written: Located<string>, references: References): string | undefined {
  if (/^~(\/|$)/.test(written.value)) return refuse(written, references, '`~` stands for nothing here; write `${HOME}`')
  return resolve(references.folder, written.value)
}

/** An existing folder, without links. */
export const existingFolder = (written: Located<string>, references: References): string | undefined =>
  existing(written, references, 'folder')

/** An existing regular file. */
export const existingFile = (written: Located<string>, references: References): string | undefined =>
  existing(written, references, 'file')

/** An existing file or folder, as it is written: what a link there leads to is for whoever opens it. */
export function existingPath(written: Located<string>, references: References): string | undefined {
  const absolute = absolutePath(written, references)
  if (absolute === undefined || existsSync(absolute)) return absolute
  return refuse(written, references, `expected the path of a file or folder, got ${quoted(written.value)} (ENOENT)`)
}

function existing(written: Located<string>, references: References, what: 'file' | 'folder'): string | undefined {
  const absolute = absolutePath(written, references)
  if (absolute === undefined) return undefined
  try {
    const status = statSync(absolute)
    if (what === 'file' ? status.isFile() : status.isDirectory())
      return what === 'file' ? absolute : realpathSync(absolute)
    return refuse(
      written,
      references,
      `expected the path of a ${what}, got ${quoted(written.value)}, which is something else`,
    )
  } catch (error) {
    return refuse(
      written,
      references,
      `expected the path of a ${what}, got ${quoted(written.value)} (${errorCode(error)})`,
    )
  }
}

/** `sqlite`, `memory`, or the path of a database in a folder that exists. */
export function storeOf(
  written: Located<string> | undefined,
  references: References,
): LockgateConfig['store'] | undefined {
  if (written === undefined || written.value === 'sqlite') return { kind: 'state' }
  if (written.value === 'memory') return { kind: 'memory' }
  if (!/[./]/.test(written.value) || written.value.includes('://')) {
    const near = didYouMean(written.value, ['sqlite', 'memory'])
    const hint = near === undefined ? '' : `; did you mean \`${near}\`?`
    return refuse(
      written,
      references,
      `expected \`sqlite\`, \`memory\` or a path such as \`./lockgate.db\`, got ${quoted(written.value)}${hint}`,
    )
  }
  const file = absolutePath(written, references)
  if (file === undefined) return undefined
  if (existsSync(dirname(file))) return { kind: 'sqlite', file }
  return refuse(written, references, `the folder of the database ${quoted(written.value)} does not exist`)
}

/** `127.0.0.1:7420`, `localhost:0`, `[::1]:7420`. */
export function listenOf(
  written: Located<string> | undefined,
  references: References,
): LockgateConfig['listen'] | undefined {
  if (written === undefined) return { host: '127.0.0.1', port: 7420 }
  const listen = parseListen(written.value)
  return (
    listen ??
    refuse(written, references, `expected \`HOST:PORT\`, such as \`127.0.0.1:7420\`, got ${quoted(written.value)}`)
  )
}

export function parseListen(text: string): LockgateConfig['listen'] | undefined {
  const parts = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text)
  const host = parts?.[1] ?? parts?.[2]
  const port = Number(parts?.[3])
  return host === undefined || !(port <= 65_535) ? undefined : { host, port }
}

// These hold data that changes while a server runs; a program is never kept in one.
const DATA = /\.(db|sqlite|sqlite3|duckdb|log|jsonl)$/i

/**
 * The files that a launch line names: the program where it is a path, and arguments that are paths of existing files.
 * Only those under one of the folders, for a tool or a changed checkout could put other text there; the rest is the machine's.
 */
export function launchFiles(
  launch: { command: string; args: readonly string[]; cwd: string },
  folders: readonly string[],
): readonly string[] {
  const named = [...(launch.command.includes('/') ? [launch.command] : []), ...launch.args]
  return named
    .filter((text) => text !== '' && !text.startsWith('-') && text.length < 4_096 && !text.includes('\0'))
    .map((text) => resolve(launch.cwd, text))
    .filter((file) =>
      folders.some((folder) => realPath(file)?.startsWith(folder + sep) || file.startsWith(folder + sep)),
    )
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true)
}

const realPath = (path: string): string | undefined => {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** What `trust` records of them. A data file that a server is handed may change; it is out of reach of tools all the same. */
export const programDigests = (files: readonly string[]): readonly ConfigFile[] =>
  files
    .filter((file) => !DATA.test(file))
    .map(digestFile)
    .filter((file) => file !== undefined)

/** A file under the name that was written and under the one without links. */
export const bothNames = (file: string): readonly string[] => [...new Set([file, realPath(file) ?? file])]
