// From what a caller sent to canonical arguments: bounded, of the right shape, resolved to what will be opened, checked on
// meaning, frozen. Rules, approvals, records and the tool all see this one form.

import type { Clock } from '../base/clock.ts'
import { errorText } from '../base/error-text.ts'
import { takeJsonText } from '../base/json-text.ts'
import {
  isJsonObject,
  type JsonBounds,
  type JsonObject,
  type JsonTaken,
  refusalMessage,
  takeJson,
} from '../base/json-value.ts'
import { isPromiseLike, within } from '../base/within.ts'
import type { Call, CheckedInput } from './call.ts'
import { commandOf, readBinds } from './command-facts.ts'
import { effectOf } from './effect.ts'
import type { Entry } from './entry.ts'
import { readTouches, TOUCHES_UNKNOWN, type Touches } from './resource.ts'
import type { Refusal } from './tool.ts'

export type InputRefused = {
  readonly kind: 'invalid'
  readonly code:
    | 'invalid_args'
    | 'unsafe_args'
    | 'permission_denied'
    | 'oversized'
    | 'timeout'
    | 'tool_crashed'
    | 'unavailable'
  readonly message: string
  readonly help?: string
}

export type InputResult = CheckedInput | InputRefused

const DEPTH_MAX = 64
const KEYS_MAX = 10_000
export const ARGUMENT_BYTES_MAX = 1_048_576

/** A content that was kept comes from the gate itself: it is bounded by its bytes, and has as many keys as its rows have. */
const REFERENCED_KEYS_MAX = 200_000

/** Values that arguments name instead of holding them: put in before anything else looks at the arguments. */
export type ArgumentReferences = {
  /** Whether canonical arguments may name any. */
  has(text: string): boolean
  /** A copy with all of them in their places. */
  replace(
    call: Call,
    args: JsonObject,
    bytesMax: number,
  ): Promise<{ readonly kind: 'ok'; readonly value: JsonObject } | InputRefused>
}

/** Checks the arguments of one call. `deadlineAtMs` bounds what an author's own functions may take. */
export function checkInput(
  call: Call,
  entry: Entry,
  bytesMax: number,
  clock: Clock,
  deadlineAtMs: number,
  references?: ArgumentReferences,
): InputResult | Promise<InputResult> {
  const bounds = {
    depthMax: DEPTH_MAX,
    keysMax: KEYS_MAX,
    bytesMax: Math.min(bytesMax, entry.tool.limits?.argumentBytes ?? bytesMax),
  }
  const given = readArguments(call.request.arguments, bounds)
  if (given.kind !== 'ok') return given
  const check = entry.checkInput
  if (check === undefined)
    return {
      kind: 'invalid',
      code: 'unavailable',
      message: 'the input schema of this tool does not hold, so nothing can be checked',
    }
  if (references?.has(given.text) === true)
    return bounded(checkReferenced(call, entry, given, bounds, references), clock, deadlineAtMs)
  const checked = check.check(given.value, given.text)
  if (!isPromiseLike(checked) && isPlain(entry)) {
    if (checked.kind === 'invalid') return shapeRefused(checked)
    return isJsonObject(checked.value)
      ? conclude(entry, call, checked.value, checked.text, TOUCHES_UNKNOWN)
      : notAnObject()
  }
  return bounded(checkSlowly(call, entry, checked, bounds), clock, deadlineAtMs)
}

const isPlain = ({ tool }: Entry): boolean =>
  tool.resolve === undefined && tool.touches === undefined && tool.binds === undefined

/** A member whose value is undefined is one that was not given, as `JSON.stringify` has it. */
const DROP_UNDEFINED = { undefinedMembers: 'drop' } as const

/** INVARIANT last-check: what is named is put in first, so that schema, rules, approval and tool see one and the same value. */
async function checkReferenced(
  call: Call,
  entry: Entry,
  given: JsonTaken & { kind: 'ok' },
  bounds: JsonBounds,
  references: ArgumentReferences,
): Promise<InputResult> {
  if (entry.checkInput === undefined || !isJsonObject(given.value)) return notAnObject()
  const replaced = await references.replace(call, given.value, bounds.bytesMax)
  if (replaced.kind === 'invalid') return replaced
  const wide = { ...bounds, keysMax: REFERENCED_KEYS_MAX }
  const taken = takeJson(replaced.value, wide)
  if (taken.kind === 'refused')
    return { kind: 'invalid', code: taken.code, message: refusalMessage(taken, 'the arguments') }
  return await checkSlowly(call, entry, entry.checkInput.check(taken.value, taken.text), wide)
}

type ShapeChecked = ReturnType<NonNullable<Entry['checkInput']>['check']>

