// `fetch` for an upstream over HTTP, with a bound on what one message may weigh. An answer as JSON is bounded as a whole,
// a stream of events event by event, so that a stream may live on while nothing in it can fill the memory.

import { MESSAGE_BYTES_MAX } from './upstream-connection.ts'

export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge'
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** `onTooLarge` is told before the body fails. */
export function limitedFetch(onTooLarge: () => void): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    // A redirect is judged by its address, and nobody reads its body.
    if (response.body === null || (response.status >= 300 && response.status < 400)) return response
    const streams = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
    const body = response.body.pipeThrough(
      limit(streams ? eventBytes() : (chunk, held) => held + chunk.length, onTooLarge),
    )
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers })
  }
}

/** Bytes of the message that a chunk leaves unfinished, from those that were unfinished before it. */
type Measure = (chunk: Uint8Array, held: number) => number

function limit(measure: Measure, onTooLarge: () => void): TransformStream<Uint8Array, Uint8Array> {
  let held = 0
  return new TransformStream({
    transform(chunk, controller) {
      held = measure(chunk, held)
      if (held <= MESSAGE_BYTES_MAX) return controller.enqueue(chunk)
      onTooLarge()
      controller.error(new MessageTooLarge(`a message is over the limit of ${MESSAGE_BYTES_MAX} bytes`))
    },
  })
}

/** An event ends with an empty line; line ends are LF, CR or both (WHATWG HTML, server-sent events). */
function eventBytes(): Measure {
  let lineIsEmpty = true
  let afterReturn = false
  return (chunk, held) => {
    let start = 0
    let length = held
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index]
      const ends = byte === 0x0d || (byte === 0x0a && !afterReturn)
      if (ends && lineIsEmpty) {
        length = 0
        start = index + 1
      }
      if (ends) lineIsEmpty = true
      else if (byte !== 0x0a) lineIsEmpty = false
      afterReturn = byte === 0x0d
      if (length + index - start > MESSAGE_BYTES_MAX) return MESSAGE_BYTES_MAX + 1
    }
    return length + chunk.length - start
  }
}
