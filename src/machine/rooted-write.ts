// Replaces or creates one file as a whole: a new file beside it, made durable, then put in its place in one step, all through
// the held directory. Whoever reads sees the old bytes or the new ones. It writes through no link, into no file that has other
// names, and over nothing that is not what the caller expects. Any failure that it returns left the old file as it was.

import * as fs from 'node:fs'
import { promisify } from 'node:util'
import { sha256 } from '../base/digest.ts'
import { kindOf } from './rooted-canonical.ts'
import { type HeldDirectory, OPEN_FLAGS } from './rooted-directory.ts'
import { attempt, codeOf, failureOf, type RootedFailure } from './rooted-failure.ts'
import type { OwnGuard } from './rooted-own.ts'
import { readHeld } from './rooted-read.ts'
import { removeSecondNames, sweepTemporaries, temporaryName } from './rooted-temporary.ts'

const AT_ONCE_BYTES_MAX = 256 * 1_024
const { O_CREAT, O_DIRECTORY, O_EXCL, O_RDONLY, O_WRONLY } = fs.constants

const synchronise = promisify(fs.fsync)
const writePiece = promisify(fs.write)

export type WriteOptions = {
  /** SHA-256 (hex) of the bytes that must be there, or null where no file may be. Absent: whatever is there. */
  readonly expectHash?: string | null
  /** Permission bits; absent: those of the file that is replaced, else the process's own. */
  readonly mode?: number
}

export type HeldWriteOptions = WriteOptions & {
  /** Asked right before the file is put in place: why it may not be, as things stand at that moment. */
  readonly lastCheck?: () => RootedFailure | undefined
}

export type Written = { readonly kind: 'ok'; readonly hash: string; readonly created: boolean }

/** What stands under the name before the write; undefined where nothing does. */
export type Standing = fs.BigIntStats | undefined

export async function writeHeld(
  directory: HeldDirectory,
  name: string,
  bytes: Uint8Array,
  own: OwnGuard,
  options: HeldWriteOptions,
): Promise<Written | RootedFailure> {
  const before = standingAt(directory, name, own)
  if (before !== undefined && 'kind' in before) return before
  const unexpected = await expectationProblem(directory, name, before, own, options.expectHash)
  if (unexpected !== undefined) return unexpected
  const temporary = temporaryName()
  // A replacement may hold what only the owner could read so far; it gets the old permissions once it is filled.
  const kept = options.mode ?? (before === undefined ? undefined : Number(before.mode & 0o777n))
  const descriptor = attempt(() =>
    fs.openSync(directory.at(temporary), O_WRONLY | O_CREAT | O_EXCL | OPEN_FLAGS, kept === undefined ? 0o666 : 0o600),
  )
  if (typeof descriptor !== 'number') return descriptor
  try {
    if (!directory.confirm(descriptor, temporary)) return { kind: 'swapped' }
    await fill(descriptor, bytes, before, kept)
    const failure = putInPlace({ directory, temporary, descriptor, name, before }, options.lastCheck)
    if (failure !== undefined) return failure
    await synchroniseDirectory(directory)
    await sweepTemporaries(directory, Date.now())
    return { kind: 'ok', hash: sha256(bytes), created: before === undefined }
  } catch (error) {
    return failureOf(error)
  } finally {
    fs.closeSync(descriptor)
    attempt(() => fs.unlinkSync(directory.at(temporary)))
  }
}

/** Only a regular file with one name may be replaced. */
function standingAt(directory: HeldDirectory, name: string, own: OwnGuard): Standing | RootedFailure {
  const stat = attempt(() => fs.lstatSync(directory.at(name), { bigint: true }))
  if ('kind' in stat) return stat.kind === 'missing' ? undefined : stat
  if (stat.isSymbolicLink()) return { kind: 'swapped' }
  if (!stat.isFile()) return { kind: 'not-a-file', what: kindOf(stat) }
  if (stat.nlink === 1n) return stat
  if (own.isIdentity(fs.lstatSync(directory.at(name)))) return { kind: 'own' }
  // A process that was killed between the two steps of `putNew` leaves a second name, which is no reason to refuse.
  return removeSecondNames(directory, stat) ? standingAt(directory, name, own) : { kind: 'shared' }
}

