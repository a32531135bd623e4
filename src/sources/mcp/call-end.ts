// Reads what became of a call out of what the official client throws. The question behind each line is whether the
// server may have acted; where that cannot be said, it counts as possible.

import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { NotRunning } from '../../machine/piped-process.ts'
import { MessageTooLarge } from './limited-fetch.ts'
import type { CallEnd } from './upstream-connection.ts'
import { faultOf } from './upstream-fault.ts'

const REASON_CHARS_MAX = 500
/** Statuses by which a server turns a request away before anything has looked at it. */
const TURNED_AWAY = new Set([401, 403, 404, 405, 406, 413, 415, 429])

export function endOf(error: unknown): CallEnd {
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, REASON_CHARS_MAX)
  if (error instanceof ProtocolError) return protocolEnd(error)
  if (error instanceof MessageTooLarge) return { kind: 'oversized' }
  if (error instanceof SdkHttpError) {
    return TURNED_AWAY.has(error.status)
      ? { kind: 'unsent', reason: `it turned the request away with status ${error.status}` }
      : { kind: 'lost', reason: `status ${error.status}: ${reason}` }
  }
  if (error instanceof SdkError) return libraryEnd(error.code, reason)
  return error instanceof NotRunning || nobodyListens(error) ? { kind: 'unsent', reason } : { kind: 'lost', reason }
}

/** What an error of the protocol says of the call that it answers. */
export function protocolEnd({ code, message, data }: Pick<ProtocolError, 'code' | 'message' | 'data'>): CallEnd {
  const reason = message.slice(0, REASON_CHARS_MAX)
  switch (faultOf(data)) {
    case 'oversized':
      return { kind: 'oversized' }
    case 'malformed':
      return { kind: 'malformed', reason }
    case 'cut-off':
      return { kind: 'lost', reason }
    case undefined:
      return { kind: 'refused', code, reason }
  }
}

function libraryEnd(code: SdkErrorCode, reason: string): CallEnd {
  if (code === SdkErrorCode.UnsupportedResultType) return { kind: 'needs-input' }
  if (code === SdkErrorCode.InvalidResult || code === SdkErrorCode.ClientHttpUnexpectedContent)
    return { kind: 'malformed', reason }
  return code === SdkErrorCode.NotConnected ? { kind: 'unsent', reason } : { kind: 'lost', reason }
}

/** True where the connection itself, and not this one call, is at fault, so that the next call needs another. */
export function breaksConnection(error: unknown): boolean {
  if (error instanceof ProtocolError || error instanceof MessageTooLarge) return false
  // A server that has forgotten the session says so with 404.
  if (error instanceof SdkHttpError) return error.status === 404
  return !(error instanceof SdkError)
}

/** Nobody listened at the address, so nobody can have acted. */
function nobodyListens(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return (
    typeof cause === 'object' &&
    cause !== null &&
    'code' in cause &&
    (cause.code === 'ECONNREFUSED' || cause.code === 'ENOTFOUND')
  )
}
