import { describe, expect, test } from 'vitest'
import type { ApprovalRow } from '../observe/store.ts'
import { approvalForm, offersFor, readFormAnswer } from './approval-form.ts'

const row: ApprovalRow = {
  id: 'apr_1',
  digest: '',
  state: 'open',
  tenant: 't',
  user: 'u',
  agent: 'a',
  session: 's',
  tool: 'write',
  fingerprint: '',
  effect: 'write',
  policyVersion: '',
  reason: 'writes are asked about',
  shown: 'write 1.0.0, source host, effect write\ntext: "x"',
  workspace: '',
  askedBy: ['default write'],
  offers: [
    { reach: 'once', shown: 'this call' },
    { reach: 'session', shown: 'calls of write in this session' },
    { reach: 'pattern', shown: 'calls of write below docs' },
  ],
  openedAt: 0,
  expiresAt: 1,
}
const accept = (content: unknown): object => ({ action: 'accept', content })
const read = (result: unknown, given: ApprovalRow = row) => readFormAnswer(result, given, given.offers)

describe('the form of a question', () => {
  test('shows the call and the reason, and wants a decision: refusing first, no default', () => {
    const form = approvalForm(row, row.offers, undefined)
    expect(form.message).toContain(row.shown)
    expect(form.message).toContain(row.reason)
    const { properties, required } = form.requestedSchema
    expect(required).toEqual(['decision'])
    expect(properties.decision.enum).toEqual(['decline', 'approve', 'approve_session', 'approve_pattern'])
    expect(properties.decision.enumNames).toHaveLength(4)
    expect(properties.decision.description).toContain('calls of write below docs')
    expect(properties).not.toHaveProperty('code')
    expect(JSON.stringify(form)).not.toContain('"default"')
  })

  test('asks for a code exactly where the question does', () => {
    const form = approvalForm({ ...row, proof: 'code' }, row.offers, 'The code was wrong.')
    expect(form.requestedSchema.properties.code?.type).toBe('string')
    expect(form.requestedSchema.required).toEqual(['decision'])
    expect(form.message.startsWith('The code was wrong.')).toBe(true)
  })

  test('what hides in a reason is written out', () => {
    expect(approvalForm({ ...row, reason: 'safe\u202e' }, row.offers, undefined).message).toContain('safe\\u{202e}')
  })

  test('a whole conversation is offered only in the one that the question belongs to', () => {
    expect(offersFor(row, 's').map(({ reach }) => reach)).toEqual(['once', 'session', 'pattern'])
    expect(offersFor(row, 'other').map(({ reach }) => reach)).toEqual(['once', 'pattern'])
  })
})

describe('the answer in a form', () => {
  test('each word is one decision', () => {
    expect(read(accept({ decision: 'approve' }))).toEqual({ kind: 'approve', reach: 'once' })
    expect(read(accept({ decision: 'approve_session' }))).toEqual({ kind: 'approve', reach: 'session' })
    expect(read(accept({ decision: 'approve_pattern' }))).toEqual({ kind: 'approve', reach: 'pattern' })
    expect(read(accept({ decision: 'decline' }))).toEqual({ kind: 'decline' })
    expect(read({ action: 'decline' })).toEqual({ kind: 'decline' })
  })

  test.each([
    ['dismissed', { action: 'cancel' }],
    ['dismissed with content', { action: 'cancel', content: { decision: 'approve' } }],
    ['nothing', undefined],
    ['text', 'approve'],
    ['a list', [{ decision: 'approve' }]],
    ['another action', { action: 'approve', content: { decision: 'approve' } }],
    ['no action', { content: { decision: 'approve' } }],
    ['no content', { action: 'accept' }],
    ['no decision', accept({})],
    ['an empty decision', accept({ decision: '' })],
    ['a decision in other letters', accept({ decision: 'Approve' })],
    ['true', accept({ decision: true })],
    ['a list of decisions', accept({ decision: ['approve'] })],
    ['a title', accept({ decision: 'Run exactly this call, once' })],
    ['a reach', accept({ decision: 'session' })],
    ['the name of a member of every object', accept({ decision: 'constructor' })],
    ['a code that nobody asked for', accept({ decision: 'approve', code: 'K7QM-2WXB' })],
    ['L09: a key that nobody asked for', accept({ decision: 'approve', scope: 'session' })],
  ])('L09: %s is no decision', (_name, result) => {
    expect(read(result)).toEqual({ kind: 'none' })
  })

  test('L09: a reach that was not offered is no decision, and never a narrower one', () => {
    const once = { ...row, offers: row.offers.slice(0, 1) }
    expect(read(accept({ decision: 'approve_session' }), once)).toEqual({ kind: 'none' })
    expect(read(accept({ decision: 'approve' }), once)).toEqual({ kind: 'approve', reach: 'once' })
  })

  test('a code comes with the approval; one that cannot be one is no answer', () => {
    const proven = { ...row, proof: 'code' }
    expect(read(accept({ decision: 'approve', code: ' K7QM-2WXB ' }), proven)).toEqual({
      kind: 'approve',
      reach: 'once',
      code: 'K7QM-2WXB',
    })
    expect(read(accept({ decision: 'approve' }), proven)).toEqual({ kind: 'approve', reach: 'once' })
    expect(read(accept({ decision: 'approve', code: 7 }), proven)).toEqual({ kind: 'none' })
    expect(read(accept({ decision: 'approve', code: 'x'.repeat(65) }), proven)).toEqual({ kind: 'none' })
    expect(read(accept({ decision: 'approve', code: '\ud800' }), proven)).toEqual({ kind: 'none' })
  })
})
