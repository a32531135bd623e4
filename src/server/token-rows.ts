// What is kept of each token, and reading it back. A row that does not hold makes the whole file not hold: a credential
// is never guessed.

import { readCaller } from '../authorize/caller-identity.ts'
import type { Caller } from '../describe/caller.ts'

/** What a credential may do. One that can call cannot answer. */
export const SCOPES = ['call', 'approve', 'audit', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** Who calls with the token, and what for; what is left out takes the gate's defaults. */
export type TokenCaller = Partial<Pick<Caller, 'tenant' | 'user' | 'agent' | 'roles' | 'task' | 'step' | 'layers'>>

export type TokenRow = {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string
  readonly createdAt: number
  readonly expiresAt?: number
  readonly caller?: TokenCaller
  /** Marked by the operator: a person at the client may answer questions about its own calls through the client. */
  readonly elicitation?: true
}

export type RowsRead =
  | { readonly kind: 'ok'; readonly rows: readonly TokenRow[] }
  | { readonly kind: 'bad'; readonly reason: string }

const ROW_KEYS = new Set(['id', 'name', 'scopes', 'hash', 'createdAt', 'expiresAt', 'caller', 'elicitation'])
const CALLER_KEYS = new Set(['tenant', 'user', 'agent', 'roles', 'task', 'step', 'layers'])

export const isScope = (value: unknown): value is Scope => SCOPES.some((scope) => scope === value)

// INVARIANT answers-apart: no credential can both make a call that asks and answer the question.
/** Why these scopes do not go together, or cannot be given; undefined where they can. */
export function scopeProblem(scopes: readonly Scope[]): string | undefined {
  if (scopes.length === 0) return 'a token without a scope is good for nothing'
  return scopes.includes('call') && scopes.includes('approve')
    ? '`call` and `approve` do not go together: one that can call cannot answer'
    : undefined
}

export type TokenCallerRead =
  | { readonly kind: 'ok'; readonly caller: TokenCaller }
  | { readonly kind: 'bad'; readonly reason: string }

/** Reads what a credential says of its caller: as the gate would, but for the conversation, which is never a credential's. */
export function readTokenCaller(value: unknown): TokenCallerRead {
  if (typeof value !== 'object' || value === null) return { kind: 'bad', reason: 'a caller must be an object' }
  const unknown = Object.keys(value).find((key) => !CALLER_KEYS.has(key))
  if (unknown !== undefined) return { kind: 'bad', reason: `unknown key \`${unknown.slice(0, 80)}\` in a caller` }
  const read = readCaller(value)
  return read.kind === 'ok' ? { kind: 'ok', caller: value } : read
}

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
    const problem = scopeProblem(row.scopes)
    if (problem !== undefined) return { kind: 'bad', reason: `\`tokens[${index}]\`: ${problem}` }
    rows.push(row)
  }
  return { kind: 'ok', rows }
}

function isRow(row: unknown): row is TokenRow {
  if (typeof row !== 'object' || row === null) return false
  const given: Readonly<Record<string, unknown>> = { ...row }
  const { id, name, scopes, hash, createdAt, expiresAt, caller, elicitation } = given
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
    (elicitation === undefined || elicitation === true) &&
    (caller === undefined || isCaller(caller))
  )
}

const isCaller = (caller: unknown): boolean => readTokenCaller(caller).kind === 'ok'

const isTime = (value: unknown): boolean => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
