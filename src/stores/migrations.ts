// The tables of the SQLite store, as numbered steps that only go forward. A file of a newer version than this code knows,
// or one that is some other program's database, is refused and left as it is.

import type { SqlDatabase } from './sqlite-driver.ts'
import { asBytes, textOf } from './sqlite-values.ts'

export const FIRST_TABLES = `
CREATE TABLE records (
  id INTEGER PRIMARY KEY,           -- the order of writing, over all chains
  chain TEXT NOT NULL,              -- one for each opening of the store
  seq INTEGER NOT NULL,             -- 1, 2, 3, ... in its chain
  kind TEXT NOT NULL,               -- gate, intent, end, late, reconciled, approval, grant, stop
  at INTEGER NOT NULL,              -- milliseconds since the Unix epoch
  call_id TEXT,
  body TEXT NOT NULL,               -- JSON
  body_digest TEXT NOT NULL,        -- SHA-256 of body
  hash TEXT NOT NULL,               -- SHA-256 over the hash before and this row; see src/base/hash-chain.ts
  UNIQUE (chain, seq)
) STRICT;
CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  state TEXT NOT NULL,              -- open, approved, declined, redeemed
  tenant TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
  tool TEXT NOT NULL, fingerprint TEXT NOT NULL, effect TEXT NOT NULL, policy_version TEXT NOT NULL,
  reason TEXT NOT NULL,
  shown TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  answered_at INTEGER,
  answered_by TEXT,
  comment TEXT,
  redeemed_by TEXT                  -- the call that used it up
) STRICT;
CREATE INDEX approvals_by_digest ON approvals (digest);
CREATE INDEX approvals_by_state ON approvals (state, opened_at);
CREATE TABLE open_intents (
  call_id TEXT PRIMARY KEY,
  chain TEXT NOT NULL,              -- where the intent's record stands
  owner TEXT NOT NULL,              -- the owner that answers for it now
  tool TEXT NOT NULL,
  effect TEXT NOT NULL,
  arguments_text TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE owners (
  chain TEXT PRIMARY KEY,
  host TEXT NOT NULL,               -- empty where processes cannot be told apart
  pid INTEGER NOT NULL,
  started TEXT NOT NULL,            -- when the process began, in the host's own count
  lease_until INTEGER NOT NULL,     -- milliseconds since the Unix epoch
  lease_uptime INTEGER NOT NULL,    -- the same in milliseconds of the host's monotonic clock
  closed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE images (
  starts_at INTEGER PRIMARY KEY,    -- bytes of all changes before this one
  bytes INTEGER NOT NULL,
  call_id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL,
  at INTEGER NOT NULL,
  tool TEXT NOT NULL
) STRICT;
CREATE TABLE image_files (
  image INTEGER NOT NULL,           -- images.starts_at
  position INTEGER NOT NULL,
  path TEXT NOT NULL,
  existed INTEGER NOT NULL,         -- 0: the file was not there before
  before BLOB,                      -- NULL besides for an empty file
  after_hash TEXT,                  -- NULL: the file is gone after the change
  mode INTEGER,
  PRIMARY KEY (image, position)
) STRICT;
`

/** Columns that older rows, and programs of the version before, leave empty. */
const GRANTS_AND_STOPS = `
ALTER TABLE approvals ADD COLUMN workspace TEXT;
ALTER TABLE approvals ADD COLUMN task TEXT;
ALTER TABLE approvals ADD COLUMN asked_by TEXT;         -- JSON: the rules and defaults that asked
ALTER TABLE approvals ADD COLUMN offers TEXT;           -- JSON: what the person may choose from
ALTER TABLE approvals ADD COLUMN proof TEXT;            -- digest of the code that a yes has to bring
ALTER TABLE approvals ADD COLUMN proof_failures INTEGER;
ALTER TABLE approvals ADD COLUMN reach TEXT;            -- once, session, pattern
ALTER TABLE approvals ADD COLUMN client_asserted INTEGER;
CREATE TABLE grants (
  id TEXT PRIMARY KEY,
  approval_id TEXT NOT NULL,
  reach TEXT NOT NULL,              -- session, pattern
  tenant TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL,
  session TEXT,                     -- NULL: every session of the principal
  workspace TEXT NOT NULL,
  task TEXT,
  tool TEXT NOT NULL, fingerprint TEXT NOT NULL, effect TEXT NOT NULL,
  covers TEXT,                      -- JSON: argument name to globs; NULL: whatever the arguments are
  only_named INTEGER NOT NULL,      -- 1: no argument that covers does not name
  policy_version TEXT NOT NULL,
  asked_by TEXT NOT NULL,           -- JSON: the rules and defaults that it answers
  shown TEXT NOT NULL,
  granted_by TEXT NOT NULL,
  granted_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  revoked_by TEXT
) STRICT;
CREATE INDEX grants_by_tool ON grants (tool, expires_at);
CREATE TABLE stops (
  id TEXT PRIMARY KEY,
  tool TEXT, source TEXT, session TEXT,   -- all NULL: everything
  stopped_by TEXT NOT NULL,
  at INTEGER NOT NULL,
  reason TEXT
) STRICT;
CREATE TABLE desk_changes (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  count INTEGER NOT NULL            -- of changes to approvals, grants and stops, whoever makes them
) STRICT;
INSERT INTO desk_changes VALUES (1, 0);
${['approvals', 'grants', 'stops']
  .flatMap((table) =>
    ['INSERT', 'UPDATE', 'DELETE'].map(
      (event) => `CREATE TRIGGER ${table}_${event.toLowerCase()} AFTER ${event} ON ${table} BEGIN
  UPDATE desk_changes SET count = count + 1;
