// Opens the file of the SQLite store: a folder and a file that only their owner may read, write-ahead logging, and commits
// that reach the disk before they return. Several processes may share the file; a lock is waited for, with a bound.

import { closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { migrate, refusalOf } from './migrations.ts'
import { findDriver, isBusyError, type SqlDatabase } from './sqlite-driver.ts'

/** How long a statement waits for another process's lock before it fails. */
const BUSY_TIMEOUT_MS = 5_000

/** The log is moved into the file when it has so many pages of 4 KiB, and is not left much longer than that. */
const LOG_PAGES = 1_000
const LOG_BYTES_MAX = 8 * 1024 * 1024

export type DatabaseOpened =
  | { readonly kind: 'ok'; readonly database: SqlDatabase }
  | { readonly kind: 'failed'; readonly reason: string }

/** `file`: an absolute path. Everything that goes wrong is an answer. */
export async function openDatabase(file: string): Promise<DatabaseOpened> {
  const found = await findDriver()
  if (found.kind === 'failed') return found
  let database: SqlDatabase | undefined
  try {
    makePrivate(file)
    database = found.driver.open(file)
    database.prepare(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`).all([])
    const refusal = refusalOf(database)
    if (refusal !== undefined) return unusable(file, refusal, database)
    configure(database)
    migrate(database)
    return { kind: 'ok', database }
  } catch (error) {
    return unusable(file, error instanceof Error ? error.message : String(error), database)
  }
}

/**
 * Gives the log its full length on disk. A commit that makes a file longer has its length to sync too, and takes nearly
 * twice as long as one that writes over what is there. A large write that is taken back does it, and leaves nothing.
 */
export function lengthenLog(database: SqlDatabase, file: string): void {
  const bytes = LOG_PAGES * 4_096
  if (statSync(`${file}-wal`).size >= bytes) return
  const large = database.prepare('INSERT INTO meta VALUES (?, CAST(zeroblob(?) AS TEXT))')
  database.exec('BEGIN IMMEDIATE')
  // So that the pages go to the log and not into memory.
  database.prepare('PRAGMA cache_size = 10').all([])
  try {
    large.run(['log', bytes])
  } finally {
    database.exec('ROLLBACK')
    database.prepare('PRAGMA cache_size = -2000').all([])
  }
}

function unusable(file: string, why: string, database: SqlDatabase | undefined): DatabaseOpened {
  database?.close()
  return { kind: 'failed', reason: `cannot use \`${file}\`: ${why}` }
}

/** SQLite gives its log and index files the permissions of the file itself, so that one is made first. */
function makePrivate(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a+', 0o600))
}

function configure(database: SqlDatabase): void {
  useWriteAheadLog(database)
  database.prepare('PRAGMA synchronous = FULL').all([])
  // Arguments of open intents stand here readable until the call ends, and an erasure finds only rows that are still there.
  database.prepare('PRAGMA secure_delete = ON').all([])
  database.prepare(`PRAGMA wal_autocheckpoint = ${LOG_PAGES}`).all([])
  database.prepare(`PRAGMA journal_size_limit = ${LOG_BYTES_MAX}`).all([])
}

/** Two processes that open a new file together cannot both switch it, and SQLite does not wait here by itself. */
function useWriteAheadLog(database: SqlDatabase): void {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  const until = performance.now() + BUSY_TIMEOUT_MS
  for (;;) {
    try {
      database.prepare('PRAGMA journal_mode = WAL').all([])
      return
    } catch (error) {
      if (!isBusyError(error) || performance.now() >= until) throw error
      Atomics.wait(pause, 0, 0, 5)
    }
  }
}
