// The kill switch. What is stopped stands in the store, for every process on the same database and over restarts; each gate
// keeps the list in memory and hears of changes. An empty list costs a call one look at its length.

import { randomUUID } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { errorText } from '../base/error-text.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import type { StopRow, StopTarget, Store } from '../observe/store.ts'
import type { LogEntry } from './gate-options.ts'

export type GateStopsParts = {
  readonly store: Pick<Store, 'stops' | 'stop' | 'lift'>
  readonly clock: Clock
  readonly log: (entry: LogEntry) => void
  /** Told after the list has changed, whoever changed it. */
  readonly changed: (rows: readonly StopRow[]) => void
}

const KEYS = ['tool', 'source', 'session'] as const
const TEXT_MAX = 256

export class GateStops {
  readonly #parts: GateStopsParts
  #rows: readonly StopRow[] = []
  /** On their way to the store. A list that was read before they stood there does not lift them. */
  readonly #writing = new Set<StopRow>()
  #reading: Promise<void> = Promise.resolve()

  constructor(parts: GateStopsParts) {
    this.#parts = parts
  }

  rows(): readonly StopRow[] {
    return this.#rows
  }

  /** What stops this caller's use of a tool now. */
  find(caller: Caller, entry: Entry): StopRow | undefined {
    if (this.#rows.length === 0) return undefined
    return this.#rows.find(({ target }) => concerns(target, caller, entry))
  }

  /** Reads the list anew, one reading after the other: what was read first never covers what was read later. */
  refresh(): Promise<void> {
    return this.#refresh()
  }

  /** The same, for a change that somebody else made: the list stays as it is where it cannot be read. */
  async lookAgain(): Promise<void> {
    try {
      await this.refresh()
    } catch (error) {
      const details = { error: errorText(error) }
      this.#parts.log({ level: 'error', message: 'what is stopped could not be read', details })
    }
  }

  /** Throws TypeError for a target that is none. */
  async stop(target: StopTarget, { by, reason }: { by: string; reason?: string }): Promise<StopRow> {
    const { clock, store } = this.#parts
    const checked = checkTarget(target)
    const at = Math.trunc(clock.now())
    const row: StopRow = Object.freeze({
      id: `stop_${randomUUID()}`,
      target: checked,
      by: checkText('by', by),
      at,
      ...(reason === undefined ? {} : { reason: checkText('reason', reason) }),
    })
    // It holds in this process before it is written: nothing starts while the row is on its way.
    this.#writing.add(row)
    this.#set([...this.#rows, row])
    try {
      await store.stop(row, {
        kind: 'stop',
        at,
        callId: null,
        body: JSON.stringify({ stop: row.id, ...row, id: undefined }),
      })
    } catch (error) {
      this.#writing.delete(row)
      throw error
    }
    await this.#refresh(row)
    return row
  }

  async lift(id: string, by: string): Promise<boolean> {
    const { clock, store } = this.#parts
    const at = Math.trunc(clock.now())
    const body = JSON.stringify({ lifted: id, by: checkText('by', by) })
    const lifted = await store.lift(id, { kind: 'stop', at, callId: null, body })
    await this.refresh()
    return lifted
  }

  /** `written`: a row that the list has from now on, unless somebody has lifted it already. */
  #refresh(written?: StopRow): Promise<void> {
    const read = (): Promise<void> => {
      if (written !== undefined) this.#writing.delete(written)
      return this.#read()
    }
    this.#reading = this.#reading.then(read, read)
    return this.#reading
  }

  async #read(): Promise<void> {
    const rows = await this.#parts.store.stops()
    const known = new Set(rows.map(({ id }) => id))
    this.#set([...rows, ...[...this.#writing].filter(({ id }) => !known.has(id))])
  }

  #set(rows: readonly StopRow[]): void {
    const same = rows.length === this.#rows.length && rows.every((row) => this.#rows.some(({ id }) => id === row.id))
    this.#rows = rows
    if (!same) this.#parts.changed(rows)
  }
}

/** All keys must hold, and none at all is everything. A session counts for whoever works for it too. */
function concerns({ tool, source, session }: StopTarget, caller: Caller, entry: Entry): boolean {
  if (tool !== undefined && tool !== entry.tool.name) return false
  if (source !== undefined && source !== entry.source) return false
  if (session === undefined) return true
  for (let one: Caller | undefined = caller; one !== undefined; one = one.parent)
    if (one.session === session) return true
  return false
}

/** The denial of what is stopped: it names no operator and no reason, for models read it. */
export function stoppedDecision({ target }: StopRow, policyVersion: string): Decision {
  const what = KEYS.filter((key) => target[key] !== undefined).map((key) => `this ${key}`)
  return Object.freeze({
    kind: 'deny',
    by: 'stop',
    reason: `the operator has stopped ${what.length === 0 ? 'everything' : what.join(' of ')}; do not try again until they say so`,
    policyVersion,
  })
}

// INVARIANT closed: a key that is misspelt or empty would leave out what it was meant to narrow, or stop nothing at all.
function checkTarget(target: unknown): StopTarget {
  if (typeof target !== 'object' || target === null || Array.isArray(target))
    throw new TypeError('a stop needs a target; `{}` is everything')
  const given = Object.entries(target).filter(([, value]) => value !== undefined)
  const unknown = given.find(([key]) => !KEYS.some((known) => known === key))
  if (unknown !== undefined)
    throw new TypeError(`\`${unknown[0]}\` is nothing that can be stopped; known: ${KEYS.join(', ')}`)
  return Object.freeze(Object.fromEntries(given.map(([key, value]) => [key, checkText(key, value)])))
}

function checkText(key: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '' || value.length > TEXT_MAX)
    throw new TypeError(`\`${key}\`: expected a text of 1 to ${TEXT_MAX} characters`)
  return value
}
