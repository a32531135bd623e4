// Answers of reads, kept to be given again, until something may have made them untrue. The life of an answer:
// 1. A read is under way: a flight. Equal reads that come meanwhile wait for it and do not run.
// 2. It lands: what came back is kept, unless a write has overlapped the read, or it cannot be kept.
// 3. It is given again, until it is too old, or a write overlaps it, or room is needed; the oldest in use goes first.
// While a write runs, and for as long as nobody knows whether one is over, reads that overlap it are neither answered from
// here nor kept. Nothing here decides whether a call may be answered from what is kept.

import type { Clock } from '../base/clock.ts'
import type { Touches } from '../describe/resource.ts'
import type { Tool } from '../describe/tool.ts'
import { type KeySet, overlaps, touchedKeys } from './cache-overlap.ts'
import type { KeptAnswer } from './kept-answer.ts'

const ANSWERS_MAX = 1_000
const BYTES_MAX = 16 * 1024 * 1024
/** What an answer costs besides its text. */
const OVERHEAD_BYTES = 256
/** So long a write that ended without anybody knowing whether it acted counts as one that may still act. */
const UNSETTLED_MS = 300_000
/** Writes of that kind that are told apart; with more of them, everything counts as being written. */
const UNSETTLED_MAX = 1_000

/** What an answer is about: whose, of what, and how long it may be given again. */
export type About = {
  readonly tool: Tool
  readonly keys: KeySet
  /** What the tool's validator said; empty where it has none. */
  readonly stamp: string
  readonly forMs: number
}

export type Kept = {
  readonly about: About
  readonly answer: KeptAnswer
  /** The call that got it from the tool. */
  readonly callId: string
  readonly endsAtMs: number
  readonly bytes: number
  /** Counts up with every use of anything. */
  usedAt: number
}

type Write = { readonly keys: KeySet; readonly untilMs: number }

/** A read under way. `landed`: what came of it, undefined where others have to read for themselves. */
export class Flight {
  readonly about: About
  /** Counted from before the tool looks: it may look at once. */
  readonly endsAtMs: number
  readonly landed: Promise<Kept | undefined>
  isOver = false
  #resolve: (kept: Kept | undefined) => void = () => {}

  constructor(about: About, startedAtMs: number) {
    this.about = about
    this.endsAtMs = startedAtMs + about.forMs
    this.landed = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  /** Ends the wait of all who have joined. */
  end(kept: Kept | undefined): void {
    this.isOver = true
    this.#resolve(kept)
  }
}

export class ResultCache {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #kept = new Map<string, Kept>()
  readonly #flights = new Map<string, Flight>()
  readonly #writes = new Set<Write>()
  #bytes = 0
  #uses = 0

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  get size(): number {
    return this.#kept.size
  }

  /** Bytes of what is kept, as JSON text and with its names. */
  get bytes(): number {
    return this.#bytes
  }

  /** The answer under a name, of this very tool and with this stamp. One that does not fit any more is forgotten. */
  find(name: string, tool: Tool, stamp: string): Kept | undefined {
    const kept = this.#kept.get(name)
    if (kept === undefined) return undefined
    if (!this.#holds(kept, tool, stamp)) {
      this.#forget(name, kept)
      return undefined
    }
    kept.usedAt = ++this.#uses
    return kept
  }

  /** An equal read that is under way, with nothing written since it began. */
  flight(name: string, tool: Tool, stamp: string): Flight | undefined {
    const flight = this.#flights.get(name)
    return flight !== undefined && this.#holds(flight, tool, stamp) ? flight : undefined
  }

  #holds({ about, endsAtMs }: Kept | Flight, tool: Tool, stamp: string): boolean {
    return about.tool === tool && about.stamp === stamp && this.#clock.monotonic() < endsAtMs
  }

  /** Whoever waits for an earlier one of this name, which did not fit, reads for itself. */
  takeOff(name: string, about: About): Flight {
    this.#flights.get(name)?.end(undefined)
    const flight = new Flight(about, this.#clock.monotonic())
    this.#flights.set(name, flight)
    return flight
  }

  /** Keeps what a flight has brought. Nothing is kept of one that is over, or that brought nothing to be kept. */
  land(name: string, flight: Flight, answer: KeptAnswer | undefined, callId: string): void {
    if (this.#flights.get(name) === flight) this.#flights.delete(name)
    if (flight.isOver) return
    flight.end(answer === undefined ? undefined : this.#keep(name, flight, answer, callId))
  }

  /** Forgets whatever these touches may have changed, and what reads under way bring of it. Unknown touches: everything. */
  invalidate(touches: Touches): void {
    this.#overlapped(touchedKeys(touches))
  }

  /** From now until `end` is called. `isUnsettled`: nobody knows whether it is really over. */
  beginWrite(keys: KeySet): (isUnsettled: boolean) => void {
    const write: Write = { keys, untilMs: Number.POSITIVE_INFINITY }
    this.#writes.add(write)
    this.#overlapped(keys)
    return (isUnsettled) => {
      // INVARIANT cached-as-uncached: nothing that it overlaps has been kept since it began, or can be under way to be kept.
      this.#writes.delete(write)
      if (isUnsettled) this.#holdUnsettled(keys)
    }
  }

  /** Whether something that overlaps these keys may be changing just now. */
  isBeingWritten(keys: KeySet): boolean {
    if (this.#writes.size === 0) return false
    const nowMs = this.#clock.monotonic()
    for (const write of this.#writes) {
      if (write.untilMs <= nowMs) this.#writes.delete(write)
      else if (overlaps(write.keys, keys)) return true
    }
    return false
  }

  #holdUnsettled(keys: KeySet): void {
    const untilMs = this.#clock.monotonic() + UNSETTLED_MS
    const unsettled = [...this.#writes].filter((write) => write.untilMs !== Number.POSITIVE_INFINITY)
    if (unsettled.length < UNSETTLED_MAX) {
      this.#writes.add({ keys, untilMs })
      return
    }
    for (const write of unsettled) this.#writes.delete(write)
    this.#writes.add({ keys: 'everything', untilMs })
    this.#overlapped('everything')
  }

  #overlapped(keys: KeySet): void {
    if (this.#kept.size > 0)
      for (const [name, kept] of this.#kept) if (overlaps(keys, kept.about.keys)) this.#forget(name, kept)
    if (this.#flights.size === 0) return
    for (const [name, flight] of this.#flights) {
      if (!overlaps(keys, flight.about.keys)) continue
      this.#flights.delete(name)
      flight.end(undefined)
    }
  }

  #keep(name: string, { about, endsAtMs }: Flight, answer: KeptAnswer, callId: string): Kept {
    const bytes = answer.bytes + 2 * name.length + OVERHEAD_BYTES
    const kept: Kept = { about, answer, callId, endsAtMs, bytes, usedAt: ++this.#uses }
    const before = this.#kept.get(name)
    if (before !== undefined) this.#forget(name, before)
    this.#kept.set(name, kept)
    this.#bytes += bytes
    while (this.#kept.size > ANSWERS_MAX || this.#bytes > BYTES_MAX) this.#forgetOldest()
    return kept
  }

  #forgetOldest(): void {
    let oldest: readonly [string, Kept] | undefined
    for (const one of this.#kept) if (oldest === undefined || one[1].usedAt < oldest[1].usedAt) oldest = one
    if (oldest !== undefined) this.#forget(...oldest)
  }

  #forget(name: string, kept: Kept): void {
    if (this.#kept.delete(name)) this.#bytes -= kept.bytes
  }
}
