// Errors of the HTTP API as problem documents (RFC 9457) that carry the error type of the one table.

import { ERROR_TYPES, type ErrorType } from '../describe/error-types.ts'

export type ProblemOptions = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Further members of the document. */
  readonly members?: Readonly<Record<string, unknown>>
}

export function problem(
  type: ErrorType,
  detail: string,
  { status = ERROR_TYPES[type].http, headers = {}, members = {} }: ProblemOptions = {},
): Response {
  const body = {
    type: `urn:lockgate:error:${type}`,
    title: type.replaceAll('_', ' '),
    status,
    detail,
    errorType: type,
    ...members,
  }
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  })
}
