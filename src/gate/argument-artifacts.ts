// An argument can name what was kept of an earlier result instead of holding it: `{ "$artifact": "art_…" }` stands for the
// whole JSON value, or the whole text. It is put in before anything is validated or decided, so that schemas, rules,
// approvals and records see what the tool will get. What it is replaced by is not looked through for further names.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../base/json-value.ts'
import type { Artifact } from '../observe/store.ts'

const ID = /^art_[0-9a-f]{32}$/
/** What every reference has in canonical text; almost no other arguments hold it. */
const MARK = '"$artifact":"art_'
/** Contents that one call may name. */
const NAMED_MAX = 32

export type ReferencesResolved =
  | { readonly kind: 'ok'; readonly value: JsonObject }
  | { readonly kind: 'invalid'; readonly code: 'invalid_args' | 'oversized'; readonly message: string }

const invalid = (code: 'invalid_args' | 'oversized', message: string): ReferencesResolved => ({
  ...{ kind: 'invalid', code, message },
})

/** What a caller may read of it now, or, in words for the model, why not. */
export type FoundArtifact =
  | { readonly kind: 'ok'; readonly artifact: Artifact }
  | { readonly kind: 'refused'; readonly why: string }

export type FindArtifact = (id: string) => Promise<FoundArtifact>

/** Whether arguments, as canonical text, may name something that was kept. */
export const mayNameArtifacts = (text: string): boolean => text.includes(MARK)

/** A copy with everything that is named in its place. `bytesMax`: of all contents that are put in together. */
export async function resolveReferences(
  args: JsonObject,
  bytesMax: number,
  find: FindArtifact,
): Promise<ReferencesResolved> {
  const named = new Map<string, string>()
  collect(args, '', named)
  if (named.size > NAMED_MAX) return invalid('invalid_args', `the arguments name more than ${NAMED_MAX} kept results`)
  const values = new Map<string, JsonValue>()
  let bytes = 0
  for (const [id, path] of named) {
    const found = await find(id)
    if (found.kind === 'refused') return invalid('invalid_args', `\`${path}\` names \`${id}\`: ${found.why}`)
    const { row } = found.artifact
    bytes += row.bytes
    if (bytes > bytesMax) {
      const more = `of ${row.bytes} bytes: arguments have at most ${bytesMax} in all`
      return invalid('oversized', `\`${path}\` names \`${id}\` ${more}`)
    }
    const value = contentOf(found.artifact)
    if (value === undefined)
      return invalid('invalid_args', `\`${path}\` names \`${id}\`, which is ${row.mediaType} and no text or JSON`)
    values.set(id, value)
  }
  const replaced = replace(args, values)
  return isJsonObject(replaced)
    ? { kind: 'ok', value: replaced }
    : invalid('invalid_args', 'the arguments: expected a JSON object')
}

/** The id of an object that is a reference and nothing else. */
function referenced(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return undefined
  const keys = Object.keys(value)
  const id = keys.length === 1 && keys[0] === '$artifact' ? value.$artifact : undefined
  return typeof id === 'string' && ID.test(id) ? id : undefined
}

/** Every id, with the first place that names it. */
function collect(value: JsonValue, path: string, named: Map<string, string>): void {
  const id = referenced(value)
  if (id !== undefined) {
    if (!named.has(id)) named.set(id, path === '' ? 'arguments' : path)
  } else if (isJsonArray(value)) {
    for (const [index, item] of value.entries()) collect(item, `${path}[${index}]`, named)
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) collect(item, path === '' ? key : `${path}.${key}`, named)
  }
}

function replace(value: JsonValue, values: ReadonlyMap<string, JsonValue>): JsonValue {
  const id = referenced(value)
  if (id !== undefined) return values.get(id) ?? null
  if (isJsonArray(value)) return value.map((item) => replace(item, values))
  if (!isJsonObject(value)) return value
  // `fromEntries` defines members, so that no key of a foreign name reaches a prototype.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replace(item, values)]))
}

/** The JSON value or the text; undefined for what is neither. */
function contentOf({ row, content }: Artifact): JsonValue | undefined {
  const isJson = row.mediaType === 'application/json'
  if (!isJson && !row.mediaType.startsWith('text/')) return undefined
  const text = Buffer.from(content).toString()
  if (!isJson) return text
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
