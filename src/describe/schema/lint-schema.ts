// Judges a JSON Schema before anything is checked with it: well formed, within bounds, closed in itself, and never endless.
// Schemas of upstream servers are hostile input, so every bound holds before the work that it bounds. It changes nothing
// in the schema, and a property or value that merely looks like a keyword is left alone.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../base/json-value.ts'
import { describeValue, shorten } from './describe-value.ts'
import { findKeywordFault } from './keyword-fault.ts'
import { meantKeyword } from './keyword-typo.ts'
import { type LinearPattern, readPattern } from './linear-pattern.ts'
import {
  DIALECT_NAMES,
  type Dialect,
  dialectOf,
  IN_PLACE,
  isBefore2019,
  isBefore2020,
  KEYWORDS,
  type KeywordShape,
} from './schema-dialect.ts'
import { absoluteUri, DOCUMENT_URI, isMetaSchemaUri, type Resource, SchemaReferences } from './schema-references.ts'
import { findEndlessness } from './schema-work.ts'

export type SchemaLimits = {
  readonly bytesMax: number
  readonly subschemasMax: number
  /** Schemas inside schemas. */
  readonly depthMax: number
  readonly enumMax: number
  /** All patterns together, in steps per character. */
  readonly patternSizeMax: number
}

export const FOREIGN_LIMITS: SchemaLimits = {
  bytesMax: 65_536,
  subschemasMax: 2_000,
  depthMax: 32,
  enumMax: 5_000,
  patternSizeMax: 50_000,
}
/** An author's own schema may be larger; it runs with the same care. */
export const TRUSTED_LIMITS: SchemaLimits = { ...FOREIGN_LIMITS, bytesMax: 262_144, subschemasMax: 8_000 }

export type LintedSchema = {
  readonly kind: 'ok'
  readonly root: JsonObject
  /** What the references of a schema point at. */
  readonly targets: ReadonlyMap<JsonObject, readonly JsonValue[]>
  readonly patterns: ReadonlyMap<string, LinearPattern>
  readonly dialect: Dialect
}

export type SchemaRefused = { readonly kind: 'bad'; readonly reason: string }

/** Judges a schema that is already known to be JSON. `isStrict` also refuses keywords that look misspelt. */
export function lintSchema(root: JsonObject, limits: SchemaLimits, isStrict: boolean): LintedSchema | SchemaRefused {
  const uri = root.$schema
  const dialect = uri === undefined ? 'draft-2020-12' : typeof uri === 'string' ? dialectOf(uri) : undefined
  if (dialect === undefined)
    return { kind: 'bad', reason: `\`$schema\` names a dialect that cannot be checked; known are ${DIALECT_NAMES}` }
  const walk = new SchemaWalk(root, limits, dialect, isStrict)
  const reason = walk.run()
  if (reason !== undefined) return { kind: 'bad', reason }
  return { kind: 'ok', root, targets: walk.targets, patterns: walk.patterns, dialect }
}

type PendingReference = {
  readonly schema: JsonObject
  readonly keyword: string
  readonly reference: string
  readonly from: Resource
  readonly at: string
}

class SchemaWalk {
  readonly targets = new Map<JsonObject, JsonValue[]>()
  readonly patterns = new Map<string, LinearPattern>()
  readonly #inPlace = new Map<JsonObject, JsonValue[]>()
  readonly #root: JsonObject
  readonly #limits: SchemaLimits
  readonly #dialect: Dialect
  readonly #isStrict: boolean
  readonly #references = new SchemaReferences()
  readonly #pending: PendingReference[] = []
  #subschemas = 0
  #patternSize = 0
  #reason: string | undefined

  constructor(root: JsonObject, limits: SchemaLimits, dialect: Dialect, isStrict: boolean) {
    this.#root = root
    this.#limits = limits
    this.#dialect = dialect
    this.#isStrict = isStrict
  }

