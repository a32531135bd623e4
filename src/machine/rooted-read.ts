// Reads one regular file through a held directory. Small files are read at once, for a hop to the thread pool costs ten times
// the read; large ones piece by piece, so that nothing else waits. It reads no directory, pipe, socket or device, and no more
// than the bound even when the file grows meanwhile.

import * as fs from 'node:fs'
import { promisify } from 'node:util'
import { kindOf } from './rooted-canonical.ts'
import { type HeldDirectory, OPEN_FLAGS } from './rooted-directory.ts'
import { attempt, failureOf, type RootedFailure } from './rooted-failure.ts'
import type { Identities, OwnGuard } from './rooted-own.ts'

const AT_ONCE_BYTES_MAX = 256 * 1_024

const readPiece = promisify(fs.read)

/** What a read needs to know beside the name. */
export type ReadBounds = { readonly bytesMax: number; readonly own: OwnGuard; readonly identities?: Identities }

export type FileRead = { readonly kind: 'ok'; readonly bytes: Buffer; readonly stat: fs.Stats }

/** An opened regular file. The caller closes the descriptor. */
export type OpenFile = { readonly kind: 'open'; readonly descriptor: number; readonly stat: fs.Stats }

export async function readHeld(
  directory: HeldDirectory,
  name: string,
  bounds: ReadBounds,
): Promise<FileRead | RootedFailure> {
  const opened = openHeld(directory, name, bounds)
  if (opened.kind !== 'open') return opened
  try {
    const { size } = opened.stat
    if (size > bounds.bytesMax) return { kind: 'too-large', bytes: size, bytesMax: bounds.bytesMax }
    const bytes =
      size <= AT_ONCE_BYTES_MAX ? readAtOnce(opened, bounds.bytesMax) : await readInPieces(opened, bounds.bytesMax)
    return Buffer.isBuffer(bytes) ? { kind: 'ok', bytes, stat: opened.stat } : bytes
  } catch (error) {
    return failureOf(error)
  } finally {
    fs.closeSync(opened.descriptor)
  }
}

/** Opens a name for reading and looks at what was opened, not at what the name says. */
function openHeld(
  directory: HeldDirectory,
  name: string,
  bounds: Omit<ReadBounds, 'bytesMax'>,
): OpenFile | RootedFailure {
  const descriptor = attempt(() => fs.openSync(directory.at(name), fs.constants.O_RDONLY | OPEN_FLAGS))
  if (typeof descriptor !== 'number') return descriptor
  const problem = attempt(() => openedProblem(directory, name, descriptor, bounds))
  if (problem.kind === 'open') return problem
  fs.closeSync(descriptor)
  return problem
}

function openedProblem(
  directory: HeldDirectory,
  name: string,
  descriptor: number,
  bounds: Omit<ReadBounds, 'bytesMax'>,
): OpenFile | RootedFailure {
  const stat = fs.fstatSync(descriptor)
  if (!stat.isFile()) return { kind: 'not-a-file', what: kindOf(stat) }
  if (!directory.confirm(descriptor, name)) return { kind: 'swapped' }
  if (stat.nlink > 1 && bounds.own.isIdentity(stat, bounds.identities)) return { kind: 'own' }
  return { kind: 'open', descriptor, stat }
}

function readAtOnce({ descriptor, stat }: OpenFile, bytesMax: number): Buffer | RootedFailure {
  let buffer: Buffer = Buffer.allocUnsafe(stat.size + 1)
  let filled = 0
  for (;;) {
    const count = fs.readSync(descriptor, buffer, filled, buffer.length - filled, null)
    if (count === 0) return buffer.subarray(0, filled)
    filled += count
    if (filled > bytesMax) return { kind: 'too-large', bytes: filled, bytesMax }
    if (filled === buffer.length) buffer = grown(buffer, filled, bytesMax)
  }
}

async function readInPieces({ descriptor, stat }: OpenFile, bytesMax: number): Promise<Buffer | RootedFailure> {
  let buffer: Buffer = Buffer.allocUnsafe(stat.size + 1)
  let filled = 0
  for (;;) {
    const length = Math.min(1_048_576, buffer.length - filled)
    const { bytesRead } = await readPiece(descriptor, buffer, filled, length, null)
    if (bytesRead === 0) return buffer.subarray(0, filled)
    filled += bytesRead
    if (filled > bytesMax) return { kind: 'too-large', bytes: filled, bytesMax }
    if (filled === buffer.length) buffer = grown(buffer, filled, bytesMax)
  }
}

/** More room for a file that grew after it was measured; one byte past the bound is enough to see that it is too large. */
function grown(buffer: Buffer, filled: number, bytesMax: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(bytesMax + 1, filled * 2 + 4_096))
  buffer.copy(larger, 0, 0, filled)
  return larger
}
