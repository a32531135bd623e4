// A conversation of one caller. Everything it does goes through `callTool`; it holds no way around it.

import { callTool, type Rooms } from './call-tool.ts'
import { callTurn } from './call-turn.ts'
import type { Call, CallRequest, Entrance } from './describe/call.ts'
import type { Caller } from './describe/caller.ts'
import type { ToolListing } from './describe/entry.ts'
import type { Outcome } from './describe/outcome.ts'
import type { Tool } from './describe/tool.ts'
import type { CallOptions, DecisionPreview, NamedCall, Session } from './gate-contract.ts'

/** A caller's own id of a call is kept so far. */
const ID_CHARACTERS_MAX = 256

/** Also signals of other realms and of polyfills. */
const isSignal = (signal: unknown): signal is AbortSignal =>
  typeof signal === 'object' &&
  signal !== null &&
  'aborted' in signal &&
  'addEventListener' in signal &&
  typeof signal.addEventListener === 'function' &&
  'removeEventListener' in signal &&
  typeof signal.removeEventListener === 'function'

/** What a session reads without making a call. */
export type SessionViews = {
  readonly list: (caller: Caller) => readonly ToolListing[]
  /** A call that is looked at and never made. */
  readonly preview: (request: CallRequest) => Call
}

export class GateSession implements Session {
  readonly caller: Caller
  readonly #rooms: Rooms
  readonly #entrance: Entrance
  readonly #views: SessionViews

  constructor(rooms: Rooms, caller: Caller, entrance: Entrance, views: SessionViews) {
    this.caller = caller
    this.#rooms = rooms
    this.#entrance = entrance
    this.#views = views
  }

  tools(): readonly ToolListing[] {
    return this.#views.list(this.caller)
  }

  call<Args, Value>(tool: Tool<Args, Value>, args: Args, options?: CallOptions): Promise<Outcome<Value>>
  call(request: NamedCall): Promise<Outcome>
  call(first: Tool<never, unknown> | NamedCall, args?: unknown, options?: CallOptions): Promise<Outcome> {
    if (typeof first !== 'object' || first === null || !('version' in first))
      return callTool(this.#rooms, this.#request(first))
    return callTool(this.#rooms, { ...this.#request({ ...options, name: first.name, arguments: args }), tool: first })
  }

  async turn(calls: readonly NamedCall[]): Promise<readonly Outcome[]> {
    if (!Array.isArray(calls)) throw new TypeError('a turn is a list of calls')
    return callTurn(
      this.#rooms,
      calls.map((call) => this.#request(call)),
    )
  }

  async decide({ name, arguments: given }: Pick<NamedCall, 'name' | 'arguments'>): Promise<DecisionPreview> {
    const call = this.#views.preview(this.#request({ name, arguments: given }))
    const found = this.#rooms.catalogue.find(call)
    if (found.kind === 'missing') return { kind: 'refused', type: found.code, message: found.reason }
    const admitted = this.#rooms.policy.admit(call, found.entry)
    if (admitted.kind === 'deny') return { kind: 'decided', decision: admitted.decision }
    const input = await this.#rooms.check(call, found.entry)
    if (input.kind === 'invalid') return { kind: 'refused', type: input.code, message: input.message }
    return { kind: 'decided', decision: this.#rooms.policy.decide(call, found.entry, input) }
  }

  #request(call: NamedCall): CallRequest {
    // Hosts without types may pass anything; what is no call names no tool.
    const asked: Partial<NamedCall> = typeof call === 'object' && call !== null ? call : {}
    const { name, arguments: given, id, approval, signal, onProgress } = asked
    return {
      caller: this.caller,
      entrance: this.#entrance,
      name: typeof name === 'string' ? name : '',
      arguments: given,
      ...(typeof id === 'string' ? { id: id.slice(0, ID_CHARACTERS_MAX) } : {}),
      ...(typeof approval === 'string' ? { approval } : {}),
      ...(isSignal(signal) ? { signal } : {}),
      ...(typeof onProgress === 'function' ? { onProgress } : {}),
    }
  }
}
