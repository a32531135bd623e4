// A question to a person as a form of MCP, and the answer read back. The decision is a required choice with no default, and
// refusing stands first. Only what was typed into it counts: a form without a valid decision, or with anything besides, is
// no decision.

import { visibleText } from '../authorize/visible-text.ts'
import { isJsonObject, isWellFormed } from '../base/json-value.ts'
import type { Reach } from '../describe/decision.ts'
import type { ApprovalOffer, ApprovalRow } from '../observe/store.ts'

/** Each way of saying yes has a word of its own, so that no answer reaches further by accident. */
const WORDS = { once: 'approve', session: 'approve_session', pattern: 'approve_pattern' } as const satisfies Record<
  Reach,
  string
>
const TITLES = {
  once: 'Run exactly this call, once',
  session: 'Run it, and calls like it in this conversation',
  pattern: 'Run it, and every call that fits the pattern',
} as const satisfies Record<Reach, string>
const CODE_CHARACTERS_MAX = 64

export type FormChoice = { readonly type: 'string'; readonly title: string; readonly description: string } & {
  readonly enum: readonly string[]
  readonly enumNames: readonly string[]
}
export type FormText = {
  readonly type: 'string'
  readonly title: string
  readonly description: string
  readonly maxLength: number
}

/** The parameters of an `elicitation/create`. */
export type ApprovalForm = {
  readonly message: string
  readonly requestedSchema: {
    readonly type: 'object'
    readonly properties: { readonly decision: FormChoice; readonly code?: FormText }
    readonly required: readonly string[]
  }
}

/** `remark`: why it is asked again. */
export function approvalForm(
  approval: ApprovalRow,
  offers: readonly ApprovalOffer[],
  remark: string | undefined,
): ApprovalForm {
  const decision: FormChoice = {
    type: 'string',
    title: 'Decision',
    description: offers.map(({ reach, shown }) => `${WORDS[reach]}: ${shown}`).join('\n'),
    enum: ['decline', ...offers.map(({ reach }) => WORDS[reach])],
    enumNames: ['Do not run it', ...offers.map(({ reach }) => TITLES[reach])],
  }
  const code: FormText = {
    type: 'string',
    title: 'Code',
    description: 'To approve: the code that the gate shows at its own terminal or console for this question',
    maxLength: CODE_CHARACTERS_MAX,
  }
  return {
    message: [
      ...(remark === undefined ? [] : [remark, '']),
      `May this call run? It is asked about: ${visibleText(approval.reason).text}`,
      '',
      approval.shown,
    ].join('\n'),
    requestedSchema: {
      type: 'object',
      properties: { decision, ...(approval.proof === undefined ? {} : { code }) },
      required: ['decision'],
    },
  }
}

/**
 * What this caller can be offered: `once` always; a whole conversation only in the one that the question was opened in, for
 * an equal call of another one joins the same question.
 */
export const offersFor = (approval: ApprovalRow, session: string): readonly ApprovalOffer[] =>
  approval.offers.filter(({ reach }) => reach !== 'session' || approval.session === session)

export type FormAnswer =
  | { readonly kind: 'approve'; readonly reach: Reach; readonly code?: string }
  | { readonly kind: 'decline' }
  /** Dismissed, or not filled in as a person can. */
  | { readonly kind: 'none' }

const NONE: FormAnswer = Object.freeze({ kind: 'none' })

/** Reads the result of an elicitation, whatever the client made of it. */
export function readFormAnswer(result: unknown, approval: ApprovalRow, offers: readonly ApprovalOffer[]): FormAnswer {
  if (!isJsonObject(result)) return NONE
  // The protocol's word for a person who said no; one that dismisses the form has said nothing.
  if (result.action === 'decline') return { kind: 'decline' }
  const { content } = result
  if (result.action !== 'accept' || !isJsonObject(content)) return NONE
  const known = approval.proof === undefined ? ['decision'] : ['decision', 'code']
  if (!Object.keys(content).every((key) => known.includes(key))) return NONE
  const { decision, code } = content
  if (decision === 'decline') return { kind: 'decline' }
  const offer = offers.find(({ reach }) => WORDS[reach] === decision)
  if (offer === undefined || !isCode(code)) return NONE
  return { kind: 'approve', reach: offer.reach, ...(code === undefined ? {} : { code: code.trim() }) }
}

const isCode = (code: unknown): code is string | undefined =>
  code === undefined || (typeof code === 'string' && code.length <= CODE_CHARACTERS_MAX && isWellFormed(code))
