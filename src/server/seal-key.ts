// The key with which states are sealed, in a file of the state folder that only its owner can read. It is made once, so that
// a restart between a question and its answer loses nothing. A file that does not hold is replaced, never used: states that
// were sealed with it are then foreign, and their calls are asked about again.

import { randomBytes } from 'node:crypto'
import { lstat, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SEAL_KEY_BYTES } from './sealed-state.ts'
import { writePrivateOnce } from './write-private.ts'

const FILE = 'seal-key'

/** The key of this state folder, 32 bytes. */
export async function sealKey(folder: string): Promise<Uint8Array> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, FILE)
  const kept = await readKey(file)
  if (kept.kind === 'ok') return kept.key
  if (kept.kind === 'unfit') await rm(file, { force: true })
  // Of several processes that start at once, all take the key of the first.
  await writePrivateOnce(file, `${randomBytes(SEAL_KEY_BYTES).toString('base64url')}\n`)
  const made = await readKey(file)
  if (made.kind === 'ok') return made.key
  throw new Error(`the key ${file} cannot be kept`)
}

type KeyRead =
  | { readonly kind: 'ok'; readonly key: Uint8Array }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unfit' }

/** `unfit`: no file of ours, for it is a link, another's, one that others can read, or of another length. */
async function readKey(file: string): Promise<KeyRead> {
  const status = await lstat(file).catch(() => undefined)
  if (status === undefined) return { kind: 'missing' }
  const user = process.getuid?.()
  const isOurs = user === undefined || (status.uid === user && (status.mode & 0o077) === 0)
  if (!status.isFile() || !isOurs) return { kind: 'unfit' }
  const key = Buffer.from((await readFile(file, 'utf8')).trim(), 'base64url')
  return key.length === SEAL_KEY_BYTES ? { kind: 'ok', key } : { kind: 'unfit' }
}
