// A condition `when`, compiled once and asked for each call. Whatever goes wrong in it is no answer: the stricter side
// counts then, so that a deny or ask holds and an allow does not.

import type { JsonObject, JsonValue } from '../base/json-value.ts'
import type { Caller } from '../describe/caller.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import {
  CEL_TEXT_MAX,
  type CelEnvironment,
  type CelExpression,
  type CelNode,
  type CelSchema,
  celChecking,
  celEnvironment,
  LINEAR_MATCHES,
} from './cel-language.ts'
import { type CelReads, matchesCalls, readSyntax } from './cel-syntax.ts'
import { type CelValue, celValue, type ReadText, Weight } from './cel-values.ts'
import { readingsOf } from './text-readings.ts'

/** How often loops may run in one evaluation, and characters that they may look at besides their own element. */
const LOOP_STEPS_MAX = 20_000
const LOOP_COST_MAX = 4_000_000
/** Values that an expression without loops may be given. */
const VALUES_MAX = 100_000

/** What a condition is asked about. */
export type CelQuestion = {
  readonly args: JsonObject
  readonly caller: Caller
  readonly effect: DeclaredEffect
  readonly tool: { readonly name: string; readonly source: string; readonly version: string }
  /** The tool has put its arguments into the form that it opens; nothing else is read into them. */
  readonly resolved: boolean
  /** Absolute; it stands in for the argument `path`. */
  readonly pathForCel: string | undefined
  /** `verb key`; undefined where the tool does not say, or failed to. */
  resourceTexts(): readonly string[] | undefined
}

export type CelAnswer =
  | { readonly kind: 'yes' }
  | { readonly kind: 'no' }
  | { readonly kind: 'failed'; readonly reason: string }

const YES: CelAnswer = Object.freeze({ kind: 'yes' })
const NO: CelAnswer = Object.freeze({ kind: 'no' })

export class CelCondition {
  readonly text: string
  readonly reads: CelReads
  readonly #expression: CelExpression
  /** The arguments that it names; undefined where it looks at all of them. */
  readonly #names: readonly string[] | undefined

  /** As it is evaluated. */
  readonly #own: string

  constructor(text: string, own: string, reads: CelReads, expression: CelExpression) {
    this.text = text
    this.#own = own
    this.reads = reads
    this.#expression = expression
    this.#names = reads.whole ? undefined : [...new Set(reads.ways.flatMap(([first]) => first ?? []))]
  }

  /** Whether arguments, or what they make of resources and effect, can change the answer. */
  get looksAtCall(): boolean {
    const { ways, whole, resources, effect } = this.reads
    return whole || resources || effect || ways.length > 0
  }

  /** Whether it looks at arguments or resources, which a listing does not have. */
  get looksAtArguments(): boolean {
    const { ways, whole, resources } = this.reads
    return whole || resources || ways.length > 0
  }

  ask(question: CelQuestion): CelAnswer {
    const { stackTraceLimit } = Error
    try {
      // A loop may fail for each element; nobody reads those traces, and taking them costs more than the loop.
      if (this.reads.loops.depth > 0) Error.stackTraceLimit = 0
      const texts = new Texts()
      const answer: unknown = this.#expression(this.#context(question, question.resolved ? undefined : texts.given))
      // A path with loose parts is also asked about as the path that it is.
      if (texts.loose && this.#expression(this.#context(question, texts.settled)) !== answer) return DIFFERS
      if (typeof answer === 'boolean') return answer ? YES : NO
      return { kind: 'failed', reason: 'its value is neither true nor false' }
    } catch (error) {
      return { kind: 'failed', reason: reasonOf(error) }
    } finally {
      if (this.reads.loops.depth > 0) Error.stackTraceLimit = stackTraceLimit
    }
  }

  /** Why it does not fit arguments of these types; undefined where it does. */
  misfit(args: CelSchema): string | undefined {
    if (this.reads.whole) return undefined
    const reason = typeProblem(celChecking(args), this.#own)
    // Comparing with null asks whether there is a value at all; that none can be null is no mistake.
    return reason?.includes('null') === true ? undefined : reason
  }

  #context(question: CelQuestion, read: ReadText | undefined): Record<string, unknown> {
    const { resources, caller, tool, loops } = this.reads
    const context: Record<string, unknown> = {}
    if (caller) context.caller = callerValue(question.caller)
    if (tool) context.tool = toolValue(question)
    const weight = new Weight(loops.depth > 0 ? LOOP_STEPS_MAX : VALUES_MAX)
    context.args = this.#arguments(question, weight, read)
    if (resources) {
      const texts = question.resourceTexts()
      if (texts === undefined) throw new Error('what the call touches is not known')
      context.resources = texts
      for (const text of texts) weight.add(1, text.length)
    }
    if (loops.depth > 0) this.#bound(weight, question)
    return context
  }

  #arguments(
    { args, pathForCel }: CelQuestion,
    weight: Weight,
    read: ReadText | undefined,
  ): ReadonlyMap<string, CelValue> {
    const values = new Map<string, CelValue>()
    for (const name of this.#names ?? Object.keys(args)) {
      const value = argumentOf(args, name, pathForCel)
      if (value !== undefined) values.set(name, celValue(value, weight, read))
    }
    return values
  }

