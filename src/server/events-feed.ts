// Events for those who listen over HTTP, as server-sent events. The life of a listener:
// 1. It is let in while there is room, and gets what it missed where its last id is still kept, or the word `reset` where not.
// 2. Each event goes to each listener that may hear of its kind, in one order for all. Progress has no id: it passes, and is not
//    told again.
// 3. Every 15 seconds it gets a comment, and its credential is looked at again; one that holds no more ends here.
// 4. One that reads more slowly than events come is cut off, so that nobody's waiting grows without end.
// 5. The feed closes with the server, and every listener with it.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { Gate } from '../gate-contract.ts'
import { PassingEvents } from './events-passing.ts'
import { type EventKind, type EventRow, listenTo } from './events-row.ts'

const KEPT_MAX = 500
/** Bytes that wait for one listener; more than all kept events together. */
const WAITING_BYTES_MAX = 1024 * 1024
const BEAT_MS = 15_000
const LISTENERS_MAX = 64
const LISTENERS_PER_CREDENTIAL_MAX = 8

export type ListenerOptions = {
  /** Of the credential. */
  readonly id: string
  readonly kinds: ReadonlySet<EventKind>
  /** As the client sent it: what it heard last. */
  readonly lastEventId: string | undefined
  /** False once the credential may not hear of these kinds any more. */
  readonly holds: () => Promise<boolean>
  /** Ends a connection whose reader does not read. */
  readonly cutOff: () => void
}

type Listener = ListenerOptions & { readonly controller: ReadableStreamDefaultController<Uint8Array> }
type Kept = EventRow & { readonly sequence: number }

export class EventFeed {
  readonly #clock: Clock
  readonly #stopListening: () => void
  readonly #passing: PassingEvents
  /** Of this process: ids of another one name other events. */
  readonly #epoch = randomBytes(6).toString('hex')
  readonly #kept: Kept[] = []
  readonly #listeners = new Set<Listener>()
  #sequence = 0
  #stopBeat: (() => void) | undefined
  #isClosed = false

  constructor(gate: Pick<Gate, 'on'>, clock: Clock) {
    this.#clock = clock
    this.#passing = new PassingEvents(clock, (row) => this.#tell(row, textOf(row)))
    this.#stopListening = listenTo(gate, (row) => this.#hear(row))
  }

  /** How many listen. */
  get size(): number {
    return this.#listeners.size
  }

  /** Undefined where there is no room. */
  open(options: ListenerOptions): ReadableStream<Uint8Array> | undefined {
    const own = [...this.#listeners].filter(({ id }) => id === options.id).length
    if (this.#isClosed || this.#listeners.size >= LISTENERS_MAX || own >= LISTENERS_PER_CREDENTIAL_MAX) return undefined
    let opened: Listener | undefined
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          opened = { ...options, controller }
          this.#listeners.add(opened)
          this.#stopBeat ??= this.#clock.after(BEAT_MS, () => this.#beat(), 'background')
          this.#send(opened, ': open\n\n')
          this.#replay(opened)
        },
        cancel: () => {
          if (opened !== undefined) this.#remove(opened)
        },
      },
      { highWaterMark: WAITING_BYTES_MAX, size: (chunk) => chunk?.byteLength ?? 0 },
    )
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopListening()
    this.#passing.close()
    for (const listener of [...this.#listeners]) this.#end(listener)
  }

  #hear(row: EventRow): void {
    if (row.kind === 'progress') {
      if (this.#listeners.size > 0) this.#passing.hear(row)
      return
    }
    if (row.kind === 'call') this.#passing.end(row.data.callId)
    this.#sequence += 1
    const kept = { ...row, sequence: this.#sequence }
    this.#kept.push(kept)
    if (this.#kept.length > KEPT_MAX) this.#kept.shift()
    this.#tell(row, this.#text(kept))
  }

  #tell({ kind }: EventRow, text: string): void {
    for (const listener of [...this.#listeners]) if (listener.kinds.has(kind)) this.#send(listener, text)
  }

  #replay(listener: Listener): void {
    const { lastEventId, kinds } = listener
    if (lastEventId === undefined || lastEventId === '') return
    const heard = this.#heardUntil(lastEventId)
    if (heard === undefined) {
      const data = JSON.stringify({ reason: 'events after the last one heard are not kept; read the lists again' })
      this.#send(listener, `id: ${this.#id(this.#sequence)}\nevent: reset\ndata: ${data}\n\n`)
      return
    }
    for (const kept of this.#kept)
      if (kept.sequence > heard && kinds.has(kept.kind)) this.#send(listener, this.#text(kept))
  }

  /** The event that a client heard last; undefined where some that came after it may be lost. */
  #heardUntil(lastEventId: string): number | undefined {
    const [, epoch, digits = ''] = /^([0-9a-f]{12})\.([0-9]{1,15})$/.exec(lastEventId) ?? []
    const heard = Number(digits)
    const oldest = this.#kept[0]?.sequence ?? this.#sequence + 1
    return epoch === this.#epoch && heard <= this.#sequence && heard >= oldest - 1 ? heard : undefined
  }

  #id = (sequence: number): string => `${this.#epoch}.${sequence}`

  #text = (kept: Kept): string => `id: ${this.#id(kept.sequence)}\n${textOf(kept)}`

  #send(listener: Listener, text: string): void {
    if (!this.#listeners.has(listener)) return
    listener.controller.enqueue(Buffer.from(text))
    if ((listener.controller.desiredSize ?? 0) > 0) return
    this.#end(listener)
    listener.cutOff()
  }

  #beat(): void {
    this.#stopBeat = undefined
    for (const listener of [...this.#listeners]) {
      this.#send(listener, ': alive\n\n')
      // INVARIANT closed: a credential that cannot be looked at holds no more.
      listener
        .holds()
        .catch(() => false)
        .then((holds) => {
          if (!holds) this.#end(listener)
        })
    }
    if (this.#listeners.size > 0) this.#stopBeat = this.#clock.after(BEAT_MS, () => this.#beat(), 'background')
  }

  #end(listener: Listener): void {
    if (this.#remove(listener)) listener.controller.close()
  }

  #remove(listener: Listener): boolean {
    const was = this.#listeners.delete(listener)
    if (this.#listeners.size === 0) {
      this.#stopBeat?.()
      this.#stopBeat = undefined
    }
    return was
  }
}

/** JSON text has no line breaks, so that it is one line of data. */
const textOf = ({ kind, data }: EventRow): string => `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`
