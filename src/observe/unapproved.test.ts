// Goal: whoever reads why a call was not approved can tell a person's no from silence, and learns nothing of other callers.

import { describe, expect, test } from 'vitest'
import type { Decision } from '../describe/decision.ts'
import type { ApprovalRow, Intended } from './store.ts'
import { unansweredText, unapproved } from './unapproved.ts'

const DECISION: Decision = { kind: 'ask', by: 'default', reason: 'writes are asked', policyVersion: 'p' }
const ROW: ApprovalRow = {
  ...{ id: 'apr_1', digest: 'd', state: 'open', tenant: 't', user: 'u', agent: 'a', session: 's', tool: 'edit_file' },
  ...{ fingerprint: 'f', effect: 'write', policyVersion: 'p', reason: 'r', shown: 'edit_file …', workspace: 'w' },
  ...{ askedBy: ['default write'], offers: [{ reach: 'once', shown: 'this one call' }], openedAt: 1, expiresAt: 5 },
}

type State = Extract<Intended, { kind: 'unapproved' }>['state']

const end = (state: State, more?: Partial<ApprovalRow>) =>
  unapproved({ kind: 'unapproved', state, ...(more === undefined ? {} : { approval: { ...ROW, ...more } }) }, DECISION)

describe('why a call was not approved', () => {
  test.each<[State, Partial<ApprovalRow>, string, string]>([
    ['open', {}, 'approval_required', 'waiting'],
    ['declined', { state: 'declined', answeredBy: 'boss' }, 'approval_declined', 'person'],
    ['declined', { state: 'declined', answeredBy: 'boss', proofFailures: 4 }, 'approval_declined', 'person'],
    ['declined', { state: 'declined', proofFailures: 5 }, 'approval_declined', 'proof'],
    ['expired', {}, 'approval_expired', 'expired'],
    ['used', { state: 'redeemed' }, 'approval_expired', 'used'],
  ])('%s (%j): %s, %s', (state, row, code, reason) => {
    expect(end(state, row)).toMatchObject({
      code,
      message: expect.stringContaining('apr_1'),
      options: { details: { reason, approvalId: 'apr_1', expiresAt: 5, shown: 'edit_file …' } },
    })
  })

  test('what a person says with a no reaches the model, in one line and bounded', () => {
    const said = (comment: string) => end('declined', { state: 'declined', answeredBy: 'boss', comment }).message
    expect(said('use\n the other table')).toContain('and says: "use the other table"; do something else')
    expect(said('x'.repeat(5_000)).length).toBeLessThan(700)
    expect(said('  ')).not.toContain('says')
    expect(end('open', { comment: 'soon' }).message).not.toContain('soon')
  })

  test('L32: of an approval of another call nothing is told but that it is one', () => {
    expect(end('mismatch')).toMatchObject({ code: 'approval_required', options: { details: { reason: 'mismatch' } } })
    expect(end('withdrawn')).toMatchObject({ code: 'approval_expired', options: { details: { reason: 'withdrawn' } } })
    for (const state of ['mismatch', 'withdrawn'] as const)
      expect(Object.keys(end(state).options.details ?? {})).toEqual(['reason'])
  })

  test('L43: nothing but a no is said to be one', () => {
    const said = (state: State, more?: Partial<ApprovalRow>) => end(state, more).message
    const silent = [said('open', {}), said('expired', {}), said('used', {}), said('mismatch'), said('withdrawn')]
    for (const message of [...silent, said('declined', { proofFailures: 5 })])
      expect(message).not.toMatch(/(?<!no |nobody )\b(?:person|user|somebody) (?:has )?(?:declined|rejected|refused)/)
    expect(said('declined', { answeredBy: 'boss' })).toContain('a person declined')
    expect(unansweredText('apr_1')).toContain('nobody declined')
  })
})
