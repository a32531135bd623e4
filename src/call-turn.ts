// One model turn: many calls, one outcome each, in the order in which the model wrote them. They are begun at once, unless
// it is said otherwise; their tickets keep the order between those that touch the same.

import type { CallRequest, LaneTicket } from './describe/call.ts'
import type { Outcome } from './describe/outcome.ts'

export type TurnOptions = {
  /** A place for each call, in their order. */
  readonly tickets: readonly LaneTicket[]
  /**
   * Begins a call only when all before it have come so far that it is known what they touch, or are over: where a person may
   * be asked on the way, one question comes after the other, and nobody's time runs out meanwhile.
   */
  readonly oneByOne?: boolean
  /** Begins a call only when the one before it is over: where what one comes to may decide about the next. */
  readonly afterEachOther?: boolean
}

/**
 * `make` makes one call and answers with its one outcome.
 * INVARIANT call-order: outcome n belongs to call n, whatever became of the others. A cancelled turn still ends every call.
 */
export async function callTurn(
  make: (request: CallRequest) => Promise<Outcome>,
  requests: readonly CallRequest[],
  { tickets, oneByOne = false, afterEachOther = false }: TurnOptions,
): Promise<readonly Outcome[]> {
  const outcomes: Promise<Outcome>[] = []
  for (const [index, request] of requests.entries()) {
    const ticket = tickets[index]
    if (ticket === undefined) throw new Error('a call of a turn has no place in it')
    const before = tickets[index - 1]
    if (afterEachOther) await outcomes.at(-1)
    if (oneByOne && before !== undefined) await passed(before)
    outcomes.push(leaving(ticket, make({ ...request, ticket })))
  }
  return Promise.all(outcomes)
}

const passed = (ticket: LaneTicket): Promise<void> => new Promise((resolve) => ticket.whenPassed(resolve))

async function leaving(ticket: LaneTicket, made: Promise<Outcome>): Promise<Outcome> {
  try {
    return await made
  } finally {
    ticket.leave()
  }
}
