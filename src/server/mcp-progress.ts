// Progress as MCP tells it: numbers that rise, to the one token that a request brought, for as long as it is open.

import type { ServerContext } from '@modelcontextprotocol/server'
import type { Clock } from '../base/clock.ts'
import { Steady } from '../base/steady.ts'
import type { Progress } from '../describe/tool.ts'

/** Milliseconds between two words to a client whose call waits for a person. */
const WAITING_MS = 10_000
/** Milliseconds between two notifications of one request; what comes between gives way to the newest. */
const GAP_MS = 50
/** Notifications that may come at once. */
const BURST = 20

export type TellProgress = (progress: Progress) => void

/** `end` tells the last of it; it comes before the answer, and nothing comes after that. */
export type Telling = { readonly tell: TellProgress; readonly end: () => void }

/** Undefined where the client asked for none. */
export function progressOf({ mcpReq }: ServerContext, clock: Clock): Telling | undefined {
  const token = mcpReq._meta?.progressToken
  if (token === undefined) return undefined
  let last = 0
  const steady = new Steady<Progress>(
    GAP_MS,
    clock,
    ({ progress, total, message }) => {
      // The protocol wants a number that rises; a tool that only says words gets one counted for it.
      last = progress !== undefined && progress > last ? progress : last + 1
      const params = {
        progressToken: token,
        progress: last,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      }
      mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
    },
    BURST,
  )
  return { tell: (progress) => steady.push(progress), end: () => steady.end() }
}

/** Tells a client every ten seconds that its call waits for a person, until the answer is called. */
export function tellWaiting(tell: TellProgress | undefined, clock: Clock): () => void {
  if (tell === undefined) return () => {}
  let cancel = (): void => {}
  const later = (): void => {
    cancel = clock.after(
      WAITING_MS,
      () => {
        tell({ message: 'waiting for a person to answer' })
        later()
      },
      'background',
    )
  }
  later()
  return () => cancel()
}
