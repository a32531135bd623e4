// Foreign JavaScript values become JSON here, or are refused: one pass takes a plain, deep-frozen copy in canonical key
// order, so that nothing outside can change it later. It calls no code of the value (no `toJSON`, no accessors) and
// guesses nothing: whatever would change or vanish on the way to JSON text is refused with its path.

declare global {
  interface String {
    /** ES2024; every Node that this package runs on has it. */
    isWellFormed(): boolean
  }
}

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject
export type JsonObject = { readonly [key: string]: JsonValue }

/** `bytesMax`: UTF-8 bytes of the JSON text. `depthMax`: nested objects and arrays. `keysMax`: members of all objects. */
export type JsonBounds = { readonly bytesMax: number; readonly depthMax: number; readonly keysMax: number }

export type TakeOptions = {
  /** `canonical` (the default) sorts keys as RFC 8785 does; `given` keeps the order of the value. */
  readonly keyOrder?: 'canonical' | 'given'
  /** What to do with a member whose value is undefined; refused unless told to leave it out. */
  readonly undefinedMembers?: 'refuse' | 'drop'
  /**
   * Integers past 2^53 - 1 are refused, because they may not be the number that was written, unless told to keep them. From
   * 1e21 on JavaScript itself writes an exponent: such a number is a measurement, such as 6.022e23, and is taken.
   */
  readonly unsafeIntegers?: 'refuse' | 'keep'
}

/** From here on the JSON text of a number has an exponent. */
const EXPONENT_FROM = 1e21

/** Whether a number surely is what was written, as far as the number itself can tell. */
export const isTakenNumber = (value: number): boolean =>
  Math.abs(value) <= Number.MAX_SAFE_INTEGER || hasExponent(value)

export const hasExponent = (value: number): boolean => Math.abs(value) >= EXPONENT_FROM && Number.isFinite(value)

export type JsonRefused = {
  readonly kind: 'refused'
  readonly code: 'invalid_args' | 'oversized'
  /** Such as `items[3].name`; empty for the value itself. */
  readonly path: string
  readonly expected: string
  readonly came: string
}

/** `text` is the JSON text of `value`: canonical (RFC 8785) unless the given key order was kept. `bytes` is its UTF-8 length. */
export type JsonTaken = {
  readonly kind: 'ok'
  readonly value: JsonValue
  readonly text: string
  readonly bytes: number
}

/** Takes a frozen copy of a foreign value. Never throws. */
export function takeJson(value: unknown, bounds: JsonBounds, options: TakeOptions = {}): JsonTaken | JsonRefused {
  return take(newWalk(bounds, options, true), value)
}

/**
 * As `takeJson`, for what `JSON.parse` has just made: nothing in it can be an accessor, a class or a symbol. `hasExponents`:
 * some number is large enough for one, and only the text tells whether it was written with one.
 */
export function takeParsedJson(
  value: unknown,
  bounds: JsonBounds,
): { readonly taken: JsonTaken | JsonRefused; readonly keys: number; readonly hasExponents: boolean } {
  const walk = newWalk(bounds, {}, false)
  const taken = take(walk, value)
  return { taken, keys: walk.keys, hasExponents: walk.hasExponents }
}

