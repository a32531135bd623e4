// A call over MCP that needs a person. The client itself is asked where the operator has marked its credential for that and
// it can show a form; else the call is held for a while, for somebody to answer elsewhere. Whatever the answer, the call is
// then made anew and the store has the last word: nothing here can let a call run.

import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import type { Clock } from '../base/clock.ts'
import { isJsonObject } from '../base/json-value.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { Gate } from '../gate-contract.ts'
import type { ApprovalRow } from '../observe/store.ts'
import { approvalForm, type FormAnswer, offersFor, readFormAnswer } from './approval-form.ts'
import {
  attempt,
  attemptAgain,
  clientNow,
  INVALID_PARAMS,
  isStateless,
  type Made,
  type McpCall,
  wayToAsk,
} from './mcp-call.ts'
import { tellWaiting } from './mcp-progress.ts'
import { principalDigest, requestDigest, type SealedStates, type Unsealed } from './sealed-state.ts'

export type AskingParts = {
  readonly approvals: Pick<Gate['approvals'], 'show' | 'decide' | 'settled'>
  readonly states: SealedStates
  readonly clock: Clock
  /** Milliseconds for which a call may be held; 0 holds none. */
  readonly holdMs: number
  /** Where a person answers this question; undefined where there is no such place. */
  readonly answerAt: (approvalId: string) => string | undefined
  /** Aborts when the entrance closes: calls that wait end, so that each still gets its result. */
  readonly closing: AbortSignal
}

/** The name of the one question in an input-required result. */
const QUESTION = 'approval'
/** How often one call is asked about again for a wrong code; the store closes the question earlier. */
const ROUNDS_MAX = 10
/** The longest that a timer can wait. */
const TIMER_MS_MAX = 2 ** 31 - 1
const NAME_CHARACTERS_MAX = 200
const UNDER_CODE = {
  'code-missing': 'Approving needs the code that the gate shows at its own terminal or console.',
  'code-wrong': 'The code was wrong.',
} as const

/** A call that waits. `first`: how it ended when it was made; absent where the client came back with an answer. */
type Waiting = { readonly approval: ApprovalRow; readonly runId: string; readonly first?: Made & { kind: 'outcome' } }

export async function makeCall(parts: AskingParts, call: McpCall): Promise<Made> {
  const state = isStateless(call.server) ? call.context.mcpReq.requestState() : undefined
  if (state !== undefined) return goOn(parts, call, state)
  const first = await attempt(call, call.client.session(call.conversation))
  const approval = await questionOf(parts, first.outcome)
  if (approval === undefined) return first
  return ask(parts, call, { approval, first, runId: first.outcome.meta.runId })
}

/** The open question that an outcome leaves. */
async function questionOf({ approvals }: AskingParts, outcome: Outcome): Promise<ApprovalRow | undefined> {
  if (outcome.ok || outcome.error.type !== 'approval_required') return undefined
  const { approvalId, reason = 'waiting' } = outcome.error.details ?? {}
  return typeof approvalId === 'string' && reason === 'waiting' ? approvals.show(approvalId) : undefined
}

async function ask(parts: AskingParts, call: McpCall, waiting: Waiting): Promise<Made> {
  const way = waiting.approval.state === 'open' && mayAnswer(call, waiting.approval) ? wayToAsk(call) : 'none'
  if (way === 'result') return askInResult(parts, call, waiting)
  return way === 'request' ? askByRequest(parts, call, waiting) : hold(parts, call, waiting)
}

// INVARIANT client-asserted: what only the client vouches for answers nothing that destroys.
const mayAnswer = ({ client }: McpCall, { effect }: ApprovalRow): boolean =>
  client.mayAnswer && effect !== 'destructive'

/** From 2026-07-28 on: the question is the result, and its answer comes with the next request. */
function askInResult(parts: AskingParts, call: McpCall, { approval, runId }: Waiting, remark?: string): Made {
  const { id: approvalId, expiresAt } = approval
  const { caller } = call.client.session(call.conversation)
  const params = { mode: 'form', ...approvalForm(approval, offersFor(approval, caller.session), remark) }
  const requestState = parts.states.seal({ ...boundTo(call), runId, approvalId, expiresAt })
  const inputRequests = { [QUESTION]: { method: 'elicitation/create', params } }
  return { kind: 'ask', result: { resultType: 'input_required', inputRequests, requestState } }
}

