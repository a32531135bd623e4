// Which configurations the operator has looked at: for each, the digest of the file and of every file that it refers to.
// A configuration that was merely found runs nothing until it stands here, and one changed byte takes it out again.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ConfigFile } from '../server/config/config-file.ts'

export type TrustAnswer =
  | { readonly kind: 'trusted' }
  | { readonly kind: 'unknown' }
  /** Absolute paths, and what happened to each since. */
  | {
      readonly kind: 'changed'
      readonly changes: readonly { readonly path: string; readonly what: 'changed' | 'new' | 'gone' }[]
    }

type Recorded = ReadonlyMap<string, ReadonlyMap<string, string>>

export const trustFile = (stateRoot: string): string => join(stateRoot, 'trust.json')

/** Compares what was read with what was recorded. `files` starts with the configuration itself. */
export function checkTrust(stateRoot: string, files: readonly ConfigFile[]): TrustAnswer {
  const recorded = readTrust(stateRoot).get(files[0]?.path ?? '')
  if (recorded === undefined) return { kind: 'unknown' }
  const now = new Map(files.map((file) => [file.path, file.digest]))
  const changes = [
    ...files
      .filter((file) => recorded.get(file.path) !== file.digest)
      .map(({ path }) => ({ path, what: recorded.has(path) ? ('changed' as const) : ('new' as const) })),
    ...[...recorded.keys()].filter((path) => !now.has(path)).map((path) => ({ path, what: 'gone' as const })),
  ]
  return changes.length === 0 ? { kind: 'trusted' } : { kind: 'changed', changes }
}

/** Records these files as looked at, in place of what was recorded for this configuration. */
export function recordTrust(stateRoot: string, files: readonly ConfigFile[]): void {
  const path = files[0]?.path
  if (path === undefined) return
  const all = new Map(readTrust(stateRoot))
  all.set(path, new Map(files.map((file) => [file.path, file.digest])))
  writeTrust(stateRoot, all)
}

function writeTrust(stateRoot: string, recorded: Recorded): void {
  const configurations = Object.fromEntries([...recorded].map(([path, files]) => [path, Object.fromEntries(files)]))
  const file = trustFile(stateRoot)
  const draft = `${file}.${process.pid}`
  mkdirSync(stateRoot, { recursive: true, mode: 0o700 })
  try {
    writeFileSync(draft, `${JSON.stringify({ version: 1, configurations }, undefined, 2)}\n`, {
      mode: 0o600,
      flag: 'wx',
    })
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** A record that cannot be read, or has another form, trusts nothing. */
function readTrust(stateRoot: string): Recorded {
  const recorded = new Map<string, ReadonlyMap<string, string>>()
  const content = parse(stateRoot)
  if (!isRecord(content) || content.version !== 1 || !isRecord(content.configurations)) return recorded
  for (const [path, files] of Object.entries(content.configurations)) {
    if (!isRecord(files)) continue
    const digests = Object.entries(files).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    recorded.set(path, new Map(digests))
  }
  return recorded
}

function parse(stateRoot: string): unknown {
  try {
    return JSON.parse(readFileSync(trustFile(stateRoot), 'utf8'))
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
