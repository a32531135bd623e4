// Renames and removes single entries through held directories. Nothing is ever put over something that stands there, and a
// folder is renamed as a whole, never copied. It removes regular files only.

import * as fs from 'node:fs'
import { sha256 } from '../base/digest.ts'
import { kindOf } from './rooted-canonical.ts'
import type { HeldDirectory } from './rooted-directory.ts'
import { attempt, codeOf, failureOf, type RootedFailure } from './rooted-failure.ts'
import type { OwnGuard } from './rooted-own.ts'
import { readHeld } from './rooted-read.ts'
import { isSameFile } from './rooted-write.ts'

export type Place = { readonly directory: HeldDirectory; readonly name: string }

export type Moved = { readonly kind: 'ok'; readonly what: 'file' | 'directory' }
export type Removed = { readonly kind: 'ok' }

export function moveHeld(from: Place, to: Place, own: OwnGuard): Moved | RootedFailure {
  const before = entryAt(from, own)
  if ('kind' in before) return before
  const taken = attempt(() => fs.lstatSync(to.directory.at(to.name)))
  if (!('kind' in taken)) return { kind: 'exists' }
  if (taken.kind !== 'missing') return taken
  if (!from.directory.isUnmoved() || !to.directory.isUnmoved()) return { kind: 'swapped' }
  return attempt(() => (before.isDirectory() ? moveDirectory(from, to) : moveFile(from, to, before)))
}

function moveDirectory(from: Place, to: Place): Moved | RootedFailure {
  fs.renameSync(pathOf(from), pathOf(to))
  return { kind: 'ok', what: 'directory' }
}

/** A second name first, which refuses to take the place of anything, then the old one goes. */
function moveFile(from: Place, to: Place, before: fs.BigIntStats): Moved | RootedFailure {
  try {
    fs.linkSync(pathOf(from), pathOf(to))
  } catch (error) {
    const code = codeOf(error)
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EMLINK') return failureOf(error)
    fs.renameSync(pathOf(from), pathOf(to))
    return { kind: 'ok', what: 'file' }
  }
  const linked = fs.lstatSync(pathOf(to), { bigint: true })
  const removed =
    linked.ino === before.ino && linked.dev === before.dev
      ? attempt(() => fs.unlinkSync(pathOf(from)))
      : { kind: 'swapped' as const }
  if (removed === undefined) return { kind: 'ok', what: 'file' }
  fs.unlinkSync(pathOf(to))
  return removed
}

/**
 * @param expectHash SHA-256 (hex) of the bytes that must be there.
 */
export async function removeHeld(place: Place, own: OwnGuard, expectHash: string): Promise<Removed | RootedFailure> {
  const before = entryAt(place, own)
  if ('kind' in before) return before
  if (!before.isFile()) return { kind: 'not-a-file', what: kindOf(before) }
  const read = await readHeld(place.directory, place.name, { bytesMax: Number(before.size), own })
  if (read.kind !== 'ok') return read.kind === 'too-large' ? { kind: 'stale' } : read
  if (sha256(read.bytes) !== expectHash) return { kind: 'stale' }
  return attempt(() => unlinkSame(place, before))
}

function unlinkSame(place: Place, before: fs.BigIntStats): Removed | RootedFailure {
  if (!isSameFile(before, fs.lstatSync(pathOf(place), { bigint: true }))) return { kind: 'stale' }
  if (!place.directory.isUnmoved()) return { kind: 'swapped' }
  fs.unlinkSync(pathOf(place))
  return { kind: 'ok' }
}

/** A regular file or a directory, as it stands; a link is neither, and was not one when the path was judged. */
function entryAt(place: Place, own: OwnGuard): fs.BigIntStats | RootedFailure {
  const stat = attempt(() => fs.lstatSync(pathOf(place), { bigint: true }))
  if ('kind' in stat) return stat
  if (stat.isSymbolicLink()) return { kind: 'swapped' }
  if (!stat.isFile() && !stat.isDirectory()) return { kind: 'not-a-file', what: 'other' }
  if (stat.isFile() && stat.nlink > 1n && own.isIdentity(fs.lstatSync(pathOf(place)))) return { kind: 'own' }
  return stat
}

const pathOf = ({ directory, name }: Place): string => directory.at(name)
