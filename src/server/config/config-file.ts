// Reads one configuration file into memory, bounded, once: what is parsed, digested and trusted are the same bytes.

import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { sha256 } from '../../base/digest.ts'

const BYTES_MAX = 1_048_576

export type ConfigFile = {
  /** The path without links. */
  readonly path: string
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly digest: string
}

export type FileText =
  | { readonly kind: 'ok'; readonly file: ConfigFile; readonly text: string }
  | { readonly kind: 'bad'; readonly reason: string }

/** A regular file of at most 1 MiB, as UTF-8 text. */
export function readConfigFile(path: string): FileText {
  const read = readBytes(path)
  if (read.kind === 'bad') return read
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(read.bytes)
    return { kind: 'ok', file: { path: read.path, digest: sha256(read.bytes) }, text }
  } catch {
    return { kind: 'bad', reason: 'the file is not valid UTF-8' }
  }
}

/** The digest of a file of any size, e.g. of a program. Undefined where it cannot be read. */
export function digestFile(path: string): ConfigFile | undefined {
  const read = readBytes(path, Number.MAX_SAFE_INTEGER)
  return read.kind === 'bad' ? undefined : { path: read.path, digest: sha256(read.bytes) }
}

type Bytes =
  | { readonly kind: 'ok'; readonly path: string; readonly bytes: Uint8Array }
  | { readonly kind: 'bad'; readonly reason: string }

function readBytes(path: string, bytesMax = BYTES_MAX): Bytes {
  let descriptor: number | undefined
  try {
    // Without O_NONBLOCK a pipe that stands in the place of the file would hold the start for ever.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const status = fstatSync(descriptor)
    if (!status.isFile()) return { kind: 'bad', reason: 'this is not a regular file' }
    if (status.size > bytesMax) return { kind: 'bad', reason: `the file is larger than ${bytesMax} bytes` }
    const bytes = Buffer.alloc(status.size)
    let length = 0
    for (let count = 1; count > 0 && length < bytes.length; length += count)
      count = readSync(descriptor, bytes, length, bytes.length - length, null)
    return { kind: 'ok', path: realpathSync(path), bytes: bytes.subarray(0, length) }
  } catch (error) {
    return { kind: 'bad', reason: `the file cannot be read (${errorCode(error)})` }
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** `ENOENT`, `EACCES` and the like. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : String(error)