async function expectationProblem(
  directory: HeldDirectory,
  name: string,
  before: Standing,
  own: OwnGuard,
  expectHash: string | null | undefined,
): Promise<RootedFailure | undefined> {
  if (expectHash === undefined) return undefined
  if (expectHash === null) return before === undefined ? undefined : { kind: 'stale' }
  if (before === undefined) return { kind: 'stale' }
  const read = await readHeld(directory, name, { bytesMax: Number(before.size), own })
  if (read.kind !== 'ok') return read.kind === 'missing' || read.kind === 'too-large' ? { kind: 'stale' } : read
  return sha256(read.bytes) === expectHash ? undefined : { kind: 'stale' }
}

async function fill(descriptor: number, bytes: Uint8Array, before: Standing, mode: number | undefined): Promise<void> {
  await writeAll(descriptor, bytes)
  if (mode !== undefined) fs.fchmodSync(descriptor, mode)
  if (before !== undefined) keepOwner(descriptor, before)
  await synchronise(descriptor)
}

async function writeAll(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    if (bytes.length <= AT_ONCE_BYTES_MAX) done += fs.writeSync(descriptor, bytes, done, bytes.length - done)
    else done += (await writePiece(descriptor, bytes, done, Math.min(1_048_576, bytes.length - done))).bytesWritten
  }
}

/** Only a privileged process can keep another owner; for everybody else the new file is their own, as with any editor. */
function keepOwner(descriptor: number, before: fs.BigIntStats): void {
  const stat = fs.fstatSync(descriptor, { bigint: true })
  if (stat.uid === before.uid && stat.gid === before.gid) return
  attempt(() => fs.fchownSync(descriptor, Number(before.uid), Number(before.gid)))
}

type Filled = {
  readonly directory: HeldDirectory
  readonly temporary: string
  /** Of the file that was filled under the temporary name. */
  readonly descriptor: number
  readonly name: string
  readonly before: Standing
}

/** Looks once more, then acts at once: no other work of this process comes between the two. */
function putInPlace(filled: Filled, lastCheck: HeldWriteOptions['lastCheck']): RootedFailure | undefined {
  const { directory, temporary, name, before } = filled
  const now = attempt(() => fs.lstatSync(directory.at(name), { bigint: true }))
  const standing = 'kind' in now ? (now.kind === 'missing' ? undefined : now) : now
  if (standing !== undefined && 'kind' in standing) return standing
  if (!isSameFile(before, standing)) return { kind: 'stale' }
  if (!directory.isUnmoved()) return { kind: 'swapped' }
  const refused = lastCheck?.()
  if (refused !== undefined) return refused
  if (!isStillFilled(filled)) return { kind: 'stale' }
  if (before === undefined) return putNew(directory, temporary, name)
  fs.renameSync(directory.at(temporary), directory.at(name))
  return undefined
}

/** Whether the temporary name still stands for the bytes that were written. */
function isStillFilled({ directory, temporary, descriptor }: Filled): boolean {
  const named = attempt(() => fs.lstatSync(directory.at(temporary), { bigint: true }))
  const filled = fs.fstatSync(descriptor, { bigint: true })
  return !('kind' in named) && named.ino === filled.ino && named.dev === filled.dev && named.size === filled.size
}

/** A new name is given by linking, which refuses to take the place of anything; not all file systems can. */
function putNew(directory: HeldDirectory, temporary: string, name: string): RootedFailure | undefined {
  try {
    fs.linkSync(directory.at(temporary), directory.at(name))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST') return { kind: 'stale' }
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EMLINK') return failureOf(error)
    fs.renameSync(directory.at(temporary), directory.at(name))
    return undefined
  }
  // At once, so that a process that ends here leaves no file with two names.
  attempt(() => fs.unlinkSync(directory.at(temporary)))
  return undefined
}

/** Whether a file is still the one that was looked at: same identity, and not written since. */
export const isSameFile = (one: Standing, other: Standing): boolean =>
  one === undefined || other === undefined
    ? one === other
    : one.ino === other.ino &&
      one.dev === other.dev &&
      one.size === other.size &&
      one.mtimeNs === other.mtimeNs &&
      one.ctimeNs === other.ctimeNs

/** Makes the new name durable where the system can; the bytes are durable already. */
async function synchroniseDirectory(directory: HeldDirectory): Promise<void> {
  const descriptor = attempt(() => fs.openSync(directory.at('.'), O_RDONLY | (O_DIRECTORY ?? 0)))
  if (typeof descriptor !== 'number') return
  try {
    await synchronise(descriptor)
  } catch (error) {
    failureOf(error)
  } finally {
    fs.closeSync(descriptor)
  }
}
