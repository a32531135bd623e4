// Lets one process at a time change a file that several may change, so that none writes back what another has taken out
// meanwhile. It keeps nobody from reading, and a process that died with the lock keeps it for some seconds only.

import { open, rm, stat } from 'node:fs/promises'

/** Changes take milliseconds; a lock of this age was left behind. */
const LEFT_BEHIND_MS = 10_000
const TRIES_MAX = 2_000
const PAUSE_MS = 10

/** `file`: what is changed; the lock stands beside it. @throws Error where it stays locked for some 20 seconds. */
export async function withLock<Value>(file: string, change: () => Promise<Value>): Promise<Value> {
  const lock = `${file}.lock`
  for (let tries = 0; !(await take(lock)); tries++) {
    if (tries >= TRIES_MAX) throw new Error(`another process keeps changing ${file}`)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  try {
    return await change()
  } finally {
    await rm(lock, { force: true })
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    const status = await stat(lock).catch(() => undefined)
    if (status !== undefined && Date.now() - status.mtimeMs > LEFT_BEHIND_MS) await rm(lock, { force: true })
    return false
  }
}
