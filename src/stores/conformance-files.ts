// Files for the tests of the SQLite store: a folder of their own that goes afterwards, the store on it, and a connection
// beside the store, to look at what it wrote or to change it behind its back.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach } from 'vitest'
import { systemClock } from '../base/clock.ts'
import type { IntentDraft, RecordDraft, Store } from '../observe/store.ts'
import { findDriver, type SqlDatabase } from './sqlite-driver.ts'
import { SqliteProof } from './sqlite-proof.ts'
import { SqliteRecords } from './sqlite-records.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { SubjectKeys } from './subject-keys.ts'

export class StoreFiles {
  readonly root = mkdtempSync(join(tmpdir(), 'lockgate-store-'))
  #files = 0
  /** Another one for each test; nothing is there yet. */
  file = ''

  constructor() {
    beforeEach(() => {
      this.file = this.next()
    })
    afterAll(() => rmSync(this.root, { recursive: true, force: true }))
  }

  next(): string {
    this.#files += 1
    return join(this.root, `state-${this.#files}`, 'lockgate.db')
  }

  async open(file = this.file): Promise<Store> {
    const opened = await openSqliteStore({ file, clock: systemClock })
    if (opened.kind === 'failed') throw new Error(opened.reason)
    return opened.store
  }

  async connect(file = this.file): Promise<SqlDatabase> {
    const found = await findDriver()
    if (found.kind === 'failed') throw new Error(found.reason)
    const database = found.driver.open(file)
    database.exec('PRAGMA busy_timeout = 5000')
    return database
  }
}

/** What a store reads records with, on a file that somebody has changed. */
export function readerOf(database: SqlDatabase): Pick<Store, 'chains' | 'recordCount' | 'records' | 'held'> {
  const table = new SqliteRecords(database, 'reader', new SubjectKeys(database), true)
  const proof = new SqliteProof(database)
  return {
    chains: async () => table.chains(),
    recordCount: async () => table.count(),
    records: async (query) => table.query(query),
    held: async (stretch) => proof.held(stretch),
  }
}

/** Polls, with a bound. */
export async function until(condition: () => unknown): Promise<void> {
  const end = performance.now() + 15_000
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('what was waited for did not come')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export const rowOf = (callId: string, body = '{}'): RecordDraft => ({
  kind: 'end',
  at: 1_700_000_000_000,
  callId,
  body,
})

export const intentOf = (callId: string): IntentDraft => ({
  ...{ callId, tool: 'write_file', effect: 'write', argumentsText: '{"path":"a"}' },
  record: { kind: 'intent', at: 1_700_000_000_000, callId, body: '{"tool":"write_file"}' },
})
