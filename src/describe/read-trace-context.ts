// Reads a trace context that came from outside, as W3C Trace Context level 1 has it. What does not hold is no context at all:
// a caller that sends rubbish gets a trace of its own, and never an error for it.

import type { TraceContext } from './trace-context.ts'

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const PARENT_CHARACTERS_MAX = 256
const STATE_CHARACTERS_MAX = 512
const STATE_MEMBERS_MAX = 32
const STATE_MEMBER = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/** Undefined for what is none. A `tracestate` that does not hold is left out alone. */
export function readTraceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > PARENT_CHARACTERS_MAX) return undefined
  const parts = PARENT.exec(traceparent.trim())
  if (parts === null) return undefined
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = parts
  if (version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  // Version 00 has nothing behind its flags; of later ones only what 00 knows of is read and handed on.
  if (version === '00' && rest !== undefined) return undefined
  const sampled = Number.parseInt(flags, 16) & 1
  const known = version === '00' ? flags : `0${sampled}`
  const state = readState(tracestate)
  return {
    traceparent: `00-${traceId}-${spanId}-${known}`,
    ...(state === undefined ? {} : { tracestate: state }),
  }
}

function readState(given: unknown): string | undefined {
  if (typeof given !== 'string' || given.length > STATE_CHARACTERS_MAX) return undefined
  const members = given
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '')
  const holds = members.length <= STATE_MEMBERS_MAX && members.every((member) => STATE_MEMBER.test(member))
  return holds && members.length > 0 ? members.join(',') : undefined
}
