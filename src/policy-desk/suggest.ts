// The narrowest rules that answered questions would justify. Each is loaded alone and held against every answer before it is
// shown: it has to hold for all the calls that it was made from, and for none that a person declined. It applies none.

import type { Policy } from '../authorize/policy.ts'
import type { PolicyOptions, RuleOptions } from '../authorize/policy-options.ts'
import { redactedArguments } from '../authorize/redacted-arguments.ts'
import { type AnsweredCall, type ProposedRule, proposeRule, shapeOf } from '../authorize/suggest-rule.ts'
import { isJsonObject } from '../base/json-value.ts'
import type { CheckedInput } from '../describe/call.ts'
import { DECLARED_EFFECTS } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import type { RecordedRange, Suggestion } from '../gate-contract.ts'
import { bodyOf } from '../observe/record-text.ts'
import type { RecordRow } from '../observe/store.ts'
import type { DeskParts } from './desk-parts.ts'
import { callOf } from './explain-call.ts'
import { type RecordedCall, recordedCalls, rowsOf } from './recorded-calls.ts'

/** A call about which a person was asked, as it is read now. */
type Answered = AnsweredCall & {
  readonly answer: 'approve' | 'decline'
  readonly at: number
  readonly entry: Entry
  readonly input: CheckedInput
}

/** Most spared asks first. */
export async function suggest(parts: DeskParts, range: RecordedRange): Promise<readonly Suggestion[]> {
  const { answered, untold } = await answeredCalls(parts, range)
  const declined = answered.filter(({ answer }) => answer === 'decline')
  const groups = new Map<string, Answered[]>()
  for (const call of answered) {
    // INVARIANT suggest-narrow: where nobody can tell any more what was declined, nothing of that tool is proposed.
    if (call.answer === 'decline' || untold.has(call.entry.tool.name) || !isSparable(parts, call)) continue
    const key = JSON.stringify([call.entry.tool.name, shapeOf(call)])
    groups.set(key, [...(groups.get(key) ?? []), call])
  }
  const { stringify } = await import('yaml')
  const yamlOf = (rule: RuleOptions): string => stringify([rule], { lineWidth: 0 })
  return [...groups.values()]
    .flatMap((calls) => suggestionOf(parts, calls, declined, yamlOf) ?? [])
    .sort((one, other) => other.asks - one.asks)
}

/** An allow outdoes a default and no rule: an ask that a rule makes stays. */
function isSparable(parts: DeskParts, { caller, entry, input }: Answered): boolean {
  // An answer that was for a script besides was for the script as it stood; no rule could look at that.
  if ((input.binds ?? []).length > 0) return false
  const { kind, by } = parts.policy().decide(caller, entry, input)
  return kind === 'ask' && by === 'default'
}

function suggestionOf(
  parts: DeskParts,
  calls: readonly Answered[],
  declined: readonly Answered[],
  yamlOf: (rule: RuleOptions) => string,
): Suggestion | undefined {
  const [first] = calls
  if (first === undefined) return undefined
  const { entry } = first
  const proposed = proposeRule(entry.tool.name, calls, argumentNames(entry))
  if (proposed === undefined) return undefined
  const rule = withMiss(parts, { ...proposed, rule: { ...proposed.rule, because: becauseOf(calls) } })
  const alone = rule === undefined ? undefined : loadAlone(parts, rule)
  if (rule === undefined || alone === undefined) return undefined
  if (!calls.every((call) => holdsFor(alone, call)) || declined.some((call) => holdsFor(alone, call))) return undefined
  return { rule, yaml: yamlOf(rule), asks: calls.length, why: whyOf(calls, proposed) }
}

const holdsFor = (alone: Policy, { caller, entry, input }: Answered): boolean =>
  alone.decide(caller, entry, input).kind === 'allow'

/**
 * The rule with an example of a call beside those that were approved; undefined where it holds for all of its neighbours. A
 * call without arguments has none.
 */
function withMiss(parts: DeskParts, { rule, neighbours }: ProposedRule): RuleOptions | undefined {
  if (neighbours.length === 0) return rule
  return neighbours
    .map((neighbour): RuleOptions => ({ ...rule, examples: { ...rule.examples, miss: [neighbour] } }))
    .find((one) => loadAlone(parts, one) !== undefined)
}

const NOTHING_ELSE: NonNullable<PolicyOptions['defaults']> = Object.fromEntries(
  DECLARED_EFFECTS.map((effect) => [effect, 'deny']),
)