END;`,
    ),
  )
  .join('\n')}
`

const JOURNAL = `
CREATE TABLE journal (
  tenant TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL, tool TEXT NOT NULL,
  key TEXT NOT NULL,                -- what the caller gave
  digest TEXT NOT NULL,             -- SHA-256 of the tool's fingerprint and the canonical arguments
  state TEXT NOT NULL,              -- running, done, unknown; a key that is free has no row
  call_id TEXT NOT NULL,            -- the call that has the key, or had it last
  claimed_at INTEGER NOT NULL,
  ended_at INTEGER,
  answer TEXT,                      -- JSON, of a call that is done; NULL: lost, or too large to keep
  UNIQUE (tenant, user, agent, tool, key)
) STRICT;
CREATE INDEX journal_by_call ON journal (call_id);
CREATE INDEX journal_done ON journal (ended_at) WHERE state = 'done';
ALTER TABLE open_intents ADD COLUMN journal TEXT;   -- JSON: the key that the call has claimed
ALTER TABLE open_intents ADD COLUMN twin TEXT;      -- digest of who asked for what; equal calls have equal ones
`

const SUBJECTS = `
CREATE TABLE subjects (
  id TEXT PRIMARY KEY,              -- what records say in the place of a person; random
  tenant TEXT NOT NULL, user TEXT NOT NULL,
  key BLOB NOT NULL,                -- AES-256; destroyed by an erasure
  wrapped INTEGER NOT NULL,         -- 1: encrypted with the operator's own key
  UNIQUE (tenant, user)
) STRICT;
CREATE TABLE sealing (
  name TEXT PRIMARY KEY,            -- store_key, audit_key_check, erasures
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
ALTER TABLE records ADD COLUMN subject TEXT;    -- whose key sealed the body; only to find rows by
ALTER TABLE records ADD COLUMN session INTEGER; -- a keyed digest of the session; likewise
ALTER TABLE journal ADD COLUMN subject TEXT;    -- whose key sealed the answer
`

const ARTIFACTS = `
CREATE TABLE artifacts (
  place INTEGER PRIMARY KEY,        -- the order of being kept; the lowest go first
  id TEXT NOT NULL UNIQUE,
  digest TEXT NOT NULL,             -- SHA-256 of the content
  tenant TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL,
  call_id TEXT NOT NULL,            -- whose result it is
  session TEXT NOT NULL, tool TEXT NOT NULL, fingerprint TEXT NOT NULL, policy_version TEXT NOT NULL,
  approved INTEGER NOT NULL,        -- 1: a person's answer, or a grant of one, let the call happen
  media_type TEXT NOT NULL,
  subject TEXT,                     -- whose key sealed arguments and content; NULL: they are as they were
  bytes INTEGER NOT NULL,           -- of the content before it was sealed
  at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  arguments BLOB NOT NULL           -- canonical, of the call
) STRICT;
CREATE INDEX artifacts_sizes ON artifacts (tenant, user, agent, bytes);
CREATE INDEX artifacts_by_end ON artifacts (expires_at);
CREATE TABLE artifact_contents (
  place INTEGER PRIMARY KEY,        -- artifacts.place
  content BLOB NOT NULL
) STRICT;
`

const MIGRATIONS: readonly string[] = [FIRST_TABLES, GRANTS_AND_STOPS, JOURNAL, SUBJECTS, ARTIFACTS]

export const SCHEMA_VERSION = MIGRATIONS.length

/** Why a file may not be used; undefined where it may. Changes nothing in it. */
export function refusalOf(database: SqlDatabase): string | undefined {
  const seen = versionOf(database)
  if (seen === undefined) return 'the file is a database of another program'
  if (seen <= SCHEMA_VERSION) return undefined
  return `the file has schema version ${seen}, and this version of lockgate knows ${SCHEMA_VERSION}: use a newer one`
}

/** Brings a file to `SCHEMA_VERSION` in one transaction; of several processes that start at once, one does the work. */
export function migrate(database: SqlDatabase): void {
  if (versionOf(database) === SCHEMA_VERSION) return
  database.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have been first while this one waited for the lock.
    for (const step of MIGRATIONS.slice(versionOf(database) ?? 0)) database.exec(step)
    database.exec('CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID')
    database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(['schema_version', String(SCHEMA_VERSION)])
    database.exec('COMMIT')
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}

/** 0 for an empty file; undefined for tables that are not ours. */
function versionOf(database: SqlDatabase): number | undefined {
  const tables = database.prepare(`SELECT ${asBytes('name')} FROM sqlite_master WHERE type = 'table'`).all([])
  if (tables.length === 0) return 0
  if (!tables.some((row) => textOf(row, 'name') === 'meta')) return undefined
  const [row] = database.prepare(`SELECT ${asBytes('value')} FROM meta WHERE key = 'schema_version'`).all([])
  const version = row === undefined ? Number.NaN : Number(textOf(row, 'value'))
  return Number.isInteger(version) && version > 0 ? version : undefined
}
