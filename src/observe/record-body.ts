// What a record says, as JSON text in two halves: what may always be read, and what is personal, which a store may seal. Arguments
// are written as they were decided on, without the secrets in them; long ones are cut and say so. This is written for every
// call, so the parts that calls have in common (caller, tool, decision) are turned into text once.

import { sha256 } from '../base/digest.ts'
import type { Call, Ending, StageMarks } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import type { Outcome, OutcomeError, Truncation } from '../describe/outcome.ts'
import type { Redactor } from '../describe/redactor.ts'
import type { BoundText } from '../describe/tool.ts'
import type { RecordDraft } from './store.ts'

/** Characters of arguments in a record. */
const ARGUMENT_CHARACTERS_MAX = 16_384

/** A longer result is not sent to the store for its digest. */
const RESULT_CHARACTERS_MAX = 65_536

/** Everything of a draft but what it is and when. */
export type RecordText = Pick<RecordDraft, 'body' | 'personal' | 'subject' | 'argumentsText' | 'resultText'>

/** The record before an effect. Its arguments go to the store beside it. */
export function intentText(call: Call, redactor: Redactor): RecordText {
  const { open, personal } = known(call, redactor)
  return { body: `{${open}}`, personal: `{${personal}}`, subject: subjectOf(call.caller) }
}

/** The record after: how the call ended, and what the tool really did as far as anybody knows. */
export function endText(call: Call, outcome: Outcome, contentBytes: number, redactor: Redactor): RecordText {
  const { attempts, blockedMs, exclusive, input, marks, redacted, artifactId, secrets, result } = call.trail
  const { place, startedMs, truncated } = outcome.meta
  const common = known(call, redactor)
  const { wholeArguments } = common
  let { open, personal } = common
  open += outcome.ok ? ',"ok":true' : `,"ok":false,"error":${errorKind(outcome.error)}`
  open += `,"ms":${milliseconds(outcome.elapsedMs)},"attempts":${attempts},"contentBytes":${contentBytes}`
  if (startedMs !== undefined) open += `,"startedMs":${milliseconds(startedMs)}`
  if (place !== undefined) open += `,"place":"${place}"`
  open += stagesText(marks) + runText(call.trail)
  if (truncated !== undefined) {
    open += `,"truncated":${cutSizes(truncated)}`
    personal += `,"truncated":${cutWords(truncated)}`
  }
  if (blockedMs !== undefined) open += `,"blockedMs":${blockedMs}`
  if (redacted !== undefined && redacted.length > 0) open += `,"redacted":${JSON.stringify(redacted)}`
  if (artifactId !== undefined) open += `,"artifact":${JSON.stringify(artifactId)}`
  if (secrets !== undefined) open += `,"secrets":${JSON.stringify(secrets)}`
  const long = typeof result === 'string' && result.length <= RESULT_CHARACTERS_MAX ? undefined : digestOf(result)
  if (long !== undefined) {
    open += `,"result":{"bytes":${long.bytes}}`
    personal += `,"result":{"digest":"${long.digest}"}`
  }
  // Why it had to run alone may name what it was asked for.
  if (exclusive !== undefined)
    personal += `,"exclusive":${JSON.stringify(redactor.text(exclusive).value.slice(0, 1_024))}`
  if (!outcome.ok) personal += `,"error":${errorWords(outcome.error, redactor)}`
  return {
    body: `{${open}}`,
    personal: `{${personal}}`,
    subject: subjectOf(call.caller),
    // What stands in the record whole needs nothing that proves it.
    ...(input === undefined || wholeArguments ? undefined : { argumentsText: input.text }),
    ...(typeof result === 'string' && long === undefined ? { resultText: result } : undefined),
  }
}

function digestOf(result: Call['trail']['result']): { readonly digest: string; readonly bytes: number } | undefined {
  return typeof result === 'string' ? { digest: sha256(result), bytes: Buffer.byteLength(result) } : result
}

/** What can be said of a call whose record cannot be written in full. */
export function shortText({ caller, request, trail }: Call, outcome: Outcome): RecordText {
  const tool = request.name.slice(0, 256)
  const open = { tool, ok: outcome.ok, attempts: trail.attempts, incomplete: true }
  return { body: JSON.stringify(open), personal: `{${callerText(caller)}}`, subject: subjectOf(caller) }
}

