// From an author's or an upstream's schema to the check of a tool's input or output, and to the JSON Schema that models
// are shown. A schema that cannot be judged is bad and says why: there is no tool without its check.

import {
  isJsonObject,
  type JsonBounds,
  type JsonObject,
  type JsonValue,
  refusalMessage,
  type TakeOptions,
  takeJson,
} from '../../base/json-value.ts'
import { admitsObjects } from './admits-objects.ts'
import { type CheckResult, invalid } from './check-result.ts'
import { describeValue } from './describe-value.ts'
import { LintCache } from './lint-cache.ts'
import { FOREIGN_LIMITS, type LintedSchema, lintSchema, type SchemaLimits, TRUSTED_LIMITS } from './lint-schema.ts'
import { plainSchemaCheck } from './plain-schema-check.ts'
import { standardSchemaCheck } from './standard-schema-check.ts'
import type { StandardToolSchema, ToolSchema } from './tool-schema.ts'

export type CheckOptions = {
  /** False for schemas of upstreams: tighter bounds. True for an author's own, where a misspelt keyword is refused too. */
  readonly trusted: boolean
  /** `input` (the default): arguments, always an object. `output`: the value of a tool, of any type. */
  readonly purpose?: 'input' | 'output'
}

export type SchemaCheck = {
  readonly kind: 'ok'
  /** What models are shown: frozen, in the order in which it was written. */
  readonly jsonSchema: JsonObject
  /**
   * Checks a value that `takeJson` has taken. `text` is its JSON text, if known. A promise only where the schema itself is
   * asynchronous. Never throws.
   */
  check(value: JsonValue, text?: string): CheckResult | Promise<CheckResult>
}

export type SchemaBad = { readonly kind: 'bad'; readonly reason: string }

// What a caller wrote was bounded before; what it named may be rows without end, which `checkInput` bounds.
const INPUT_BOUNDS: JsonBounds = { bytesMax: 1_048_576, depthMax: 64, keysMax: 200_000 }
const OUTPUT_BOUNDS: JsonBounds = { bytesMax: 67_108_864, depthMax: 64, keysMax: 1_000_000 }
const SCHEMA_DEPTH_MAX = 128

/** Schemas of upstreams, which tell them again and again: 512 of them, 2 MiB of text together. */
const FOREIGN_LINTS = new LintCache(FOREIGN_LIMITS, 512, 2_097_152)

