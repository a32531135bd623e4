// Calls that running tools make. They go through every stage like any other, for the same caller, in the run of the call that
// makes them; they have no more time than it has, end with it, and share its lane. How deep they go is bounded.

import { setMaxListeners } from 'node:events'
import { callTool, type Rooms } from '../call-tool.ts'
import type { Call, CallRequest } from '../describe/call.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { LaneGroup } from '../execute/lanes/lane-group.ts'
import type { Lanes } from '../execute/lanes/lanes.ts'

/** A call that a host makes is at depth 0. */
export const DEPTH_MAX = 16

export type NestedCallsParts = {
  /** The rooms hold the executor, whose tools call this: they are there when the first tool runs. */
  readonly rooms: () => Rooms
  readonly lanes: Pick<Lanes, 'group'>
}

export class NestedCalls {
  readonly #parts: NestedCallsParts
  /** The order among the calls of each running tool. */
  readonly #groups = new WeakMap<Call, LaneGroup>()

  constructor(parts: NestedCallsParts) {
    this.#parts = parts
  }

  /** `signal` aborts when the tool that makes the call is told to stop, or is over. Never rejects. */
  readonly make = async (parent: Call, given: unknown, signal: AbortSignal): Promise<Outcome> => {
    const ticket = this.#groupOf(parent).ticket()
    // A tool may make as many calls at once as it likes; each of them listens.
    setMaxListeners(0, signal)
    // Tools without types may pass anything; what is no call names no tool.
    const asked = typeof given === 'object' && given !== null ? given : {}
    const request: CallRequest = {
      caller: parent.caller,
      entrance: parent.request.entrance,
      name: 'name' in asked && typeof asked.name === 'string' ? asked.name : '',
      arguments: 'arguments' in asked ? asked.arguments : undefined,
      parent,
      ticket,
      signal,
    }
    try {
      const rooms = this.#parts.rooms()
      return await callTool(depthOf(parent) < DEPTH_MAX ? rooms : tooDeep(rooms, parent), request)
    } finally {
      ticket.leave()
    }
  }

  #groupOf(parent: Call): LaneGroup {
    const known = this.#groups.get(parent)
    if (known !== undefined) return known
    const made = this.#parts.lanes.group()
    this.#groups.set(parent, made)
    return made
  }
}

function depthOf(call: Call): number {
  let depth = 0
  for (let above = call.request.parent; above !== undefined; above = above.request.parent) depth += 1
  return depth
}

/** INVARIANT one-outcome: also a call that is too deep is opened, refused and recorded. */
const tooDeep = (rooms: Rooms, parent: Call): Rooms => ({
  ...rooms,
  policy: {
    ...rooms.policy,
    admit: () => ({
      kind: 'deny',
      decision: {
        kind: 'deny',
        by: 'loop',
        reason: `tools call tools ${DEPTH_MAX} deep here already, so this call is not made`,
        policyVersion: parent.trail.decision?.policyVersion ?? '',
      },
    }),
  },
})