/** What is worth keeping of how the tool came to run; nothing for most calls. */
function runText(trail: Call['trail']): string {
  const { place, laneWaitMs, limitsHit, limitsUnenforced, cachedFrom, replayOf } = trail
  let text = ''
  // Of a tool in the gate's own process there is nothing to explain.
  if (place !== undefined && place.place !== 'process') text += `,"placeWhy":${JSON.stringify(place.why)}`
  if (limitsHit !== undefined) text += `,"limitsHit":${JSON.stringify(limitsHit)}`
  if (limitsUnenforced !== undefined) text += `,"limitsUnenforced":${JSON.stringify(limitsUnenforced)}`
  if (laneWaitMs !== undefined) text += `,"laneWaitMs":${milliseconds(laneWaitMs)}`
  if (cachedFrom !== undefined) text += `,"cachedFrom":${JSON.stringify(cachedFrom)}`
  if (replayOf !== undefined) text += `,"replayOf":${JSON.stringify(replayOf)}`
  return text
}

const STAGES = ['discover', 'admit', 'validate', 'decide', 'intend', 'execute', 'shape'] as const

/** How long each stage took. Most calls come through all of them, and are told in one go. */
function stagesText(marks: StageMarks): string {
  const { discover, admit, validate, decide, intend, execute, shape, closed } = marks
  if (execute === undefined || shape === undefined || closed === undefined) return stagesSoFar(marks)
  if (discover === undefined || admit === undefined || validate === undefined) return stagesSoFar(marks)
  if (decide === undefined || intend === undefined) return stagesSoFar(marks)
  const before = `"discover":${milliseconds(admit - discover)},"admit":${milliseconds(validate - admit)},"validate":${milliseconds(decide - validate)}`
  const after = `"decide":${milliseconds(intend - decide)},"intend":${milliseconds(execute - intend)},"execute":${milliseconds(shape - execute)}`
  return `,"stages":{${before},${after},"shape":${milliseconds(closed - shape)}}`
}

/** As far as the call came. */
function stagesSoFar(marks: StageMarks): string {
  let text = ''
  let [began, name]: [number | undefined, string] = [undefined, '']
  for (const stage of STAGES) {
    const mark = marks[stage]
    if (mark === undefined) continue
    if (began !== undefined) text += `,"${name}":${milliseconds(mark - began)}`
    began = mark
    name = stage
  }
  if (began !== undefined && marks.closed !== undefined) text += `,"${name}":${milliseconds(marks.closed - began)}`
  return text === '' ? '' : `,"stages":{${text.slice(1)}}`
}

const WRITTEN_MAX = 10_000
const written: string[] = []

/** To the microsecond. Text of a fraction takes longer to make than all around it, and most are short. */
function milliseconds(value: number): string {
  const microseconds = Math.round(value * 1_000)
  if (microseconds < 0 || microseconds >= WRITTEN_MAX) return String(microseconds / 1_000)
  const text = written[microseconds]
  if (text !== undefined) return text
  // Filled from the start, so that it stays an array without holes.
  for (let next = written.length; next <= microseconds; next += 1) written.push(String(next / 1_000))
  return String(microseconds / 1_000)
}

/** An answer that came after its call was over. */
export function lateText(call: Call, ending: Ending, afterMs: number, redactor: Redactor): RecordText {
  const tool = JSON.stringify(call.request.name)
  const done = call.trail.input?.effect === 'read' ? 'none' : 'done'
  const failed = ending.kind === 'value' ? undefined : ending.error
  const ended = failed === undefined ? `"ok":true,"effect":"${done}"` : `"ok":false,"error":${errorKind(failed)}`
  const body = `{"tool":${tool},${ended},"afterDeadlineMs":${Math.round(afterMs)}}`
  const words = failed === undefined ? '' : `,"error":${errorWords(failed, redactor)}`
  return { body, personal: `{${callerText(call.caller)}${words}}`, subject: subjectOf(call.caller) }
}

/** `wholeArguments`: they stand there as they were decided on, nothing redacted and nothing cut. */
type Halves = { readonly open: string; readonly personal: string; readonly wholeArguments: boolean }

