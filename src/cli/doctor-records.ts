// What `doctor` says of the records of one configuration: room on the disk, the key that signs, where copies of checkpoints
// go, and whether what is personal is sealed. It looks, and writes nothing.

import { accessSync, constants, existsSync, lstatSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { AuditOptions } from '../gate-contract.ts'
import type { Finding } from './doctor-machine.ts'

const MIB = 1_048_576
/** Below this a database may come to its end within a day of much use. */
const ROOM_WARNING_BYTES = 512 * MIB
/** Below this a journal of the database itself may not fit. */
const ROOM_FLOOR_BYTES = 32 * MIB

export type RecordsParts = {
  /** The database; undefined where records are kept in memory. */
  readonly database: string | undefined
  /** The file of the key that signs; undefined where nothing is signed. */
  readonly signingKey: string | undefined
  readonly audit: AuditOptions
}

export function auditFindings({ database, signingKey, audit }: RecordsParts): readonly Finding[] {
  return [
    ...(database === undefined ? [] : [diskFinding(dirname(database)), sealingFinding(audit)]),
    ...(signingKey === undefined ? [] : [keyFinding(signingKey), ...placeFindings(audit, database)]),
  ]
}

function diskFinding(folder: string): Finding {
  const free = freeBytes(folder)
  if (free === undefined)
    return {
      name: 'disk',
      state: 'warning',
      detail: `nobody can say how much room there is in ${folder}`,
      mend: 'look at it by hand',
    }
  return roomFinding(folder, free)
}

/** While records cannot be kept, calls are refused: a full disk stops the gate. */
export function roomFinding(folder: string, freeBytes: number): Finding {
  const detail = `${Math.floor(freeBytes / MIB)} MB free in ${folder}`
  if (freeBytes >= ROOM_WARNING_BYTES) return { name: 'disk', state: 'ok', detail }
  const mend = 'make room, or let `audit.keep` and `artifacts` keep less: a full disk refuses calls'
  return { name: 'disk', state: freeBytes < ROOM_FLOOR_BYTES ? 'failed' : 'warning', detail, mend }
}

function freeBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return undefined
  }
}

function sealingFinding({ seal = true, key }: AuditOptions): Finding {
  if (!seal)
    return {
      name: 'sealing',
      state: 'warning',
      detail: 'off: what is personal stands in the records for good, and `audit erase` cannot take it out',
      mend: 'leave `audit.seal` out',
    }
  const detail =
    key === undefined
      ? 'a key for each person, in the database beside what it opens'
      : 'a key for each person, encrypted with `audit.key`'
  return { name: 'sealing', state: 'ok', detail }
}

function keyFinding(file: string): Finding {
  const name = 'signing key'
  if (!existsSync(file)) return { name, state: 'ok', detail: `${file} is made when it is needed` }
  const problem = privateFileProblem(file)
  if (problem === undefined) return { name, state: 'ok', detail: file }
  return { name, state: 'failed', detail: problem, mend: `make it a file of your own with mode 600: ${file}` }
}

/** Why a file is not its owner's alone. */
function privateFileProblem(file: string): string | undefined {
  const status = lstatSync(file)
  if (!status.isFile()) return `${file} is no regular file`
  const user = process.getuid?.()
  if (user === undefined) return undefined
  if (status.uid !== user) return `${file} belongs to somebody else`
  return (status.mode & 0o077) === 0 ? undefined : `others can get at ${file}`
}

function placeFindings({ checkpointTo = [] }: AuditOptions, database: string | undefined): readonly Finding[] {
  const name = 'checkpoints'
  if (checkpointTo.length === 0)
    return [
      {
        name,
        state: 'warning',
        detail: 'no copy goes anywhere: nobody can see that the end of the records, or all of them, are gone',
        mend: 'name a place in `audit.checkpointTo`, best on another machine or of another user',
      },
    ]
  return checkpointTo.flatMap((place): readonly Finding[] => {
    if (place === 'stderr') return [{ name, state: 'ok', detail: 'copies go to stderr' }]
    if (typeof place === 'function') return []
    return [placeFinding(place.file, database)]
  })
}

function placeFinding(file: string, database: string | undefined): Finding {
  const name = 'checkpoints'
  const target = existsSync(file) ? file : dirname(file)
  try {
    accessSync(target, constants.W_OK)
  } catch {
    return {
      name,
      state: 'failed',
      detail: `${file} cannot be written`,
      mend: `let the user of the gate write ${target}`,
    }
  }
  if (database !== undefined && dirname(database) === dirname(file))
    return {
      name,
      state: 'warning',
      detail: `copies go to ${file}, beside the database: whoever can cut the one can cut the other`,
      mend: 'name a place elsewhere in `audit.checkpointTo`',
    }
  return { name, state: 'ok', detail: `copies go to ${file}` }
}
