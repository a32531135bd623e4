// What comes with a request to the admin API, read strictly: a key that no route knows, a text without bounds or a number
// outside of them is refused before anything is asked of the gate.

import { isJsonObject, type JsonValue } from '../base/json-value.ts'
import type { ErrorType } from '../describe/error-types.ts'
import { problem } from './problem.ts'
import { readJsonBody } from './read-body.ts'
import type { TokenRow } from './token-rows.ts'

const LIST_DEFAULT = 100
export const LIST_MAX = 1_000
const ID_CHARACTERS_MAX = 128
const BY_CHARACTERS_MAX = 256

export const json = (value: unknown): Response =>
  new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json' } })

export type Fields<Key extends string> = { readonly [Name in Key]?: JsonValue }

export type Read<Value> =
  | { readonly kind: 'ok'; readonly value: Value }
  | { readonly kind: 'refused'; readonly response: Response }

export const ok = <Value>(value: Value): Read<Value> => ({ kind: 'ok', value })

export const refuse = (detail: string, type: ErrorType = 'invalid_args', status = 400): Read<never> => ({
  kind: 'refused',
  response: problem(type, detail, { status }),
})

/** The body as an object with no other keys than these. */
export async function readObject<Key extends string>(
  request: Request,
  keys: readonly Key[],
): Promise<Read<Fields<Key>>> {
  const body = await readJsonBody(request)
  if (body.kind === 'refused') {
    if (body.why === 'too-large') return { kind: 'refused', response: problem('oversized', body.reason) }
    return refuse(body.reason, 'invalid_args', body.why === 'media-type' ? 415 : 400)
  }
  const { value } = body
  if (!isJsonObject(value)) return refuse(`expected an object with ${keys.map((key) => `\`${key}\``).join(', ')}`)
  const unknown = unknownKey(Object.keys(value), keys)
  if (unknown !== undefined) return refuse(unknown)
  const known = keys.flatMap((key) => (Object.hasOwn(value, key) ? [[key, value[key]] as const] : []))
  return ok(Object.fromEntries(known) as Fields<Key>)
}

const unknownKey = (given: readonly string[], keys: readonly string[]): string | undefined => {
  const unknown = given.find((key) => !keys.includes(key))
  return unknown === undefined ? undefined : `unknown key \`${unknown.slice(0, 80)}\`; known: ${keys.join(', ')}`
}

/** A text of 1 to `max` characters, or none. */
export function readText(value: JsonValue | undefined, key: string, max: number): Read<string | undefined> {
  if (value === undefined) return ok(undefined)
  if (typeof value !== 'string') return refuse(`\`${key}\`: expected a text`)
  return value.trim() === '' || value.length > max ? refuse(`\`${key}\`: expected 1 to ${max} characters`) : ok(value)
}

/** One of these words, or none. */
export function readWord<Word extends string>(
  value: JsonValue | undefined,
  key: string,
  words: readonly Word[],
): Read<Word | undefined> {
  if (value === undefined) return ok(undefined)
  const word = words.find((known) => known === value)
  return word === undefined ? refuse(`\`${key}\`: expected one of ${words.join(', ')}`) : ok(word)
}

export type Query<Key extends string> = { readonly [Name in Key]?: string }

/** The query of an address, each key once and no other keys than these. */
export function readQuery<Key extends string>(address: string, keys: readonly Key[]): Read<Query<Key>> {
  const { searchParams } = new URL(address)
  const given = [...searchParams.keys()]
  const unknown = unknownKey(given, keys)
  if (unknown !== undefined) return refuse(unknown)
  const twice = given.find((key, index) => given.indexOf(key) !== index)
  if (twice !== undefined) return refuse(`\`${twice}\` is given twice`)
  return ok(Object.fromEntries(searchParams) as Query<Key>)
}

/** How many rows of a list; 1 to 1,000, default 100. */
export function readLimit(text: string | undefined): Read<number> {
  if (text === undefined) return ok(LIST_DEFAULT)
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0
  return limit >= 1 && limit <= LIST_MAX ? ok(limit) : refuse(`\`limit\`: expected 1 to ${LIST_MAX}`)
}

/** Undefined for what cannot be the id of anything. */
export const readId = (id: string | undefined): string | undefined =>
  id !== undefined && id !== '' && id.length <= ID_CHARACTERS_MAX ? id : undefined

/** Who acts, in the records: always the credential, and never what a body says. */
export const actorOf = ({ id, name }: TokenRow): string =>
  name.trim() === '' ? id : name.trim().slice(0, BY_CHARACTERS_MAX).toWellFormed()
