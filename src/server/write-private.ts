// Writes secrets of the state folder: whole or not at all, and never readable by anybody but their owner, not even for a
// moment.

import { randomBytes } from 'node:crypto'
import { link, open, rename, rm } from 'node:fs/promises'

/** Writes a file that only its owner can read, in place of one that may be there. */
export async function writePrivate(file: string, text: string | Uint8Array): Promise<void> {
  const temporary = await writeBeside(file, text)
  await rename(temporary, file).catch(async (error: unknown) => {
    await rm(temporary, { force: true })
    throw error
  })
}

/** The same, but leaves a file alone that is there already: of several that write at once, one wins. */
export async function writePrivateOnce(file: string, text: string | Uint8Array): Promise<void> {
  const temporary = await writeBeside(file, text)
  try {
    await link(temporary, file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    await rm(temporary, { force: true })
  }
}

async function writeBeside(file: string, text: string | Uint8Array): Promise<string> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return temporary
}
