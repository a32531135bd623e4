// One model turn: many calls, one outcome each, in the order in which the model wrote them. They run one after the other.

import { callTool, type Rooms } from './call-tool.ts'
import type { CallRequest } from './describe/call.ts'
import type { Outcome } from './describe/outcome.ts'

/** INVARIANT call-order: outcome n belongs to call n, whatever became of the others. A cancelled turn still ends every call. */
export async function callTurn(rooms: Rooms, requests: readonly CallRequest[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const request of requests) outcomes.push(await callTool(rooms, request))
  return outcomes
}