  /** A loop over what a model wrote is bounded, and what it cannot look at within that counts as failed. */
  #bound(weight: Weight, { args, pathForCel }: CelQuestion): void {
    const { depth, outer, splits, own } = this.reads.loops
    const once = weight.values + own.values + (splits ? weight.characters + own.characters : 0)
    // Loops in each other that look at nothing but their own elements share these out among them.
    const steps = outer === 'none' ? once : once ** depth
    let beside = outer === 'all' ? weight.values + weight.characters : 0
    if (outer !== 'none' && outer !== 'all')
      for (const name of outer) {
        const looked = new Weight(VALUES_MAX)
        celValue(argumentOf(args, name, pathForCel) ?? null, looked)
        beside += looked.values + looked.characters
      }
    if (steps > LOOP_STEPS_MAX || steps * beside > LOOP_COST_MAX)
      throw new Error('the arguments are too large for its loops')
  }
}

const DIFFERS: CelAnswer = Object.freeze({ kind: 'failed', reason: 'a path can be read in two ways' })

/** Longer texts, and those of several lines, are no paths and no addresses. */
const PATH_MAX = 4_096

/** Reads texts that no tool has put into a canonical form. */
class Texts {
  loose = false

  readonly given = (text: string): string => {
    const settled = settledText(text)
    if (settled !== text) this.loose = true
    return text
  }

  readonly settled = (text: string): string => settledText(text)
}

function settledText(text: string): string {
  if (text.length > PATH_MAX || text.includes('\n')) return text
  if (!text.includes('/') && !text.includes(':') && text !== '..') return text
  const [settled] = readingsOf(text, 'wide') ?? []
  if (settled === undefined) throw new Error('what a path or an address means cannot be told from its text')
  return settled
}

function argumentOf(args: JsonObject, name: string, pathForCel: string | undefined): JsonValue | undefined {
  if (name === 'path' && pathForCel !== undefined) return pathForCel
  return Object.hasOwn(args, name) ? args[name] : undefined
}

const callers = new WeakMap<Caller, ReadonlyMap<string, CelValue>>()

function callerValue(caller: Caller): ReadonlyMap<string, CelValue> {
  const known = callers.get(caller)
  if (known !== undefined) return known
  const { tenant, user, agent, roles, session, task, step } = caller
  const value = new Map<string, CelValue>(Object.entries({ tenant, user, agent, roles: [...roles], session }))
  if (task !== undefined) value.set('task', new Map([['name', task.name]]))
  if (step !== undefined) value.set('step', step)
  if (Object.isFrozen(caller)) callers.set(caller, value)
  return value
}

function toolValue({ tool: { name, source, version }, effect }: CelQuestion): ReadonlyMap<string, CelValue> {
  return new Map<string, CelValue>([
    ['name', name],
    ['source', source],
    ['version', version],
    ['effect', effect],
  ])
}

export type CelCompiled =
  | { readonly kind: 'ok'; readonly condition: CelCondition }
  | { readonly kind: 'bad'; readonly reason: string }

const bad = (reason: string): CelCompiled => ({ kind: 'bad', reason })

/** Compiles an expression of at most 2,000 characters and 300 parts, whose value is true or false. */
export function compileCel(text: string): CelCompiled {
  if (text.length > CEL_TEXT_MAX) return bad(`is longer than ${CEL_TEXT_MAX} characters`)
  try {
    const environment = celEnvironment()
    const written = environment.parse(text)
    const syntax = readSyntax(written.ast)
    if (syntax.kind === 'bad') return bad(syntax.reason)
    const own = withLinearMatches(text, written.ast)
    if (own === undefined) return bad('`matches` cannot be read beside comments')
    const type = typeProblem(celChecking(undefined), own)
    if (type !== undefined) return bad(type)
    const expression = environment.parse(own)
    const checked = expression.check()
    if (!checked.valid) return bad(reasonOf(checked.error))
    return { kind: 'ok', condition: new CelCondition(text, own, syntax.reads, expression) }
  } catch (error) {
    return bad(reasonOf(error))
  }
}

function typeProblem(environment: CelEnvironment, text: string): string | undefined {
  const checked = environment.check(text)
  if (!checked.valid) return reasonOf(checked.error)
  const { type } = checked
  return type === 'bool' || type === 'dyn' ? undefined : `has to be true or false, and is of type ${type}`
}

/** The same expression with the linear `matches` in each place; undefined where the name cannot be told from a comment. */
function withLinearMatches(text: string, root: CelNode): string | undefined {
  let own = text
  for (const { from, to } of matchesCalls(root)) {
    const between = own.slice(from, to)
    if (!/^[\s)]*\.\s*matches\s*\([\s(]*$/u.test(between)) return undefined
    own = own.slice(0, from) + between.replace('matches', LINEAR_MATCHES) + own.slice(to)
  }
  return own
}

const REASON_MAX = 200

function reasonOf(error: unknown): string {
  const text =
    error instanceof Error && 'summary' in error && typeof error.summary === 'string'
      ? error.summary
      : error instanceof Error
        ? error.message
        : 'it failed'
  const line = text.replaceAll(LINEAR_MATCHES, 'matches').replaceAll(/[\s\p{Cc}]+/gu, ' ')
  return line.length <= REASON_MAX ? line : `${line.slice(0, REASON_MAX)}…`
}