/** Judges a schema and makes its check. Never throws. */
export function compileCheck(schema: ToolSchema, options: CheckOptions): SchemaCheck | SchemaBad {
  const { trusted, purpose = 'input' } = options
  const limits = trusted ? TRUSTED_LIMITS : FOREIGN_LIMITS
  try {
    // Code of an upstream's schema is never run: without trust, a schema is JSON or nothing.
    const standard = trusted ? standardSchemaOf(schema) : undefined
    return standard === undefined
      ? compilePlain(schema, limits, trusted, purpose)
      : compileStandard(standard, limits, purpose)
  } catch (error) {
    return bad(`the schema cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

type Purpose = 'input' | 'output'

const wholeOf = (purpose: Purpose): string => (purpose === 'input' ? 'the arguments' : 'the value')

function compilePlain(
  schema: unknown,
  limits: SchemaLimits,
  trusted: boolean,
  purpose: Purpose,
): SchemaCheck | SchemaBad {
  const taken = takeSchema(schema, limits)
  if (taken.kind === 'bad') return taken
  const { jsonSchema, text } = taken
  const linted = trusted ? lintSchema(jsonSchema, limits, true) : FOREIGN_LINTS.lint(jsonSchema, text)
  if (linted.kind === 'bad') return linted
  const check = plainSchemaCheck(linted, wholeOf(purpose))
  return purpose === 'input' ? inputCheck(linted, check) : { kind: 'ok', jsonSchema: linted.root, check }
}

function compileStandard(schema: StandardToolSchema, limits: SchemaLimits, purpose: Purpose): SchemaCheck | SchemaBad {
  const face = writeFace(schema, purpose)
  if (face.kind === 'bad') return face
  const taken = takeSchema(face.written, limits)
  if (taken.kind === 'bad') return taken
  const { jsonSchema } = taken
  const bounds = purpose === 'input' ? INPUT_BOUNDS : OUTPUT_BOUNDS
  const options: TakeOptions = { undefinedMembers: 'drop', keyOrder: purpose === 'input' ? 'canonical' : 'given' }
  const check = standardSchemaCheck(schema, wholeOf(purpose), bounds, options)
  return purpose === 'input'
    ? inputCheck({ root: jsonSchema, targets: new Map() }, check)
    : { kind: 'ok', jsonSchema, check }
}

/** Arguments are an object: that is judged before the schema is asked. */
function inputCheck(
  judged: Pick<LintedSchema, 'root' | 'targets'>,
  check: SchemaCheck['check'],
): SchemaCheck | SchemaBad {
  if (!admitsObjects(judged)) return bad('the schema admits no objects, and arguments are always one')
  return {
    kind: 'ok',
    jsonSchema: asObjectSchema(judged.root),
    check: (value, text) => (isJsonObject(value) ? check(value, text) : notAnObject(value)),
  }
}

const bad = (reason: string): SchemaBad => ({ kind: 'bad', reason })

const notAnObject = (value: JsonValue): CheckResult =>
  invalid([{ path: '', expected: 'an object', came: describeValue(value) }], 'the arguments')

/** A schema as frozen JSON. Numbers past 2^53 are kept: as a bound they do no harm. */
function takeSchema(
  schema: unknown,
  limits: SchemaLimits,
): { readonly kind: 'ok'; readonly jsonSchema: JsonObject; readonly text: string } | SchemaBad {
  if (typeof schema === 'boolean') return bad(`the schema is \`${schema}\`; a tool needs an object`)
  const bounds = { bytesMax: limits.bytesMax, depthMax: SCHEMA_DEPTH_MAX, keysMax: limits.bytesMax }
  const taken = takeJson(schema, bounds, { keyOrder: 'given', unsafeIntegers: 'keep' })
  if (taken.kind === 'refused') return bad(refusalMessage(taken, 'the schema'))
  return isJsonObject(taken.value)
    ? { kind: 'ok', jsonSchema: taken.value, text: taken.text }
    : bad(`the schema: expected an object, came ${describeValue(taken.value)}`)
}

/** Arguments are objects whatever the schema says; MCP and the providers want to read it at the top. */
function asObjectSchema(jsonSchema: JsonObject): JsonObject {
  const { type } = jsonSchema
  if (type === 'object') return jsonSchema
  return Object.freeze(type === undefined ? { type: 'object', ...jsonSchema } : { ...jsonSchema, type: 'object' })
}

function standardSchemaOf(schema: unknown): StandardToolSchema | undefined {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null || !('~standard' in schema))
    return undefined
  const standard = schema['~standard']
  const isStandard =
    typeof standard === 'object' &&
    standard !== null &&
    'validate' in standard &&
    typeof standard.validate === 'function'
  return isStandard ? (schema as StandardToolSchema) : undefined
}

function writeFace(
  schema: StandardToolSchema,
  purpose: Purpose,
): { readonly kind: 'ok'; readonly written: unknown } | SchemaBad {
  const { jsonSchema, vendor } = schema['~standard']
  if (jsonSchema === undefined) {
    return bad(
      `this \`${vendor}\` schema has no JSON Schema to show to models; wrap it with the library's Standard JSON Schema converter`,
    )
  }
  try {
    return { kind: 'ok', written: jsonSchema[purpose]({ target: 'draft-2020-12' }) }
  } catch (error) {
    return bad(
      `this \`${vendor}\` schema has no JSON Schema: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}
