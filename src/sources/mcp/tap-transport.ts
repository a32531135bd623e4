// Stands between the protocol's library and the wire of one connection, once that is open. It keeps one bad definition
// from costing the whole list, one monstrous answer from reaching anybody, and a call whose stream breaks off from
// waiting for ever.

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { Clock } from '../../base/clock.ts'
import { refusalMessage, takeJson } from '../../base/json-value.ts'
import { LateAnswers } from './late-answers.ts'
import { MESSAGE_BYTES_MAX } from './upstream-connection.ts'
import { faultAnswer } from './upstream-fault.ts'

/** Under this key the tools of a list come through as the server wrote them. No JSON text can hold a symbol. */
export const LISTED = Symbol('listed tools')

const RESULT_BOUNDS = { depthMax: 64, keysMax: 200_000, bytesMax: MESSAGE_BYTES_MAX } as const

type Id = string | number
type Sent = { readonly method: string; readonly args: unknown }

/** `tooLarge`: whether the stream that has just ended was cut because of its size. */
export function tapTransport(transport: Transport, tooLarge: () => boolean, clock: Clock): LateAnswers {
  const sent = new Map<Id, Sent>()
  const late = new LateAnswers(clock)
  const deliver = transport.onmessage
  const send = transport.send.bind(transport)
  transport.onmessage = (message, extra) => {
    const passed = inspect(message, sent)
    if ('method' in passed) return deliver?.(passed, extra)
    if (late.take(passed)) return
    // The library takes a turn to hand progress on and none to end a request; what came first shall count first.
    queueMicrotask(() => queueMicrotask(() => deliver?.(passed, extra)))
  }
  transport.send = (message, options) => {
    const cancelled = cancelledBy(message)
    if (cancelled !== undefined) {
      late.expect(cancelled, sent.get(cancelled)?.args)
      sent.delete(cancelled)
    }
    if (!('method' in message) || !('id' in message)) return send(message, options)
    const { id, method } = message
    sent.set(id, { method, args: message.params?.arguments })
    const cutOff = (): void => {
      options?.onRequestStreamEnd?.()
      if (options?.onRequestStreamEnd !== undefined || !sent.has(id)) return
      transport.onmessage?.(faultAnswer(id, tooLarge() ? 'oversized' : 'cut-off', 'the stream ended without an answer'))
    }
    // Over HTTP from 2026-07-28 on, a request is given up by leaving its stream.
    options?.requestSignal?.addEventListener('abort', () => void sent.delete(id), { once: true })
    return send(message, { ...options, onRequestStreamEnd: cutOff }).catch((error: unknown) => {
      sent.delete(id)
      throw error
    })
  }
  return late
}

/** The request that a message gives up. */
function cancelledBy(message: JSONRPCMessage): Id | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const id: unknown = message.params?.requestId
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

function inspect(message: JSONRPCMessage, sent: Map<Id, Sent>): JSONRPCMessage {
  if ('method' in message || !('id' in message) || message.id === undefined) return message
  const { id } = message
  const request = sent.get(id)
  sent.delete(id)
  if (request === undefined) return message
  if (!('result' in message)) return message
  if ('error' in message) return faultAnswer(id, 'malformed', 'the answer is both a result and an error')
  const taken = takeJson(message.result, RESULT_BOUNDS, { keyOrder: 'given', unsafeIntegers: 'keep' })
  if (taken.kind === 'refused') return faultAnswer(id, 'malformed', refusalMessage(taken, 'the result'))
  return request.method === 'tools/list' ? { ...message, result: setAside(message.result) } : message
}

/** The library judges a list as a whole; it gets one that holds, and ours is beside it. */
function setAside(result: Readonly<Record<string, unknown>>): Record<string | symbol, unknown> {
  const { tools } = result
  return { ttlMs: 0, cacheScope: 'private', ...result, tools: [], [LISTED]: tools }
}