/** The canonical JSON text of a value (RFC 8785). */
export function canonicalJson(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  let text = ''
  if (isJsonArray(value)) {
    for (const item of value) text += text === '' ? canonicalJson(item) : `,${canonicalJson(item)}`
    return `[${text}]`
  }
  const keys = Object.keys(value)
  sortKeys(keys)
  for (const key of keys) {
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`
  }
  return `{${text}}`
}

export const isJsonArray = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** False where a UTF-16 surrogate stands alone: such text changes when it is encoded. */
export const isWellFormed = (text: string): boolean => text.isWellFormed()

const PATH_MAX = 200

/** A path for people and models, such as `items[3].name`; a key that is no plain word stands in brackets. */
export function jsonPath(steps: readonly (string | number)[]): string {
  let path = ''
  for (const step of steps) {
    if (typeof step === 'number') path += `[${step}]`
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) path += path === '' ? step : `.${step}`
    else path += `[${JSON.stringify(step)}]`
    if (path.length > PATH_MAX) return `${path.slice(0, PATH_MAX)}…`
  }
  return path
}

/** One sentence about a refusal, for whoever sent the value. `what` names the whole value, e.g. `the arguments`. */
export const refusalMessage = (refused: JsonRefused, what: string): string =>
  `${refused.path === '' ? what : `\`${refused.path}\``}: expected ${refused.expected}, came ${refused.came}`

/**
 * The state of one walk: a plain record with functions around it, because this runs for every call and V8 makes and
 * reads such a record in half the time of a class. `steps` fill up, innermost first, on the way out of a refusal.
 */
type Walk = {
  readonly bounds: JsonBounds
  readonly sorts: boolean
  readonly drops: boolean
  readonly keepsUnsafe: boolean
  readonly isForeign: boolean
  readonly copies: object[]
  readonly steps: (string | number)[]
  charactersLeft: number
  keys: number
  hasNumberKeys: boolean
  hasExponents: boolean
  refused: JsonRefused | undefined
  /** True where the value as a whole is at fault, so that no path is told. */
  isWhole: boolean
  tooDeep: object | undefined
}

const newWalk = (bounds: JsonBounds, options: TakeOptions, isForeign: boolean): Walk => ({
  bounds,
  sorts: options.keyOrder !== 'given',
  drops: options.undefinedMembers === 'drop',
  keepsUnsafe: options.unsafeIntegers === 'keep',
  isForeign,
  copies: [],
  steps: [],
  charactersLeft: bounds.bytesMax,
  keys: 0,
  hasNumberKeys: false,
  hasExponents: false,
  refused: undefined,
  isWhole: false,
  tooDeep: undefined,
})

function take(walk: Walk, value: unknown): JsonTaken | JsonRefused {
  try {
    const copy = takeValue(walk, value, 0)
    return copy === undefined ? conclude(walk) : finish(walk, copy)
  } catch (error) {
    if (error instanceof RangeError)
      return refused('oversized', '', 'a value that can be copied', 'one too large or too deep')
    return refused('invalid_args', '', 'plain JSON data', 'a value that throws when it is read')
  }
}

const conclude = (walk: Walk): JsonRefused => ({
  ...(walk.refused ?? refused('invalid_args', '', 'JSON data', 'nothing')),
  path: walk.isWhole ? '' : jsonPath(walk.steps.reverse()),
})

function finish(walk: Walk, value: JsonValue): JsonTaken | JsonRefused {
  // V8 writes the text of thawed objects faster, so freezing comes last. An object puts keys that look like numbers
  // first, whatever the order they were added in; only then is the order written by hand.
  const text = walk.hasNumberKeys && walk.sorts ? canonicalJson(value) : JSON.stringify(value)
  const bytes = Buffer.byteLength(text)
  if (bytes > walk.bounds.bytesMax)
    return refused('oversized', '', `at most ${walk.bounds.bytesMax} bytes of JSON`, `${bytes} bytes`)
  if (text.includes('\\ud')) {
    const steps = loneSurrogate(value)
    if (steps !== undefined)
      return refused('invalid_args', jsonPath(steps), 'well-formed Unicode', 'half of a surrogate pair')
  }
  for (const copy of walk.copies) Object.freeze(copy)
  return { kind: 'ok', value, text, bytes }
}

/** The frozen copy of one value. `undefined` is no JSON value, so it stands for "refused" here and below. */
function takeValue(walk: Walk, value: unknown, depth: number): JsonValue | undefined {
  switch (typeof value) {
    case 'string':
      return spend(walk, value.length + 2) ? value : undefined
    case 'number':
      return takeNumber(walk, value)
    case 'boolean':
      return spend(walk, 4) ? value : undefined
    case 'object': {
      if (value === null) return spend(walk, 4) ? null : undefined
      if (depth >= walk.bounds.depthMax) return refuseDepth(walk, value)
      const copy = Array.isArray(value) ? takeArray(walk, value, depth) : takeObject(walk, value, depth)
      // An ancestor that is the very value found too deep is a cycle.
      if (copy === undefined && walk.tooDeep === value)
        walk.refused = refused('invalid_args', '', 'JSON data', 'a value that contains itself')
      return copy
    }
    default:
      return refuse(walk, 'invalid_args', 'JSON data', describeForeign(value))
  }
}

function takeNumber(walk: Walk, value: number): JsonValue | undefined {
  if (!Number.isFinite(value)) return refuse(walk, 'invalid_args', 'a finite number', `${value}`)
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    if (hasExponent(value)) walk.hasExponents = true
    else if (!walk.keepsUnsafe)
      return refuse(walk, 'invalid_args', 'an integer of at most 2^53 - 1, or a string that holds it', `${value}`)
  }
  // Adding zero turns -0 into 0, which is what its text says.
  return spend(walk, 1) ? value + 0 : undefined
}

function takeArray(walk: Walk, value: readonly unknown[], depth: number): JsonValue | undefined {
  if (!spend(walk, 1 + value.length)) return undefined
  const copy: JsonValue[] = []
  for (let index = 0; index < value.length; index++) {
    const taken = takeValue(walk, value[index], depth + 1)
    if (taken === undefined) return stepOut(walk, index)
    copy.push(taken)
  }
  walk.copies.push(copy)
  return copy
}

function takeObject(walk: Walk, value: object, depth: number): JsonValue | undefined {
  if (walk.isForeign && !isPlain(value)) return refuse(walk, 'invalid_args', 'a plain object', describeForeign(value))
  const keys = Object.keys(value)
  walk.keys += keys.length
  if (walk.keys > walk.bounds.keysMax) return refuseWhole(walk, `at most ${walk.bounds.keysMax} keys in all`)
  if (!spend(walk, 1)) return undefined
  if (walk.sorts) sortKeys(keys)
  const copy: Record<string, JsonValue> = {}
  for (const key of keys) {
    const given = walk.isForeign ? dataMember(walk, value, key) : (value as Readonly<Record<string, unknown>>)[key]
    if (given === undefined && walk.drops && walk.refused === undefined) continue
    const taken = takeMember(walk, key, given, depth)
    if (taken === undefined) return stepOut(walk, key)
    const first = key.charCodeAt(0)
    if (first >= 48 && first <= 57) walk.hasNumberKeys = true
    if (key in Object.prototype)
      Object.defineProperty(copy, key, { value: taken, enumerable: true, configurable: true, writable: true })
    else copy[key] = taken
  }
  walk.copies.push(copy)
  return copy
}

function takeMember(walk: Walk, key: string, given: unknown, depth: number): JsonValue | undefined {
  if (!spend(walk, key.length + 4)) return undefined
  if (key === '__proto__') return refuse(walk, 'invalid_args', 'no key of this name', 'one')
  if (key === 'constructor' && typeof given === 'object' && given !== null && Object.hasOwn(given, 'prototype')) {
    return refuse(walk, 'invalid_args', 'no `prototype` below `constructor`', 'one')
  }
  return takeValue(walk, given, depth + 1)
}

function dataMember(walk: Walk, value: object, key: string): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(value, key)
  if (descriptor === undefined) return undefined
  if (descriptor.get !== undefined || descriptor.set !== undefined)
    return refuse(walk, 'invalid_args', 'JSON data', 'an accessor')
  return descriptor.value
}

/** Bounds the work before any text is made. What a value costs here is never more than the bytes of its text. */
function spend(walk: Walk, characters: number): boolean {
  walk.charactersLeft -= characters
  if (walk.charactersLeft >= 0) return true
  refuseWhole(walk, `at most ${walk.bounds.bytesMax} bytes of JSON`)
  return false
}

function refuseWhole(walk: Walk, expected: string): undefined {
  walk.isWhole = walk.refused === undefined
  return refuse(walk, 'oversized', expected, 'more')
}

function refuseDepth(walk: Walk, value: object): undefined {
  walk.tooDeep = value
  return refuse(walk, 'oversized', `at most ${walk.bounds.depthMax} levels of nesting`, 'more')
}

function refuse(walk: Walk, code: JsonRefused['code'], expected: string, came: string): undefined {
  walk.refused ??= refused(code, '', expected, came)
  return undefined
}

function stepOut(walk: Walk, step: string | number): undefined {
  walk.steps.push(step)
  return undefined
}

const refused = (code: JsonRefused['code'], path: string, expected: string, came: string): JsonRefused => ({
  kind: 'refused',
  code,
  path,
  expected,
  came,
})

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null && !isPrototypeOfOtherRealm(prototype)) return false
  return Object.getOwnPropertySymbols(value).length === 0
}

const isPrototypeOfOtherRealm = (prototype: unknown): boolean =>
  typeof prototype === 'object' &&
  prototype !== null &&
  Object.getPrototypeOf(prototype) === null &&
  Object.hasOwn(prototype, 'hasOwnProperty') &&
  Object.hasOwn(prototype, 'isPrototypeOf')

/** UTF-16 order, as RFC 8785 asks. Few keys are the rule, and sorting them in place is several times faster. */
function sortKeys(keys: string[]): void {
  if (keys.length > 16) {
    keys.sort()
    return
  }
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] ?? ''
    let before = index - 1
    for (; before >= 0; before--) {
      const other = keys[before] ?? ''
      if (other <= key) break
      keys[before + 1] = other
    }
    keys[before + 1] = key
  }
}

function describeForeign(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return 'undefined'
    case 'bigint':
      return 'a bigint'
    case 'object':
      return value !== null && Object.getOwnPropertySymbols(value).length > 0
        ? 'an object with symbol keys'
        : 'an instance of a class'
    default:
      return `a ${typeof value}`
  }
}

/** The path of the first string or key that holds half of a surrogate pair. */
function loneSurrogate(value: JsonValue): (string | number)[] | undefined {
  if (typeof value === 'string') return isWellFormed(value) ? undefined : []
  if (typeof value !== 'object' || value === null) return undefined
  const entries: (readonly [string | number, JsonValue])[] = isJsonArray(value)
    ? [...value.entries()]
    : Object.entries(value)
  for (const [step, below] of entries) {
    if (typeof step === 'string' && !isWellFormed(step)) return [step]
    const steps = loneSurrogate(below)
    if (steps !== undefined) return [step, ...steps]
  }
  return undefined
}
