// Questions and grants over the admin API. An answer goes the way of every answer, through the gate; who gave it is the
// credential that brought it. Nothing here makes a call.

import type { Hono } from 'hono'
import type { Clock } from '../base/clock.ts'
import { REACHES } from '../describe/decision.ts'
import type { ErrorType } from '../describe/error-types.ts'
import type { Gate, PersonsAnswer } from '../gate-contract.ts'
import type { Answered, ApprovalRow } from '../observe/store.ts'
import { needs } from './admin-needs.ts'
import {
  actorOf,
  json,
  ok,
  type Read,
  readId,
  readLimit,
  readObject,
  readQuery,
  readText,
  readWord,
  refuse,
} from './admin-request.ts'
import { approvalView, type ShownState, shownState } from './approval-view.ts'
import type { HttpEnvironment } from './http-environment.ts'
import { problem } from './problem.ts'

export type ApprovalRoutesParts = {
  readonly gate: Pick<Gate, 'approvals' | 'grants'>
  readonly clock: Clock
  /** False where the operator wants answers through other channels only. */
  readonly takesAnswers: boolean
}

const STATES = ['open', 'approved', 'declined', 'redeemed'] as const
const ANSWER_KEYS = ['decision', 'scope', 'comment', 'code'] as const
const COMMENT_CHARACTERS_MAX = 2_000
const CODE_CHARACTERS_MAX = 64

export function approvalRoutes(app: Hono<HttpEnvironment>, { gate, clock, takesAnswers }: ApprovalRoutesParts): void {
  app.get('/api/approvals', needs('GET /api/approvals'), async (context) => {
    const asked = readQuery(context.req.url, ['state', 'limit'])
    if (asked.kind === 'refused') return asked.response
    const state = readWord(asked.value.state, 'state', STATES)
    if (state.kind === 'refused') return state.response
    const limit = readLimit(asked.value.limit)
    if (limit.kind === 'refused') return limit.response
    const filter = state.value === undefined ? {} : { state: state.value }
    const rows = await gate.approvals.list({ limit: limit.value, ...filter })
    const views = rows.map((row) => approvalView(row, clock.now()))
    return json({ approvals: views.filter((view) => state.value === undefined || view.state === state.value) })
  })
  app.get('/api/approvals/:id', needs('GET /api/approvals/{id}'), async (context) => {
    const id = readId(context.req.param('id'))
    const row = id === undefined ? undefined : await gate.approvals.show(id)
    return row === undefined ? noApproval() : json(approvalView(row, clock.now()))
  })
  app.post('/api/approvals/:id', needs('POST /api/approvals/{id}'), async (context) => {
    if (!takesAnswers)
      return problem('permission_denied', 'the configuration of this gate takes no answers here (`approvals.channels`)')
    const id = readId(context.req.param('id'))
    const answer = await readAnswer(context.req.raw, actorOf(context.get('credential')))
    if (answer.kind === 'refused') return answer.response
    if (id === undefined) return noApproval()
    return answeredResponse(await gate.approvals.decide(id, answer.value), clock.now())
  })
  app.get('/api/grants', needs('GET /api/grants'), async (context) => {
    const asked = readQuery(context.req.url, ['live', 'limit'])
    if (asked.kind === 'refused') return asked.response
    const live = readWord(asked.value.live, 'live', ['1'])
    if (live.kind === 'refused') return live.response
    const limit = readLimit(asked.value.limit)
    if (limit.kind === 'refused') return limit.response
    const filter = live.value === undefined ? {} : { live: true }
    return json({ grants: await gate.grants.list({ limit: limit.value, ...filter }) })
  })
  app.delete('/api/grants/:id', needs('DELETE /api/grants/{id}'), async (context) => {
    const id = readId(context.req.param('id'))
    const by = actorOf(context.get('credential'))
    if (id === undefined || !(await gate.grants.revoke(id, by)))
      return problem('not_found', 'there is no such grant, or it was revoked before')
    return json({ id, revoked: true })
  })
}

const noApproval = (): Response => problem('not_found', 'there is no such approval')

/** Who answers is never read from a body: one that says it is refused. */
async function readAnswer(request: Request, by: string): Promise<Read<PersonsAnswer>> {
  const body = await readObject(request, ANSWER_KEYS)
  if (body.kind === 'refused') return body
  const decision = readWord(body.value.decision, 'decision', ['approve', 'decline'])
  if (decision.kind === 'refused') return decision
  if (decision.value === undefined) return refuse('`decision`: expected approve or decline')
  const scope = readWord(body.value.scope, 'scope', REACHES)
  if (scope.kind === 'refused') return scope
  const comment = readText(body.value.comment, 'comment', COMMENT_CHARACTERS_MAX)
  if (comment.kind === 'refused') return comment
  const code = readText(body.value.code, 'code', CODE_CHARACTERS_MAX)
  if (code.kind === 'refused') return code
  return ok({
    decision: decision.value,
    by,
    ...(scope.value === undefined ? {} : { scope: scope.value }),
    ...(comment.value === undefined ? {} : { comment: comment.value }),
    ...(code.value === undefined ? {} : { code: code.value.trim() }),
  })
}

function answeredResponse(answered: Answered, now: number): Response {
  switch (answered.kind) {
    case 'missing':
      return noApproval()
    case 'answered': {
      const { grant } = answered
      return json({ approval: approvalView(answered.approval, now), ...(grant === undefined ? {} : { grant }) })
    }
    case 'closed':
      return closedResponse(answered.approval, now)
    case 'refused':
      return problem('invalid_args', WHY_REFUSED[answered.why], {
        members: { reason: answered.why, state: shownState(answered.approval, now) },
      })
  }
}

const WHY_REFUSED = {
  'reach-not-offered': 'this question does not offer that scope; nothing was answered',
  'code-missing': 'this question asks for the code that the terminal of the gate shows; nothing was answered',
  'code-wrong': 'that is not the code of this question; nothing was answered',
  'client-asserted': 'this question cannot be answered by the client that asks; nothing was answered',
} as const

/** The error type says how the question ended, so that nobody takes a time that ran out for a person's no. */
const CLOSED: Readonly<Record<ShownState, { readonly type: ErrorType; readonly detail: string }>> = {
  open: { type: 'invalid_args', detail: 'this question takes no answer now' },
  approved: { type: 'invalid_args', detail: 'this question was answered before: approved' },
  redeemed: { type: 'invalid_args', detail: 'this question was approved before, and its call was made' },
  declined: { type: 'approval_declined', detail: 'this question was answered before: declined' },
  expired: { type: 'approval_expired', detail: 'this question was not answered, or its answer not used, in time' },
}

function closedResponse(approval: ApprovalRow, now: number): Response {
  const state = shownState(approval, now)
  const { type, detail } = CLOSED[state]
  return problem(type, detail, { status: 409, members: { state } })
}