/** Who asked what, through which door, and what the policy answered: members common to the records before and after. */
function known(call: Call, redactor: Redactor): Halves {
  const { entry, input, decision, approvalId, grantId, remark } = call.trail
  const { request } = call
  let open = `"entrance":"${request.entrance}","runId":"${call.runId}"`
  let personal = callerText(call.caller)
  let wholeArguments = true
  if (request.id !== undefined) personal += `,"id":${JSON.stringify(request.id)}`
  if (request.parent !== undefined) open += parentText(request.parent)
  if (typeof request.idempotencyKey === 'string')
    personal += `,"key":${JSON.stringify(request.idempotencyKey.slice(0, 256))}`
  // A name that no tool has may be anything.
  open +=
    entry === undefined
      ? `,"tool":${JSON.stringify(redactor.text(request.name).value.slice(0, 256))}`
      : `,${entryText(entry)}`
  if (input !== undefined) {
    open += `,"effect":"${input.effect}"`
    const args = redactor.jsonText(input.text)
    wholeArguments = args.names.length === 0 && args.value.length <= ARGUMENT_CHARACTERS_MAX
    if (args.names.length > 0) open += `,"argsRedacted":${JSON.stringify(args.names)}`
    personal += argumentsText(args.value)
  }
  if (input?.command !== undefined) personal += `,"starts":${JSON.stringify(redactor.json(input.command).value)}`
  if (input?.binds !== undefined) personal += `,"binds":${JSON.stringify(input.binds.map(boundMembers))}`
  if (decision !== undefined) {
    open += `,"decision":${decisionText(decision)}`
    personal += reasonText(decision)
  }
  if (approvalId !== undefined) open += `,"approval":${JSON.stringify(approvalId)}`
  if (grantId !== undefined) open += `,"grant":${JSON.stringify(grantId)}`
  if (remark !== undefined) personal += `,"remark":${JSON.stringify(remark)}`
  return { open, personal, wholeArguments }
}

/** The call that this one was made in, and all calls around it from the outermost on. */
function parentText(parent: Call): string {
  const path: string[] = []
  for (let around: Call | undefined = parent; around !== undefined; around = around.request.parent)
    path.unshift(around.id)
  return `,"parentCall":${JSON.stringify(parent.id)},"path":${JSON.stringify(path)}`
}

/** Canonical arguments are JSON text already, and stand in the record as what they are. */
function argumentsText(text: string): string {
  if (text.length <= ARGUMENT_CHARACTERS_MAX) return `,"args":${text}`
  const cut = { characters: text.length, kept: ARGUMENT_CHARACTERS_MAX, sha256: sha256(text) }
  return `,"args":${JSON.stringify(text.slice(0, ARGUMENT_CHARACTERS_MAX))},"argsCut":${JSON.stringify(cut)}`
}

/** Remembers what was made of a frozen object for as long as the object lives. */
function remembered<Key extends object, Made = string>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new WeakMap<Key, Made>()
  return (key) => {
    const found = known.get(key)
    if (found !== undefined) return found
    const made = make(key)
    known.set(key, made)
    return made
  }
}

const subjectOf = remembered(({ tenant, user, session }: Caller) => ({ tenant, user, session }))

const membersOf = (value: object): string => JSON.stringify(value).slice(1, -1)

const callerText = remembered((caller: Caller) => membersOf(callerMembers(caller)))

/** `parent`: whom the caller works for, and in turn whom that one works for. */
function callerMembers({ tenant, user, agent, roles, session, task, step, parent }: Caller): object {
  return {
    ...{ tenant, user, agent, ...(roles.length === 0 ? {} : { roles }), session, task: task?.name, step },
    parent: parent === undefined ? undefined : callerMembers(parent),
  }
}

const entryText = remembered(({ tool, source, fingerprint }: Entry) =>
  membersOf({ tool: tool.name, version: tool.version, source, fingerprint }),
)

/** The text itself may be long, and stands with the question; its digest tells whether it was this one. */
const boundMembers = ({ title, text }: BoundText): object => ({
  title: title.slice(0, 256),
  characters: text.length,
  sha256: sha256(text),
})

const decisionText = remembered(({ kind, by, rule, place, policyVersion }: Decision) =>
  JSON.stringify({
    ...{ kind, by, rule: rule?.text, file: rule?.file, line: rule?.line },
    ...{ place, policy: policyVersion.slice(0, 16) },
  }),
)

/** A reason may name what was asked for. */
const reasonText = remembered(({ reason }: Decision) => `,"decision":${JSON.stringify({ reason })}`)

const errorKind = ({ type, effect, details }: OutcomeError): string =>
  JSON.stringify({ type, effect, code: typeof details?.code === 'string' ? details.code : undefined })

const errorWords = ({ message, help, details }: OutcomeError, redactor: Redactor): string =>
  JSON.stringify({
    message: redactor.text(message).value.slice(0, 2_048),
    help: help === undefined ? undefined : redactor.text(help).value.slice(0, 4_096),
    // Of a call that nobody approved: why not.
    reason: typeof details?.reason === 'string' ? redactor.text(details.reason).value : undefined,
  })

const cutSizes = ({ layer, unit, originalBytes, keptBytes, originalUnits }: Truncation): string =>
  JSON.stringify({ layer, unit, originalBytes, keptBytes, originalUnits })

const cutWords = ({ digest, kept, next }: Truncation): string => JSON.stringify({ digest, kept, next })