  /** The reason why the schema does not hold, or undefined. */
  run(): string | undefined {
    const document = { uri: DOCUMENT_URI, root: this.#root }
    this.#references.addResource(document)
    this.#readSchema(this.#root, document, '#', 0)
    for (
      let pending = this.#pending.shift();
      pending !== undefined && this.#reason === undefined;
      pending = this.#pending.shift()
    ) {
      this.#resolve(pending)
    }
    if (this.#reason === undefined) this.#reason = findEndlessness(this.#inPlace)
    return this.#reason
  }

  #readSchema(schema: JsonValue, outer: Resource, at: string, depth: number): void {
    if (this.#reason !== undefined || typeof schema === 'boolean') return
    if (!isJsonObject(schema)) {
      this.#refuse(at, `expected a schema, came ${describeValue(schema)}`)
      return
    }
    if (depth > this.#limits.depthMax) {
      this.#refuse(at, `schemas nest deeper than ${this.#limits.depthMax}`)
      return
    }
    if (++this.#subschemas > this.#limits.subschemasMax) {
      this.#refuse(at, `more than ${this.#limits.subschemasMax} subschemas`)
      return
    }
    this.#inPlace.set(schema, [])
    const resource = this.#identify(schema, outer, at)
    for (const keyword of Object.keys(schema)) {
      if (this.#reason !== undefined) return
      const shape = KEYWORDS.get(keyword)
      if (shape === undefined) this.#readUnknown(keyword, at)
      else
        this.#readKeyword({
          schema,
          keyword,
          shape,
          value: schema[keyword] ?? null,
          resource,
          at: `${at}/${pointerStep(keyword)}`,
          depth,
        })
    }
  }

  /** The resource that the references of a schema start from: its own where it has an `$id`. */
  #identify(schema: JsonObject, outer: Resource, at: string): Resource {
    const id = schema.$id
    if (typeof id !== 'string' || (isBefore2019(this.#dialect) && schema.$ref !== undefined)) return outer
    if (id.startsWith('#') && isBefore2020(this.#dialect)) {
      if (!this.#references.addAnchor(id.slice(1), schema, outer))
        this.#refuse(at, `\`$id\` ${shorten(id)} is used twice`)
      return outer
    }
    const uri = absoluteUri(id, schema === this.#root ? undefined : outer.uri)
    if (uri === undefined) {
      this.#refuse(at, '`$id` is no URI')
      return outer
    }
    if (isMetaSchemaUri(uri)) this.#refuse(at, '`$id` takes the place of a well-known meta-schema')
    const resource = { uri, root: schema }
    if (!this.#references.addResource(resource)) this.#refuse(at, `\`$id\` \`${shorten(id)}\` is used twice`)
    return resource
  }

  #readUnknown(keyword: string, at: string): void {
    const meant = this.#isStrict ? meantKeyword(keyword) : undefined
    if (meant !== undefined) this.#refuse(at, `unknown keyword \`${shorten(keyword)}\`: was \`${meant}\` meant?`)
  }

  #readKeyword(found: FoundKeyword): void {
    const { keyword, shape, value, schema, resource, at } = found
    const fault = findKeywordFault(shape, value, this.#dialect)
    if (fault !== undefined) {
      this.#refuse(at, `expected ${fault}, came ${describeValue(value)}`)
      return
    }
    switch (shape) {
      case 'reference':
        this.#pending.push({ schema, keyword, reference: String(value), from: resource, at })
        return
      case 'anchor':
        this.#readAnchor(keyword, String(value), schema, resource, at)
        return
      case 'dialect':
        if (dialectOf(String(value)) !== this.#dialect) {
          this.#refuse(at, 'a schema inside names another dialect than the document')
        }
        return
      case 'pattern':
        this.#readPattern(String(value), at)
        return
      case 'enum':
        if (isJsonArray(value) && value.length > this.#limits.enumMax) {
          this.#refuse(at, `more than ${this.#limits.enumMax} values`)
        }
        return
      case 'boolean':
        if (keyword === '$recursiveAnchor' && value === true) this.#references.addRecursiveAnchor()
        return
      default:
        this.#readBelow(found)
    }
  }

  #readAnchor(keyword: string, name: string, schema: JsonObject, resource: Resource, at: string): void {
    if (keyword === '$dynamicAnchor') this.#references.addDynamicAnchor(name)
    if (!this.#references.addAnchor(name, schema, resource))
      this.#refuse(at, `the anchor \`${shorten(name)}\` is used twice`)
  }

  #readPattern(source: string, at: string): void {
    if (this.patterns.has(source)) return
    const read = readPattern(source)
    if (read.kind === 'bad') {
      this.#refuse(at, `the pattern cannot be used: ${read.reason}`)
      return
    }
    this.patterns.set(source, read.pattern)
    this.#patternSize += read.pattern.size
    if (this.#patternSize > this.#limits.patternSizeMax)
      this.#refuse(at, 'the patterns of this schema are too large together')
  }

  /** Reads the subschemas of a keyword that has any. */
  #readBelow({ keyword, shape, value, schema, resource, at, depth }: FoundKeyword): void {
    for (const [step, below] of subschemasOf(shape, value)) {
      if (this.#reason !== undefined) return
      const where = step === '' ? at : `${at}/${pointerStep(step)}`
      if (shape === 'pattern-map') this.#readPattern(step, where)
      if (IN_PLACE.has(keyword)) this.#inPlace.get(schema)?.push(below)
      this.#readSchema(below, resource, where, depth + 1)
    }
  }

  #resolve({ schema, keyword, reference, from, at }: PendingReference): void {
    const found = this.#references.resolve(keyword, reference, from)
    if (found.kind === 'bad') {
      this.#refuse(at, `\`${shorten(reference)}\` ${found.reason}`)
      return
    }
    const targets = this.targets.get(schema) ?? []
    this.targets.set(schema, [...targets, found.target])
    this.#inPlace.get(schema)?.push(found.target)
    // A target below a keyword that is not known has not been read yet.
    if (isJsonObject(found.target) && !this.#inPlace.has(found.target))
      this.#readSchema(found.target, found.resource, reference, 0)
  }

  #refuse(at: string, reason: string): void {
    this.#reason ??= `\`${at.length > 120 ? `${at.slice(0, 120)}…` : at}\`: ${reason}`
  }
}

type FoundKeyword = {
  readonly schema: JsonObject
  readonly keyword: string
  readonly shape: KeywordShape
  readonly value: JsonValue
  readonly resource: Resource
  readonly at: string
  readonly depth: number
}

/** The subschemas in the value of a keyword, each with its step; the step is empty where the value itself is one. */
function subschemasOf(shape: KeywordShape, value: JsonValue): readonly (readonly [string, JsonValue])[] {
  switch (shape) {
    case 'schema':
      return [['', value]]
    case 'schema-list':
    case 'items':
      return isJsonArray(value) ? value.map((item, index) => [String(index), item]) : [['', value]]
    case 'schema-map':
    case 'pattern-map':
      return isJsonObject(value) ? Object.entries(value) : []
    case 'dependencies':
      return isJsonObject(value) ? Object.entries(value).filter(([, below]) => !isJsonArray(below)) : []
    default:
      return []
  }
}

const pointerStep = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1')
