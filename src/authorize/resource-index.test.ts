// Goal: looking at few of many rules never leaves out one that holds. Method: one rule that matters among many about other
// names, so that only the index can find it; the decision has to be that of the one rule alone.

import { describe, expect, test } from 'vitest'
import { ANA, entry, input, policyOf } from './policy.fixture.ts'
import type { RuleOptions } from './policy-options.ts'

const FILLERS: readonly RuleOptions[] = Array.from({ length: 40 }, (_, index) => ({
  deny: { resource: [`* file:filler${index}/**`, `* file:**/filler${index}`] },
}))

describe('one rule among many', () => {
  test.each<[pattern: string | readonly string[], touch: unknown, effect: 'read' | 'write', hit: boolean]>([
    ['read file:docs/**', ['read file:/ws/docs/a/b'], 'read', true],
    ['read file:docs/**', ['read file:/ws/docs'], 'read', true],
    ['read file:docs/**', ['read file:/ws/src/docs'], 'read', false],
    ['read file:**/key', ['read file:/ws/a/b/key'], 'read', true],
    ['read file:**/key', ['read file:/etc/key'], 'read', true],
    ['read file:**/key', ['read file:/ws/key'], 'read', true],
    ['read file:**/key', ['read file:/ws/keys'], 'read', false],
    ['read file:key', ['read file:/ws/key'], 'read', true],
    ['read file:{a,b/c}', ['read file:/ws/b/c'], 'read', true],
    ['read file:{a,*/c}', ['read file:/ws/x/c'], 'read', true],
    ['read file:.', ['read file:/ws'], 'read', true],
    ['read file:**/*.pem', ['read file:/ws/a/x.pem'], 'read', true],
    ['read file:/ws/docs/**', ['read file:/ws/docs/a'], 'read', true],
    ['read file:docs/**', ['read file:docs/a'], 'read', true],
    [['read file:docs/**', 'read file:**/*.pem'], ['read file:/ws/x.pem'], 'read', true],
    ['read file:docs/**', ['read file:/ws/a', 'read file:/ws/docs/a'], 'read', true],
    // What its letters do not tell, and what stands for more than itself.
    ['read file:docs/**', ['read file:/ws/../etc/passwd'], 'read', true],
    ['read file:docs/**', 'broken', 'read', true],
    ['write file:docs/**', ['write file:/ws/*'], 'write', true],
    ['write file:a/b', ['write file:/ws/a/*'], 'write', true],
    ['write file:**/key', ['write file:/ws/a/*'], 'write', true],
    ['write file:docs/**', ['write file:/ws/src/*'], 'write', false],
    ['read file:docs/**', ['read file:/ws/docs/sub/*'], 'read', true],
    ['read file:docs', ['read file:/ws/docs/*'], 'read', true],
    ['read file:docs/**', ['read file:/ws/*'], 'read', false],
    ['read file:.', ['read file:/ws/*'], 'read', true],
    ['read file:**', ['read file:/ws/*'], 'read', true],
    ['write item:7', ['write item:7'], 'write', true],
    ['write item:7', ['write item:*'], 'write', true],
    ['write item:7', ['write item:8'], 'write', false],
  ])('%j over %j', (resource, touches, effect, hit) => {
    const given = input({}, { effect, touches })
    const tool = entry('t', { effect })
    const rule = { deny: { resource } }
    expect(policyOf({ rules: [rule] }).decide(ANA, tool, given).kind === 'deny').toBe(hit)
    const among = policyOf({ rules: [...FILLERS, rule, ...FILLERS] }).decide(ANA, tool, given)
    // Fillers also speak of a broken touch and of a whole root; then the answer is the same, by another rule.
    const filled = policyOf({ rules: FILLERS }).decide(ANA, tool, given)
    expect(among.kind === 'deny').toBe(hit || filled.kind === 'deny')
    const asking = policyOf({
      defaults: { read: 'deny', write: 'deny' },
      rules: [...FILLERS.map(toAsk), { ask: { resource } }],
    })
    expect(asking.decide(ANA, tool, given).kind === 'ask').toBe(hit || filled.kind === 'deny')
  })

  test('an allow is found by what it covers', () => {
    const allows: readonly RuleOptions[] = [
      ...Array.from({ length: 40 }, (_, index) => ({ allow: { resource: `write file:filler${index}/**` } })),
      { allow: { resource: 'write file:docs/**' } },
    ]
    const policy = policyOf({ defaults: { write: 'deny' }, rules: allows })
    const decide = (touches: readonly string[]): string => policy.decide(ANA, entry('t'), input({}, { touches })).kind
    expect(decide(['write file:/ws/docs/a'])).toBe('allow')
    expect(decide(['write file:/ws/docs/*'])).toBe('allow')
    expect(decide(['write file:/ws/docs/a', 'write file:/ws/src/a'])).toBe('deny')
    expect(decide(['write file:/ws/*'])).toBe('deny')
  })
})

const toAsk = ({ deny }: RuleOptions): RuleOptions => (deny === undefined ? {} : { ask: deny })