function boundTo({ client, conversation, name, given }: McpCall): {
  readonly principal: string
  readonly call: string
} {
  const { caller } = client.session(conversation)
  return { principal: principalDigest(client.id, caller, conversation), call: requestDigest(name, given) }
}

const REFUSED_STATE = {
  foreign: 'it was not made by this server, or was changed',
  other: 'it was made for another call or another caller',
  expired: 'the question has expired; make the call without it to ask again',
} as const satisfies Record<Extract<Unsealed, { kind: 'refused' }>['why'], string>

/** The client is back with what it was asked for. */
async function goOn(parts: AskingParts, call: McpCall, sealed: unknown): Promise<Made> {
  const refuse = (why: keyof typeof REFUSED_STATE): Error =>
    call.fault(INVALID_PARAMS, `\`requestState\`: ${REFUSED_STATE[why]}`, { reason: 'invalid_request_state', why })
  const opened = parts.states.open(sealed, boundTo(call))
  if (opened.kind === 'refused') throw refuse(opened.why)
  const { approvalId, runId } = opened.state
  const approval = await parts.approvals.show(approvalId)
  if (approval === undefined) throw refuse('foreign')
  const waiting: Waiting = { approval, runId }
  if (!mayAnswer(call, approval)) return hold(parts, call, waiting)
  const responses: unknown = call.context.mcpReq.inputResponses
  if (!isJsonObject(responses) || !Object.hasOwn(responses, QUESTION)) return ask(parts, call, waiting)
  const { caller } = call.client.session(call.conversation)
  const answer = readFormAnswer(responses[QUESTION], approval, offersFor(approval, caller.session))
  const taken = await take(parts, call, approval, answer)
  return taken.kind === 'again'
    ? askInResult(parts, call, waiting, taken.remark)
    : follow(parts, call, waiting, taken.kind)
}

/** With a handshake: the client is asked beside its call, which stays open. An answer from elsewhere takes the form away. */
async function askByRequest(parts: AskingParts, call: McpCall, waiting: Waiting): Promise<Made> {
  const { approval } = waiting
  const { caller } = call.client.session(call.conversation)
  const offers = offersFor(approval, caller.session)
  let remark: string | undefined
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const shown = await showForm(parts, call, approval, approvalForm(approval, offers, remark))
    if (shown.kind === 'settled') return follow(parts, call, waiting, 'answered')
    if (shown.kind === 'failed') return follow(parts, call, waiting, 'unasked')
    const taken = await take(parts, call, approval, readFormAnswer(shown.result, approval, offers))
    if (taken.kind !== 'again') return follow(parts, call, waiting, taken.kind)
    remark = taken.remark
  }
  return follow(parts, call, waiting, 'open')
}

type Shown =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'settled' }
  | { readonly kind: 'failed' }

async function showForm(
  { approvals, clock, closing }: AskingParts,
  { context: { mcpReq }, tell }: McpCall,
  approval: ApprovalRow,
  form: ReturnType<typeof approvalForm>,
): Promise<Shown> {
  const ending = new AbortController()
  const signal = AbortSignal.any([mcpReq.signal, ending.signal, closing])
  const quiet = tellWaiting(tell, clock)
  const failed = (): Shown => ({ kind: 'failed' })
  const forMs = Math.min(TIMER_MS_MAX, Math.max(0, approval.expiresAt - clock.now()))
  // The package's own shape of a form, only read-only.
  const request = { method: 'elicitation/create' as const, params: form as unknown as ElicitRequestFormParams }
  try {
    return await Promise.race([
      mcpReq
        .send(request, { timeout: TIMER_MS_MAX, signal })
        .then((result): Shown => ({ kind: 'result', result }), failed),
      approvals.settled(approval.id, { forMs, signal }).then((): Shown => ({ kind: 'settled' }), failed),
    ])
  } finally {
    ending.abort()
    quiet()
  }
}

