// One model turn: many calls, one outcome each, in the order in which the model wrote them. They run one after the other.

import type { CallRequest } from './describe/call.ts'
import type { Outcome } from './describe/outcome.ts'

/**
 * `make` makes one call and answers with its one outcome.
 * INVARIANT call-order: outcome n belongs to call n, whatever became of the others. A cancelled turn still ends every call.
 */
export async function callTurn(
  make: (request: CallRequest) => Promise<Outcome>,
  requests: readonly CallRequest[],
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const request of requests) outcomes.push(await make(request))
  return outcomes
}
