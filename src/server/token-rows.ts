// What is kept of each token, and reading it back. A row that does not hold makes the whole file not hold: a credential
// is never guessed.

import type { Caller } from '../describe/caller.ts'

/** What a credential may do. One that can call cannot answer. */
export const SCOPES = ['call', 'approve', 'audit', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** Who calls with the token; what is left out takes the gate's defaults. */
export type TokenCaller = Partial<Pick<Caller, 'tenant' | 'user' | 'agent' | 'roles'>>

export type TokenRow = {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string
  readonly createdAt: number
  readonly expiresAt?: number
  readonly caller?: TokenCaller
}

export type RowsRead =
  | { readonly kind: 'ok'; readonly rows: readonly TokenRow[] }
  | { readonly kind: 'bad'; readonly reason: string }

const ROW_KEYS = new Set(['id', 'name', 'scopes', 'hash', 'createdAt', 'expiresAt', 'caller'])
const CALLER_KEYS = new Set(['tenant', 'user', 'agent', 'roles'])

export const isScope = (value: unknown): value is Scope => SCOPES.some((scope) => scope === value)

export function readTokenRows(text: string): RowsRead {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return { kind: 'bad', reason: 'the token file is no JSON' }
  }
  if (typeof parsed !== 'object' || parsed === null || !('version' in parsed) || parsed.version !== 1)
    return { kind: 'bad', reason: 'expected a token file of version 1' }
  if (!('tokens' in parsed) || !Array.isArray(parsed.tokens))
    return { kind: 'bad', reason: 'expected a list of `tokens`' }
  const rows: TokenRow[] = []
  for (const [index, row] of parsed.tokens.entries()) {
    if (!isRow(row)) return { kind: 'bad', reason: `\`tokens[${index}]\` is no token` }
    rows.push(row)
  }
  return { kind: 'ok', rows }
}

function isRow(row: unknown): row is TokenRow {
  if (typeof row !== 'object' || row === null) return false
  const given: Readonly<Record<string, unknown>> = { ...row }
  const { id, name, scopes, hash, createdAt, expiresAt, caller } = given
  return (
    Object.keys(given).every((key) => ROW_KEYS.has(key)) &&
    typeof id === 'string' &&
    /^tok_[0-9a-f]{16}$/.test(id) &&
    typeof name === 'string' &&
    Array.isArray(scopes) &&
    scopes.every(isScope) &&
    typeof hash === 'string' &&
    /^[0-9a-f]{64}$/.test(hash) &&
    isTime(createdAt) &&
    (expiresAt === undefined || isTime(expiresAt)) &&
    (caller === undefined || isCaller(caller))
  )
}

function isCaller(caller: unknown): boolean {
  if (typeof caller !== 'object' || caller === null) return false
  return Object.entries(caller).every(([key, value]) => {
    if (!CALLER_KEYS.has(key)) return false
    return key === 'roles'
      ? Array.isArray(value) && value.every((role) => typeof role === 'string')
      : typeof value === 'string'
  })
}

const isTime = (value: unknown): boolean => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