/** A policy that allows what the rule does, and denies everything else. */
function loadAlone({ load }: DeskParts, rule: RuleOptions): Policy | undefined {
  const loaded = load({ defaults: NOTHING_ELSE, rules: [rule] })
  return loaded.kind === 'ok' ? loaded.policy : undefined
}

/** Of a schema that takes no other; undefined where there may be more. */
function argumentNames({ listing }: Entry): readonly string[] | undefined {
  const schema = listing?.inputSchema
  const properties = schema?.properties
  return schema?.additionalProperties === false && isJsonObject(properties) ? Object.keys(properties) : undefined
}

const day = (at: number): string => new Date(at).toISOString().slice(0, 10)

function becauseOf(calls: readonly Answered[]): string {
  const days = calls.map(({ at }) => day(at)).toSorted()
  const [from = ''] = days
  const to = days.at(-1) ?? from
  const times = calls.length === 1 ? 'once' : `${calls.length} times`
  return `approved ${times} by a person, ${from === to ? `on ${from}` : `from ${from} to ${to}`}`
}

const whyOf = (calls: readonly Answered[], { keeps }: ProposedRule): string =>
  `${calls.length === 1 ? 'one question was' : `${calls.length} questions were`} approved and none of the kind declined${keeps.length === 0 ? '' : `; ${keeps.join('; ')}`}`

type AnsweredCalls = {
  readonly answered: readonly Answered[]
  /** Tools of which something was declined that cannot be told any more. */
  readonly untold: ReadonlySet<string>
}

/** Every question that a person answered in this time, with the call that it was about, as far as it can still be told. */
async function answeredCalls(parts: DeskParts, { since = 0, callsMax }: RecordedRange): Promise<AnsweredCalls> {
  const questions = questionsOf(await rowsOf(parts.store, 'approval', {}))
  const calls = await recordedCalls(parts.store, callsMax === undefined ? {} : { callsMax })
  const byId = new Map(calls.map((call) => [call.callId, call]))
  const byApproval = new Map(calls.flatMap((call) => (call.approval === undefined ? [] : [[call.approval, call]])))
  const answered: Answered[] = []
  const untold = new Set<string>()
  for (const [id, { openedBy = '', tool, answer, at }] of questions) {
    if (answer === undefined || (at < since && answer === 'approve')) continue
    const call = byId.get(openedBy) ?? byApproval.get(id)
    const read = call === undefined ? undefined : await readAgain(parts, call)
    if (read !== undefined) answered.push({ ...read, answer, at })
    else if (answer === 'decline') untold.add(call?.tool ?? tool)
  }
  return { answered, untold }
}

/** What the records tell of one question: the call that opened it, and the answer. */
type Question = {
  readonly tool: string
  readonly openedBy?: string
  readonly answer?: Answered['answer']
  readonly at: number
}

function questionsOf(rows: readonly RecordRow[]): ReadonlyMap<string, Question> {
  const questions = new Map<string, Question>()
  for (const row of rows) {
    const { at, callId } = row
    const { approvalId, approval, decision, tool, clientAsserted } = bodyOf(row)
    const id = approvalId ?? approval
    // A yes that only the calling client vouches for justifies no rule; a no counts whoever brings it.
    if (typeof id !== 'string' || (decision === 'approve' && clientAsserted === true)) continue
    questions.set(id, {
      ...{ tool: '', at },
      ...questions.get(id),
      ...(typeof tool === 'string' ? { tool } : {}),
      ...(decision === 'approve' || decision === 'decline' ? { answer: decision, at } : {}),
      ...(callId !== null && decision === undefined ? { openedBy: callId } : {}),
    })
  }
  return questions
}

/** The call as its tool reads it now; undefined where its record does not hold the whole of it, or the tool is gone. */
async function readAgain(
  parts: DeskParts,
  { tool, args, caller }: RecordedCall,
): Promise<Omit<Answered, 'answer' | 'at'> | undefined> {
  if (args.kind !== 'whole' || caller.kind === 'bad' || redactedArguments(args.args).length > 0) return undefined
  const found = parts.catalogue.find(tool)
  if (found.kind === 'missing') return undefined
  const input = await parts.rooms.check(callOf(parts, caller.caller, tool, args.args), found.entry)
  if (input.kind === 'invalid') return undefined
  return { caller: caller.caller, args: input.args, effect: input.effect, entry: found.entry, input }
}
