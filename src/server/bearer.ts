// Who a request comes from, by its bearer token (RFC 6750). There is no other way in, from no address.

import { problem } from './problem.ts'
import type { Scope, TokenRow } from './token-rows.ts'
import type { Tokens } from './tokens.ts'

export type Authenticated =
  | { readonly kind: 'ok'; readonly credential: TokenRow }
  | { readonly kind: 'refused'; readonly response: Response }

export async function authenticate(header: string | undefined, tokens: Tokens): Promise<Authenticated> {
  const token = readBearer(header)
  if (token === undefined)
    return { kind: 'refused', response: unauthenticated('expected the header `Authorization: Bearer TOKEN`', '') }
  const verified = await tokens.verify(token)
  if (verified.kind === 'ok') return { kind: 'ok', credential: verified.row }
  return {
    kind: 'refused',
    response: unauthenticated('the token is unknown, ended or expired', ', error="invalid_token"'),
  }
}

/** Undefined for a credential that has one of the scopes. */
export function refuseScope(credential: TokenRow, scopes: readonly Scope[]): Response | undefined {
  if (scopes.some((scope) => credential.scopes.includes(scope))) return undefined
  const missing = scopes.join(' or ')
  const headers = {
    'www-authenticate': `Bearer realm="lockgate", error="insufficient_scope", scope="${scopes[0] ?? ''}"`,
  }
  return problem('permission_denied', `this credential lacks the scope \`${missing}\``, {
    headers,
    members: { missingScope: scopes[0] },
  })
}

/** Undefined only for a credential that cannot call. No token file holds `call` and `approve` together; this asks all the same. */
export function refuseCaller(credential: TokenRow): Response | undefined {
  if (!credential.scopes.includes('call')) return undefined
  return problem('permission_denied', 'this credential has the scope `call`, and one that can call cannot answer', {
    members: { conflictingScope: 'call' },
  })
}

/** The scheme's name has no case (RFC 9110, 11.1); the token has one form. */
export function readBearer(header: string | undefined): string | undefined {
  return /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header ?? '')?.[1]
}

const unauthenticated = (detail: string, error: string): Response =>
  problem('permission_denied', detail, {
    status: 401,
    headers: { 'www-authenticate': `Bearer realm="lockgate"${error}` },
  })
