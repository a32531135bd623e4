// Finds what a reference of a schema points at, inside the document and nowhere else: by JSON Pointer, by anchor, or by
// the `$id` of the document or of a schema embedded in it. It fetches nothing, and a pointer into something that is no
// schema (an enum, a default, the list of properties itself) is refused.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../base/json-value.ts'
import { KEYWORDS } from './schema-dialect.ts'

/** A schema with an identity of its own: the document, or an embedded schema with an `$id`. */
export type Resource = { readonly uri: string; readonly root: JsonObject }

export type Reference =
  | { readonly kind: 'ok'; readonly target: JsonValue; readonly resource: Resource }
  | { readonly kind: 'bad'; readonly reason: string }

const BASE = 'lockgate-schema:/'

/** The absolute form of an `$id` or of the address of a reference; undefined where it has none. */
export function absoluteUri(uri: string, base = BASE): string | undefined {
  try {
    const absolute = new URL(uri, base)
    absolute.hash = ''
    return absolute.href
  } catch {
    return undefined
  }
}

export const DOCUMENT_URI = `${BASE}document`

/** True for the address of a schema that everybody knows: nothing else may take it. */
export function isMetaSchemaUri(uri: string): boolean {
  try {
    const { hostname, pathname } = new URL(uri)
    return (
      (hostname === 'json-schema.org' || hostname === 'www.json-schema.org') && /^\/(?:draft|schema)/.test(pathname)
    )
  } catch {
    return false
  }
}

export class SchemaReferences {
  readonly #resources = new Map<string, Resource>()
  readonly #anchors = new Map<string, JsonObject>()
  readonly #dynamic = new Map<string, number>()
  #recursiveAnchors = 0

  addResource(resource: Resource): boolean {
    if (this.#resources.has(resource.uri)) return false
    this.#resources.set(resource.uri, resource)
    return true
  }

  addAnchor(name: string, schema: JsonObject, resource: Resource): boolean {
    const key = `${resource.uri}#${name}`
    if (this.#anchors.has(key)) return this.#anchors.get(key) === schema
    this.#anchors.set(key, schema)
    return true
  }

  addDynamicAnchor(name: string): void {
    this.#dynamic.set(name, (this.#dynamic.get(name) ?? 0) + 1)
  }

  addRecursiveAnchor(): void {
    this.#recursiveAnchors++
  }

  resolve(keyword: string, reference: string, from: Resource): Reference {
    const hash = reference.indexOf('#')
    const address = hash < 0 ? reference : reference.slice(0, hash)
    const resource = address === '' ? from : this.#resources.get(absoluteUri(address, from.uri) ?? '')
    if (resource === undefined) return bad('points outside this document')
    const fragment = decode(hash < 0 ? '' : reference.slice(hash + 1))
    if (fragment === undefined) return bad('is not well encoded')
    if (this.#isAmbiguous(keyword, fragment))
      return bad('depends on the way by which the schema is reached, which is not supported')
    if (fragment === '' || fragment.startsWith('/')) return followPointer(fragment, resource)
    const target = this.#anchors.get(`${resource.uri}#${fragment}`)
    return target === undefined ? bad('points at nothing') : { kind: 'ok', target, resource }
  }

  /** A dynamic reference is an ordinary one as long as only one schema of the document can answer to its name. */
  #isAmbiguous(keyword: string, fragment: string): boolean {
    if (keyword === '$dynamicRef') return (this.#dynamic.get(fragment) ?? 0) > 1
    return keyword === '$recursiveRef' && this.#recursiveAnchors > 0 && this.#resources.size > 1
  }
}

const bad = (reason: string): Reference => ({ kind: 'bad', reason })

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return undefined
  }
}

/** What stands at a step of a pointer. `unknown` lies below a keyword that Lockgate does not know, such as `components`. */
type Standing = 'schema' | 'schema-list' | 'schema-map' | 'items' | 'unknown' | 'no-schema'

function followPointer(pointer: string, resource: Resource): Reference {
  let value: JsonValue | undefined = resource.root
  let standing: Standing = 'schema'
  for (const escaped of pointer.split('/').slice(1)) {
    if (/~(?![01])/.test(escaped)) return bad('is not well encoded')
    const step = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    standing = standingBelow(standing, step)
    value = childOf(value, step)
    if (value === undefined) return bad('points at nothing')
    if (standing === 'items') standing = isJsonArray(value) ? 'schema-list' : 'schema'
  }
  const isSchema = standing === 'schema' || standing === 'unknown'
  if (!isSchema || !(isJsonObject(value) || typeof value === 'boolean'))
    return bad('points at something that is no schema')
  return { kind: 'ok', target: value, resource }
}

function standingBelow(standing: Standing, step: string): Standing {
  if (standing === 'schema-list' || standing === 'schema-map') return 'schema'
  if (standing !== 'schema') return standing
  const shape = KEYWORDS.get(step)
  switch (shape) {
    case undefined:
      return 'unknown'
    case 'schema':
    case 'schema-list':
    case 'schema-map':
    case 'items':
      return shape
    case 'pattern-map':
    case 'dependencies':
      return 'schema-map'
    default:
      return 'no-schema'
  }
}

function childOf(value: JsonValue | undefined, step: string): JsonValue | undefined {
  if (isJsonObject(value)) return Object.hasOwn(value, step) ? value[step] : undefined
  if (value === undefined || !Array.isArray(value) || !/^(?:0|[1-9]\d{0,8})$/.test(step)) return undefined
  return value[Number(step)]
}
