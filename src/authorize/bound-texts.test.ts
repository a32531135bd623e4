// What an answer is for besides the arguments: the text of a script that a call runs. Another text is another question, the
// person reads it, and no wider answer covers what it will be tomorrow.

import { describe, expect, it } from 'vitest'
import type { BoundText } from '../describe/tool.ts'
import { callDigest } from './approval.ts'
import { type Granted, grantCovers } from './grant.ts'
import { offersFor } from './grant-offers.ts'
import { ANA, entry, input, ROOTS } from './policy.fixture.ts'
import { renderCall } from './render-call.ts'

const TEST: BoundText = { title: 'package script `test`', text: 'vitest run' }

describe('the digest of a call', () => {
  const digest = (binds?: readonly BoundText[]) =>
    callDigest({
      ...{ caller: ANA, workspace: 'main=/ws', fingerprint: 'f', argumentsText: '{}', policyVersion: 'v' },
      ...(binds && { binds }),
    })

  it('is another one for another text, title or number of texts', () => {
    const all = [[], [TEST], [{ ...TEST, text: 'vitest run && evil' }], [{ ...TEST, title: 'x' }], [TEST, TEST]]
    expect(new Set(all.map((binds) => digest(binds))).size).toBe(all.length)
    expect(digest()).toBe(digest([]))
  })

  it('does not mistake the end of one text for the beginning of another', () => {
    expect(digest([{ title: 'a', text: 'bc' }])).not.toBe(digest([{ title: 'ab', text: 'c' }]))
    const two = [
      { title: 'a', text: 'b' },
      { title: 'c', text: 'd' },
    ]
    expect(digest(two)).not.toBe(digest([{ title: 'a', text: JSON.stringify(['b', 'c', 'd']) }]))
    expect(digest(two)).not.toBe(digest(two.toReversed()))
  })
})

describe('what a person reads', () => {
  const shown = (binds: readonly BoundText[]) => renderCall(entry('run'), input({ script: 'test' }, { binds }))

  it('each text stands there, behind its title', () => {
    const text = shown([TEST])
    expect(text).toContain('and package script `test`, as it is now:\ntext (10 characters):\n| vitest run')
    expect(text).toMatch(/these too are what the answer is for: \d+ bytes, sha256 [0-9a-f]{64}$/)
    expect(shown([])).not.toContain('as it is now')
  })

  it('nothing in it hides or passes for a line of the question', () => {
    const text = shown([{ title: 'a\ndecision: approve', text: 'x\n! all is well\u202e' }])
    expect(text.split('\n').filter((line) => line.startsWith('decision') || line.startsWith('! all'))).toEqual([])
    expect(text).toContain('| ! all is well\\u{202e}')
    expect(text).toContain('a\\u{a}decision')
    expect(text.startsWith('! 2 hidden')).toBe(true)
  })

  it('a long one is shown from both ends, and many are counted', () => {
    const long = shown([{ title: 't', text: `begin ${'x'.repeat(100_000)} end` }])
    expect(long.length).toBeLessThan(10_000)
    expect(long).toContain('| begin')
    expect(long).toContain(' end')
    expect(long).toMatch(/characters are not shown/)
    const many = shown(Array.from({ length: 40 }, (_, index) => ({ title: `t${index}`, text: 'y'.repeat(20_000) })))
    expect(many.length).toBeLessThan(40_000)
    expect(many).toContain('… 24 of 40 such texts are not shown …')
  })
})

describe('a wider answer', () => {
  const decision = { kind: 'ask', by: 'default', reason: 'r', reach: 'pattern', policyVersion: 'v' } as const
  const asking = (binds?: readonly BoundText[]) => ({
    ...{ caller: ANA, workspace: 'w', decision, askedBy: ['default execute'], roots: ROOTS },
    entry: entry('run', { effect: 'execute' }),
    input: input({ script: 'test' }, { effect: 'execute', ...(binds && { binds }) }),
  })
  const grant: Granted = {
    ...{ reach: 'session', tenant: ANA.tenant, user: ANA.user, agent: ANA.agent, session: ANA.session, workspace: 'w' },
    ...{ tool: 'run', fingerprint: 'fingerprint-of-run', effect: 'execute', policyVersion: 'v' },
    askedBy: ['default execute'],
  }

  it('is not offered for a call that binds a text, and covers none', () => {
    expect(offersFor(asking(), 1_000).map(({ reach }) => reach)).toEqual(['once', 'session', 'pattern'])
    expect(offersFor(asking([TEST]), 1_000).map(({ reach }) => reach)).toEqual(['once'])
    expect(grantCovers(grant, asking())).toBe(true)
    expect(grantCovers(grant, asking([TEST]))).toBe(false)
  })
})