/** `unasked`: the client cannot answer this one. `overruled`: it said no to what somebody else had allowed just before. */
type Taken =
  | { readonly kind: 'answered' | 'open' | 'unasked' | 'overruled' }
  | { readonly kind: 'again'; readonly remark: string }

/** Records the answer of a person at the client, to exactly this question. */
async function take(parts: AskingParts, call: McpCall, approval: ApprovalRow, answer: FormAnswer): Promise<Taken> {
  if (answer.kind === 'none') return { kind: 'open' }
  // The operator may have ended the credential, or taken its mark away, while the form was open.
  const client = await clientNow(call)
  if (!client.mayAnswer) return { kind: 'unasked' }
  const decided = await parts.approvals.decide(approval.id, {
    decision: answer.kind,
    by: `client-asserted (${client.name.slice(0, NAME_CHARACTERS_MAX)})`,
    clientAsserted: true,
    ...(answer.kind === 'decline' ? {} : { scope: answer.reach }),
    ...(answer.kind === 'decline' || answer.code === undefined ? {} : { code: answer.code }),
  })
  switch (decided.kind) {
    case 'answered':
    case 'missing':
      return { kind: 'answered' }
    case 'closed':
      return { kind: answer.kind === 'decline' && decided.approval.state === 'approved' ? 'overruled' : 'answered' }
    case 'refused': {
      const { why } = decided
      if (why === 'client-asserted') return { kind: 'unasked' }
      return why === 'reach-not-offered' ? { kind: 'open' } : { kind: 'again', remark: UNDER_CODE[why] }
    }
  }
}

function follow(
  parts: AskingParts,
  call: McpCall,
  waiting: Waiting,
  kind: Exclude<Taken['kind'], 'again'>,
): Made | Promise<Made> {
  const { approval } = waiting
  switch (kind) {
    case 'answered':
      return attemptAgain(call, approval.id)
    case 'open':
      return stillOpen(parts, call, waiting)
    case 'unasked':
      return hold(parts, call, waiting)
    case 'overruled':
      return {
        kind: 'refused',
        type: 'approval_declined',
        message: `a person declined this call (${approval.id}); do something else, or ask them why`,
        details: { approvalId: approval.id, expiresAt: approval.expiresAt, reason: 'person' },
      }
  }
}

/** Waits for an answer that is given elsewhere. */
async function hold(parts: AskingParts, call: McpCall, waiting: Waiting): Promise<Made> {
  const { approvals, clock, closing, holdMs } = parts
  const { id, expiresAt } = waiting.approval
  const { signal } = call.context.mcpReq
  const quiet = tellWaiting(call.tell, clock)
  const forMs = Math.min(holdMs, TIMER_MS_MAX, Math.max(0, expiresAt - clock.now()))
  const row = await approvals.settled(id, { forMs, signal: AbortSignal.any([signal, closing]) }).finally(quiet)
  const isOpen = row !== undefined && row.state === 'open' && row.expiresAt > clock.now()
  // A caller that has left gets nothing made for it, whatever was answered.
  if (isOpen || signal.aborted) return stillOpen(parts, call, waiting, holdMs > 0 ? 'held' : undefined)
  return attemptAgain(call, id)
}

/** The outcome of a call that nobody has answered, with where that can be done. */
async function stillOpen(parts: AskingParts, call: McpCall, waiting: Waiting, reason?: 'held'): Promise<Made> {
  const { first = await attemptAgain(call, waiting.approval.id) } = waiting
  const { outcome, session } = first
  if (outcome.ok || outcome.error.type !== 'approval_required') return first
  const url = parts.answerAt(waiting.approval.id)
  const details = {
    ...outcome.error.details,
    ...(url === undefined ? {} : { url }),
    ...(reason === undefined ? {} : { reason }),
  }
  const message =
    reason === undefined ? outcome.error.message : `nobody answered while the call was held: ${outcome.error.message}`
  const content = reason === undefined ? outcome.content : [{ type: 'text' as const, text: message }]
  return { kind: 'outcome', session, outcome: { ...outcome, content, error: { ...outcome.error, message, details } } }
}