/** The way of tools that have functions of their own, or schemas that check asynchronously. */
async function checkSlowly(call: Call, entry: Entry, pending: ShapeChecked, bounds: JsonBounds): Promise<InputResult> {
  const checked = await pending
  if (checked.kind === 'invalid') return shapeRefused(checked)
  if (!isJsonObject(checked.value)) return notAnObject()
  let args = checked.value
  let text = checked.text
  if (entry.tool.resolve !== undefined) {
    const resolved: unknown = await entry.tool.resolve(args, call.caller)
    if (isRefusal(resolved)) return refusal(resolved)
    const taken = takeJson(resolved, bounds, DROP_UNDEFINED)
    if (taken.kind === 'refused' || !isJsonObject(taken.value)) throw new Error('`resolve` did not answer arguments')
    args = taken.value
    text = taken.text
    if (text !== checked.text) await fitsStill(entry, taken)
  }
  const input = conclude(entry, call, args, text, await touchesOf(entry, args, call))
  if (input.kind === 'invalid' || entry.tool.binds === undefined) return input
  const binds = readBinds(await entry.tool.binds(args, call.caller))
  return binds.length === 0 ? input : Object.freeze({ ...input, binds })
}

/** INVARIANT last-check: what `resolve` made of the arguments has passed the schema too, unchanged, or nothing runs. */
async function fitsStill(entry: Entry, taken: JsonTaken & { kind: 'ok' }): Promise<void> {
  const again = await entry.checkInput?.check(taken.value, taken.text)
  if (again?.kind === 'ok' && again.text === taken.text) return
  const why = again?.kind === 'invalid' ? again.message : 'it changes them'
  throw new Error(`\`resolve\` answered arguments that do not fit the input schema: ${why}`)
}

function conclude(entry: Entry, call: Call, args: JsonObject, text: string, touches: Touches): InputResult {
  const refusedBy = askCheck(entry, args, call)
  if (refusedBy !== undefined) return refusedBy
  const { effect, failed } = effectOf(entry.tool.effect, args)
  const command = commandOf(entry, args)
  return Object.freeze({
    ...{ kind: 'ok', args, text, effect, touches },
    ...(command === undefined ? {} : { command }),
    ...(failed === undefined ? {} : { effectFailed: failed }),
  })
}

function askCheck({ tool }: Entry, args: JsonObject, call: Call): InputRefused | undefined {
  if (tool.check === undefined) return undefined
  try {
    const answer: unknown = tool.check(args, call.caller)
    if (answer === undefined) return undefined
    return isRefusal(answer) ? refusal(answer) : crashed(new Error('`check` answered something that is no refusal'))
  } catch (error) {
    return crashed(error)
  }
}

async function touchesOf(entry: Entry, args: JsonObject, call: Call): Promise<Touches> {
  if (entry.tool.touches === undefined) return TOUCHES_UNKNOWN
  try {
    return readTouches(await entry.tool.touches(args, call.caller))
  } catch (error) {
    return { kind: 'malformed', reason: errorText(error) }
  }
}

/** INVARIANT closed: an author's function that throws, or takes longer than the call may, refuses the call. */
async function bounded(pending: Promise<InputResult>, clock: Clock, deadlineAtMs: number): Promise<InputResult> {
  try {
    const waited = await within(pending, deadlineAtMs - clock.monotonic(), clock)
    if (waited.kind === 'value') return waited.value
    return {
      kind: 'invalid',
      code: 'timeout',
      message: 'the deadline passed while the arguments were checked; nothing was done',
    }
  } catch (error) {
    return crashed(error)
  }
}

const shapeRefused = ({ code, message, help }: Awaited<ShapeChecked> & { kind: 'invalid' }): InputRefused =>
  help === undefined ? { kind: 'invalid', code, message } : { kind: 'invalid', code, message, help }

const crashed = (error: unknown): InputRefused => ({
  kind: 'invalid',
  code: 'tool_crashed',
  message: 'the tool broke off while it checked the arguments; nothing was done',
  help: errorText(error),
})

function readArguments(given: unknown, bounds: JsonBounds): (JsonTaken & { kind: 'ok' }) | InputRefused {
  // Some models send no text at all for a tool without parameters.
  const isBlank = typeof given === 'string' && given.length <= 16 && given.trim() === ''
  const taken =
    typeof given === 'string' && !isBlank
      ? takeJsonText(given, bounds)
      : takeJson(given === undefined || isBlank ? {} : given, bounds, DROP_UNDEFINED)
  if (taken.kind === 'refused') {
    return {
      kind: 'invalid',
      code: taken.code,
      message:
        'message' in taken && typeof taken.message === 'string'
          ? taken.message
          : refusalMessage(taken, 'the arguments'),
    }
  }
  return isJsonObject(taken.value) ? taken : notAnObject()
}

const notAnObject = (): InputRefused => ({
  kind: 'invalid',
  code: 'invalid_args',
  message: 'the arguments: expected a JSON object',
})

const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  value.kind === 'refused' &&
  'message' in value &&
  typeof value.message === 'string'

const refusal = ({ code = 'unsafe_args', message }: Refusal): InputRefused => ({ kind: 'invalid', code, message })
