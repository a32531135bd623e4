// Where a rule wants a call to run: the demand of every allow and ask that holds counts, and what they leave goes with the
// decision; a call that no place is left for is denied.

import { describe, expect, it } from 'vitest'
import type { Decision } from '../describe/decision.ts'
import { ANA, caller, entry, input, policyOf } from './policy.fixture.ts'
import type { RuleOptions } from './policy-options.ts'
import { placesOf } from './rule-places.ts'
import { strictest } from './strictest.ts'

const tool = (sandbox?: 'required' | 'preferred' | 'off') =>
  entry('run', { effect: 'execute', place: 'child', ...(sandbox && { sandbox }), command: () => undefined })
const call = input({ program: 'npm' }, { effect: 'execute', command: { program: 'npm', reads: false } })
const decide = (rules: readonly RuleOptions[], one = tool()) => policyOf({ rules }).decide(ANA, one, call)

it('a child runs in a sandbox as well, as far as its contract lets it; everything else where it says', () => {
  expect(placesOf({})).toEqual(['process'])
  expect(placesOf({ place: 'worker' })).toEqual(['worker'])
  expect(placesOf({ place: 'upstream', sandbox: 'required' })).toEqual(['upstream'])
  expect(placesOf({ place: 'child' })).toEqual(['child', 'sandbox'])
  expect(placesOf({ place: 'child', sandbox: 'required' })).toEqual(['sandbox'])
  expect(placesOf({ place: 'child', sandbox: 'off' })).toEqual(['child'])
})

describe('a demanded place', () => {
  it('goes with the decision where the tool could run elsewhere too', () => {
    expect(decide([{ allow: 'run', place: 'sandbox' }])).toMatchObject({ kind: 'allow', place: ['sandbox'] })
    expect(decide([{ ask: 'run', place: ['sandbox', 'upstream'] }])).toMatchObject({ kind: 'ask', place: ['sandbox'] })
    expect(decide([{ allow: 'run' }])).not.toHaveProperty('place')
    expect(decide([{ allow: 'run', place: ['child', 'sandbox'] }])).not.toHaveProperty('place')
    expect(decide([{ allow: 'run', place: 'sandbox' }], tool('required'))).not.toHaveProperty('place')
  })

  it('denies where the tool cannot run there', () => {
    const denied = decide([{ allow: 'run', place: 'sandbox' }], tool('off'))
    expect(denied).toMatchObject({ kind: 'deny', reason: expect.stringContaining('another place (sandbox)') })
    expect(decide([{ allow: 'run', place: 'worker' }]).kind).toBe('deny')
    expect(policyOf({ rules: [{ allow: 'run', place: 'sandbox' }] }).decide(ANA, entry('run'), call).kind).toBe('deny')
  })

  it('counts of every rule that holds, not only of the one that answers', () => {
    const both: readonly RuleOptions[] = [
      { allow: 'run' },
      { allow: { program: 'npm' }, place: 'sandbox', because: 'it runs what others wrote' },
    ]
    expect(decide(both)).toMatchObject({ kind: 'allow', place: ['sandbox'] })
    expect(decide([{ ask: 'run' }, ...both])).toMatchObject({ kind: 'ask', place: ['sandbox'] })
    expect(decide([{ allow: 'run' }, { allow: { program: 'git' }, place: 'sandbox' }])).not.toHaveProperty('place')
  })

  it('a child in a sandbox is a child: the narrower of two demands is kept', () => {
    const rules: readonly RuleOptions[] = [
      { allow: 'run', place: 'child' },
      { allow: { program: 'npm' }, place: 'sandbox' },
    ]
    expect(decide(rules)).toMatchObject({ kind: 'allow', place: ['sandbox'] })
    expect(decide(rules.slice(0, 1))).not.toHaveProperty('place')
    expect(decide(rules.slice(0, 1), tool('required')).kind).toBe('allow')
  })

  it('a rule about a file that is read has its say about where the call runs', () => {
    const reading = entry('run', { effect: 'execute', place: 'child', touches: () => [] })
    const policy = policyOf({
      rules: [{ allow: 'run' }, { allow: { resource: 'read file:untrusted/**' }, place: 'sandbox' }],
    })
    const of = (file: string) =>
      policy.decide(ANA, reading, input({}, { effect: 'execute', touches: [`read file:${file}`] }))
    expect(of('/ws/untrusted/x')).toMatchObject({ kind: 'allow', place: ['sandbox'] })
    expect(of('/ws/src/x')).not.toHaveProperty('place')
  })

  it('child-within-parent: what the caller it works for is kept to holds for it too', () => {
    const rules: readonly RuleOptions[] = [{ allow: 'run' }, { allow: 'run', for: { agent: 'lead' }, place: 'sandbox' }]
    const child = caller({ parent: caller({ agent: 'lead' }) })
    expect(policyOf({ rules }).decide(child, tool(), call)).toMatchObject({ kind: 'allow', place: ['sandbox'] })
    expect(policyOf({ rules }).decide(caller(), tool(), call)).not.toHaveProperty('place')
  })
})

describe('the stricter of two answers', () => {
  const decision = (kind: Decision['kind'], place?: Decision['place']): Decision => ({
    ...{ kind, by: 'rule', reason: 'r', policyVersion: 'v' },
    ...(place === undefined ? {} : { place }),
  })

  it('runs where both let it', () => {
    const one = strictest(decision('allow', ['child', 'sandbox']), decision('ask', ['sandbox']))
    expect(one).toMatchObject({ kind: 'ask', place: ['sandbox'] })
    expect(strictest(decision('ask'), decision('allow', ['child']))).toMatchObject({ kind: 'ask', place: ['child'] })
  })

  it('closed: and nowhere where they let it run nowhere', () => {
    expect(strictest(decision('allow', ['child']), decision('allow', ['sandbox'])).place).toEqual([])
    expect(strictest(decision('deny'), decision('allow', ['sandbox']))).toEqual(decision('deny'))
  })
})
