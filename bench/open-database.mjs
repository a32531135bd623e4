// Opens SQLite with whichever driver this Node has, as the store does.

import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

export function openDatabase(file) {
  try {
    const { DatabaseSync } = require('node:sqlite')
    return new DatabaseSync(file)
  } catch {
    const Database = require('libsql')
    return new Database(file)
  }
}
