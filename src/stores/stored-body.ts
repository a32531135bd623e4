// What is kept of a draft: one body. Personal members are sealed into it with the key of the person whom they are about, or,
// where nothing is sealed, stand in it among the others. Texts that are not kept leave what proves them: of arguments an HMAC, of a result its digest.
// Digests are personal as well: whoever may guess at what was said could try them.

import { sha256 } from '../base/digest.ts'
import { isJsonObject, type JsonObject } from '../base/json-value.ts'
import { mergeMembers } from '../base/merge-members.ts'
import { withMembers } from '../base/with-members.ts'
import type { RecordDraft, RecordSubject } from '../observe/store.ts'
import type { Sealed } from './subject-keys.ts'

export type BodyParts = Pick<RecordDraft, 'body' | 'personal' | 'subject' | 'argumentsText' | 'resultText'>

export type StoredBody = { readonly body: string; readonly subject: string | null }

export type BodyKeys = {
  hmac(text: string): string
  seal(subject: RecordSubject, purpose: 'record', content: string): Sealed
}

const SEALED = /^"subject":"([0-9a-f]{32})","sealed":"([A-Za-z0-9+/]+={0,2})"\}$/

/** Characters that a draft takes where rows are bounded. */
export const draftChars = ({ body, personal, argumentsText, resultText }: BodyParts): number =>
  body.length + (personal?.length ?? 0) + (argumentsText?.length ?? 0) + (resultText?.length ?? 0)

/** Runs inside a write transaction: a person may be given a key. */
export function sealedBody(parts: BodyParts, keys: BodyKeys): StoredBody {
  const { body, personal, subject } = parts
  if (personal === undefined || subject === undefined) return { body: mergedBody(parts, keys), subject: null }
  const text = withMembers(body, bytesMember(parts))
  const { subject: id, sealed } = keys.seal(subject, 'record', withMembers(personal, proofs(parts, keys)))
  return { body: withMembers(text, `"subject":"${id}","sealed":"${sealed.toString('base64')}"`), subject: id }
}

/** Everything in one object, readable. */
export function mergedBody(parts: BodyParts, keys: Pick<BodyKeys, 'hmac'>): string {
  const { body, personal } = parts
  const text = withMembers(body, bytesMember(parts))
  const more = withMembers(personal ?? '{}', proofs(parts, keys))
  return more === '{}' ? text : JSON.stringify(mergeMembers(objectOf(text), objectOf(more)))
}

/** The sealed half of a stored body; undefined for one that has none. */
export function sealedPart(body: string): { readonly subject: string; readonly sealed: Buffer } | undefined {
  const from = body.lastIndexOf('"subject":"')
  const [, subject, sealed] = from === -1 ? [] : (SEALED.exec(body.slice(from)) ?? [])
  if (subject === undefined || sealed === undefined) return undefined
  return { subject, sealed: Buffer.from(sealed, 'base64') }
}

const bytesMember = ({ resultText }: BodyParts): string =>
  resultText === undefined ? '' : `"result":{"bytes":${Buffer.byteLength(resultText)}}`

function proofs({ argumentsText, resultText }: BodyParts, keys: Pick<BodyKeys, 'hmac'>): string {
  const ofArguments = argumentsText === undefined ? '' : `"argsHmac":"${keys.hmac(argumentsText)}"`
  if (resultText === undefined) return ofArguments
  const ofResult = `"result":{"digest":"${sha256(resultText)}"}`
  return ofArguments === '' ? ofResult : `${ofArguments},${ofResult}`
}

function objectOf(text: string): JsonObject {
  const value: unknown = JSON.parse(text)
  if (!isJsonObject(value)) throw new TypeError('a record is the JSON text of an object')
  return value
}
