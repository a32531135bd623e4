// Goal: each key of a rule narrows as it says, the profile speaks only where no rule does, and nobody has more authority
// than whoever they work for. Method: each refusal beside the twin that passes.

import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../base/json-value.ts'
import type { Caller } from '../describe/caller.ts'
import { DECLARED_EFFECTS, type DeclaredEffect } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import { ANA, caller, entry, input, policyOf, ROOTS } from './policy.fixture.ts'
import { loadPolicy } from './policy.ts'
import type { PolicyOptions, RuleOptions } from './policy-options.ts'

const WRITE = entry('write_file', { source: 'files' })
const OPEN: PolicyOptions['defaults'] = { read: 'allow', write: 'allow', execute: 'allow', external: 'allow' }

const kind = (
  rule: RuleOptions | readonly RuleOptions[],
  args: JsonObject = {},
  who: Caller = ANA,
  tool = WRITE,
): string =>
  policyOf({ defaults: OPEN, rules: Array.isArray(rule) ? rule : [rule as RuleOptions] }).decide(who, tool, input(args))
    .kind

const problemsOf = (options: unknown): readonly { readonly key?: string; readonly message: string }[] => {
  const loaded = loadPolicy(options as PolicyOptions, { roots: ROOTS })
  return loaded.kind === 'bad' ? loaded.problems : []
}

describe('tests of arguments', () => {
  const deny = (test: NonNullable<RuleOptions['where']>[string]): RuleOptions => ({
    deny: 'write_file',
    where: { v: test },
  })
  const allow = (test: NonNullable<RuleOptions['where']>[string]): readonly RuleOptions[] => [
    { ask: 'write_file', for: { user: 'nobody' } },
    { allow: 'write_file', where: { v: test } },
  ]
  const allowed = (test: NonNullable<RuleOptions['where']>[string], v: JsonObject[string]): boolean =>
    policyOf({ defaults: { write: 'deny' }, rules: allow(test) }).decide(ANA, WRITE, input({ v })).kind === 'allow'

  test.each<[test: NonNullable<RuleOptions['where']>[string], inside: JsonObject[string], outside: JsonObject[string]]>(
    [
      [{ in: ['a', 'b*'] }, 'b*', 'bc'],
      [{ in: [1, true] }, 1, 2],
      [{ in: [1, true] }, true, false],
      [{ min: 3 }, 3, 2.99],
      [{ max: 3 }, 3, 3.01],
      [{ min: -1, max: 1 }, 0, 2],
      [{ prefix: 'feat/' }, 'feat/x/y', 'fix/x'],
      [{ prefix: 'feat/' }, 'feat/x', 'feature'],
      [{ prefix: '{x}' }, '{x}y', 'xy'],
      [{ prefix: 'a', in: ['ab', 'b'] }, 'ab', 'b'],
      [{ prefix: 'a', in: ['ab', 'b'] }, 'ab', 'ac'],
    ],
  )('%j: %j is inside, %j is not', (given, inside, outside) => {
    expect(kind(deny(given), { v: inside })).toBe('deny')
    expect(kind(deny(given), { v: outside })).toBe('allow')
    expect(allowed(given, inside)).toBe(true)
    expect(allowed(given, outside)).toBe(false)
  })

  test('L07: what cannot be judged counts as the stricter side', () => {
    for (const v of ['5', null, { n: 5 }, true]) {
      expect(kind(deny({ min: 3 }), { v })).toBe('deny')
      expect(allowed({ min: 3 }, v)).toBe(false)
    }
    expect(kind(deny({ min: 3 }), {})).toBe('allow')
    expect(allowed({ min: 3 }, [4, 5])).toBe(true)
    expect(allowed({ min: 3 }, [4, 2])).toBe(false)
    expect(kind(deny({ min: 3 }), { v: [4, 2] })).toBe('deny')
  })

  test('L14: a set of nothing holds for nothing', () => {
    expect(kind(deny({ in: [] }), { v: 'a' })).toBe('allow')
    expect(allowed({ in: [] }, 'a')).toBe(false)
  })

  test('a path in a test is one path however it is spelled', () => {
    const one = (test: NonNullable<RuleOptions['where']>[string], path: string): string =>
      kind({ deny: 'write_file', where: { path: test } }, { path })
    for (const path of ['secret/a', './secret//a', '/ws/secret/a', 'docs/../secret/a']) {
      expect(one({ in: ['secret/a'] }, path)).toBe('deny')
      expect(one({ prefix: 'secret/' }, path)).toBe('deny')
    }
    expect(one({ in: ['secret/a'] }, 'secret/b')).toBe('allow')
    expect(one({ prefix: 'secret/' }, 'secrets/b')).toBe('allow')
  })

  test('an allow by prefix is about what lies below, and not about the folder itself', () => {
    const rules: readonly RuleOptions[] = [{ allow: 'write_file', where: { path: { prefix: 'docs/' } } }]
    const policy = policyOf({ defaults: { write: 'deny' }, rules })
    expect(policy.decide(ANA, WRITE, input({ path: 'docs/a' })).kind).toBe('allow')
    for (const path of ['docs', 'docs/../secret', '/etc/docs/a', 'x/docs/a'])
      expect(policy.decide(ANA, WRITE, input({ path })).kind).toBe('deny')
  })
})

describe('expressions', () => {
  test('L11: an allow whose expression cannot be evaluated does not hold; a deny and an ask do', () => {
    const when = 'args.amount < 100'
    const policy = (rule: RuleOptions) => policyOf({ defaults: { write: 'ask' }, rules: [rule] })
    const answers = (rule: RuleOptions) =>
      [{ amount: 5 }, { amount: 500 }, {}, { amount: 'five' }].map(
        (args) => policy(rule).decide(ANA, WRITE, input(args)).kind,
      )
    expect(answers({ allow: 'write_file', when })).toEqual(['allow', 'ask', 'ask', 'ask'])
    expect(answers({ deny: 'write_file', when })).toEqual(['deny', 'ask', 'deny', 'deny'])
    expect(kind({ ask: 'write_file', when }, { amount: 'five' })).toBe('ask')
  })

  test('L28: a field that a model fills in cannot lower anything that a rule does not give it', () => {
    const rules: readonly RuleOptions[] = [{ deny: 'write_file', when: '!has(args.approved) || args.target == "prod"' }]
    expect(kind(rules, { approved: true, target: 'prod' })).toBe('deny')
    expect(kind(rules, { approved: true, target: 'test' })).toBe('allow')
    expect(kind([{ ask: 'write_file' }], { requires_approval: false, risk: 'none', effect: 'read' })).toBe('ask')
  })

  test('every key of a rule has to hold', () => {
    const rule: RuleOptions = { deny: 'write_file', where: { path: 'docs/**' }, when: 'args.size > 10' }
    expect(kind(rule, { path: 'docs/a', size: 11 })).toBe('deny')
    expect(kind(rule, { path: 'docs/a', size: 9 })).toBe('allow')
    expect(kind(rule, { path: 'src/a', size: 11 })).toBe('allow')
  })

  test('L06: the answer to a call that touches many things is the strictest of what each gets', () => {
    const rules: readonly RuleOptions[] = [
      { allow: 'write_file', when: 'resources.all(r, r.startsWith("write file:/ws/docs/"))' },
      { deny: 'write_file', when: 'resources.exists(r, r.endsWith(".lock"))' },
    ]
    const policy = policyOf({ defaults: { write: 'ask' }, rules })
    const decide = (touches: readonly string[]): string => policy.decide(ANA, WRITE, input({}, { touches })).kind
    expect(decide(['write file:/ws/docs/a', 'write file:/ws/docs/b'])).toBe('allow')
    expect(decide(['write file:/ws/docs/a', 'write file:/ws/src/b'])).toBe('ask')
    expect(decide(['write file:/ws/docs/a', 'write file:/ws/docs/yarn.lock'])).toBe('deny')
    expect(policy.decide(ANA, WRITE, input()).kind).toBe('deny')
  })

  test('a file that a running call asks about stands in for its argument', () => {
    const search = entry('search', { effect: 'read', walks: true, resolve: (args) => args })
    const policy = policyOf({ rules: [{ deny: 'search', when: 'args.path.startsWith("secret/")' }] })
    const given = input({ path: '.' }, { effect: 'read', touches: ['read file:/ws/*'] })
    expect(policy.mayTouch(ANA, search, 'read file:/ws/secret/a', given)).toBe(false)
    expect(policy.mayTouch(ANA, search, 'read file:/ws/docs/a', given)).toBe(true)
  })

  test('G15: a rule that looks at arguments takes no tool out of a listing; one that does not, does', () => {
    const admit = (when: string, who: Caller = ANA): string =>
      policyOf({ defaults: OPEN, rules: [{ deny: 'write_file', when }] }).admit(who, WRITE).kind
    expect(admit('args.path == "x"')).toBe('admitted')
    expect(admit('size(resources) > 100')).toBe('admitted')
    expect(admit('caller.user == "ana"')).toBe('deny')
    expect(admit('caller.user == "ana"', caller({ user: 'bob' }))).toBe('admitted')
    expect(admit('tool.effect == "write"')).toBe('deny')
  })

  test('an allow for somebody else does not make a denied tool appear', () => {
    const policy = policyOf({ profile: 'platform', rules: [{ allow: 'write_file', when: 'caller.user == "bob"' }] })
    expect(policy.admit(ANA, WRITE).kind).toBe('deny')
    expect(policy.admit(caller({ user: 'bob' }), WRITE).kind).toBe('admitted')
  })
})

describe('groups and steps', () => {
  const groups = { repo: ['git_*', 'commit'], none: [] }
  const git = entry('git_log', { effect: 'read' })
  const commit = entry('commit', { effect: 'write' })
  const other = entry('deploy', { effect: 'external' })
  const varying = entry('query', { effect: { most: 'write', of: () => 'read' } })

  test('L15: a rule about a group speaks of its tools, of no other, and of nothing where it is empty', () => {
    const policy = policyOf({
      groups,
      defaults: OPEN,
      rules: [{ deny: { group: 'repo' } }, { deny: { group: 'none' } }],
    })
    expect(policy.decide(ANA, git, input({}, { effect: 'read' })).kind).toBe('deny')
    expect(policy.decide(ANA, commit, input()).kind).toBe('deny')
    expect(policy.decide(ANA, other, input({}, { effect: 'external' })).kind).toBe('allow')
    const narrowed = policyOf({ groups, defaults: OPEN, rules: [{ deny: { group: 'repo', effect: 'write' } }] })
    expect(narrowed.decide(ANA, git, input({}, { effect: 'read' })).kind).toBe('allow')
  })

  test('L12: a group that is not there is an error with the name that may be meant', () => {
    expect(problemsOf({ groups, rules: [{ deny: { group: 'rpo' } }] })).toEqual([
      { key: 'policy.rules[0].deny.group', message: expect.stringContaining('did you mean `repo`?') },
    ])
    expect(problemsOf({ groups, steps: { a: { groups: ['nowhere'] } } })[0]?.key).toBe('policy.steps.a.groups')
    expect(problemsOf({ groups: { repo: 'git_*' } })[0]?.key).toBe('policy.groups.repo')
    expect(problemsOf({ groups: { repo: ['git.log'] } })[0]?.key).toBe('policy.groups.repo')
    expect(problemsOf({ groups: { repo: ['constructor'] }, rules: [{ deny: { group: 'constructor' } }] })).toHaveLength(
      1,
    )
  })

  const steps = {
    analyse: { effects: ['read'] },
    change: { effects: ['read', 'write'], groups: ['repo'] },
    nothing: {},
    empty: { effects: [] },
  } as const
  const atStep = (step: string, tool: Entry, effect: DeclaredEffect): readonly [string, string] => {
    const policy = policyOf({ groups, steps, defaults: OPEN })
    const who = caller({ step })
    return [policy.admit(who, tool).kind, policy.decide(who, tool, input({}, { effect })).kind]
  }

  test('a step leaves the tools that it names, by effect and by group', () => {
    expect(atStep('analyse', git, 'read')).toEqual(['admitted', 'allow'])
    expect(atStep('analyse', commit, 'write')).toEqual(['deny', 'deny'])
    expect(atStep('change', commit, 'write')).toEqual(['admitted', 'allow'])
    expect(atStep('change', entry('read_file', { effect: 'read' }), 'read')).toEqual(['deny', 'deny'])
    expect(atStep('change', other, 'external')).toEqual(['deny', 'deny'])
  })

  test('a tool whose effect varies is there, and a call with another effect is not', () => {
    expect(atStep('analyse', varying, 'read')).toEqual(['admitted', 'allow'])
    expect(atStep('analyse', varying, 'write')).toEqual(['admitted', 'deny'])
  })

  test.each(['unknown', 'nothing', 'empty', 'constructor'])('the step `%s` leaves nothing', (step) => {
    for (const [tool, effect] of [
      [git, 'read'],
      [commit, 'write'],
    ] as const) {
      expect(atStep(step, tool, effect)).toEqual(['deny', 'deny'])
      const decision = policyOf({ groups, steps }).decide(caller({ step }), tool, input({}, { effect }))
      expect(decision.by).toBe(decision.kind === 'deny' ? 'step' : '')
    }
    expect(atStep('analyse', git, 'read')[0]).toBe('admitted')
  })

  test('a rule for a step holds in that step only', () => {
    const rules: readonly RuleOptions[] = [{ deny: 'git_log', for: { step: 'pub*' } }]
    const policy = policyOf({ steps: { publish: { effects: ['read'] }, analyse: { effects: ['read'] } }, rules })
    const at = (step: string | undefined): string =>
      policy.decide(caller(step === undefined ? {} : { step }), git, input({}, { effect: 'read' })).kind
    expect([at('publish'), at('analyse'), at(undefined)]).toEqual(['deny', 'allow', 'allow'])
  })
})

describe('places', () => {
  const here = entry('pay', { effect: 'external' })
  const there = entry('pay', { effect: 'external', place: 'upstream' })
  const policy = policyOf({ defaults: OPEN, rules: [{ allow: 'pay', where: { to: 'x*' }, place: 'upstream' }] })
  const decide = (tool: Entry, to: string) => policy.decide(ANA, tool, input({ to }, { effect: 'external' }))

  test('a call that a rule holds for runs where the rule says, or is denied with the reason', () => {
    expect(decide(there, 'x1').kind).toBe('allow')
    expect(decide(here, 'x1')).toMatchObject({ kind: 'deny', by: 'rule' })
    expect(decide(here, 'x1').reason).toContain('another place (upstream)')
    expect(decide(here, 'y1')).toMatchObject({ kind: 'allow', by: 'default' })
  })

  test('one that looks at no argument takes the tool out of the listing', () => {
    const all = policyOf({ rules: [{ ask: 'pay', place: ['upstream'] }] })
    expect(all.admit(ANA, here).kind).toBe('deny')
    expect(all.admit(ANA, there).kind).toBe('admitted')
    expect(all.decide(ANA, there, input({}, { effect: 'external' })).kind).toBe('ask')
  })

  test('an expression that cannot be evaluated denies where it would have to run elsewhere', () => {
    const rules: readonly RuleOptions[] = [{ allow: 'pay', when: 'args.sum < 5', place: 'upstream' }]
    const unsure = policyOf({ defaults: OPEN, rules })
    expect(unsure.decide(ANA, here, input({}, { effect: 'external' })).kind).toBe('deny')
    expect(unsure.decide(ANA, here, input({ sum: 9 }, { effect: 'external' })).kind).toBe('allow')
  })

  test.each([
    [{ deny: 'pay', place: 'upstream' }, 'runs nowhere'],
    [{ allow: 'pay', place: 'upsteam' }, 'did you mean `upstream`?'],
    [{ allow: 'pay', place: [] }, 'names no place'],
  ])('%j is an error', (rule, message) => {
    expect(problemsOf({ rules: [rule] })).toEqual([
      { key: 'policy.rules[0].place', message: expect.stringContaining(message) },
    ])
  })
})

describe('origins', () => {
  test('the strictest answer holds, whoever gave it', () => {
    for (const strict of ['system', 'user', 'project', 'session'] as const)
      for (const loose of ['system', 'user', 'session'] as const) {
        const rules: readonly RuleOptions[] = [
          { allow: 'write_file', origin: loose },
          { deny: 'write_file', origin: strict },
        ]
        const decision = policyOf({ rules }).decide(ANA, WRITE, input())
        expect(decision.kind).toBe('deny')
        expect(decision.rule?.origin).toBe(strict === 'user' ? undefined : strict)
      }
  })

  test('a project that is not trusted can only ask or deny', () => {
    const rule = { allow: 'write_file', origin: 'project' }
    expect(problemsOf({ rules: [rule] })).toEqual([
      { key: 'policy.rules[0].allow', message: expect.stringContaining('not trusted') },
    ])
    expect(problemsOf({ rules: [rule], trustProject: true })).toEqual([])
    expect(problemsOf({ rules: [{ ask: 'write_file', origin: 'project' }] })).toEqual([])
    expect(problemsOf({ rules: [{ ask: 'write_file', origin: 'model' }] })).toHaveLength(1)
  })

  test('more rules make another policy and leave the first as it was', () => {
    const first = policyOf({ groups: { all: ['*'] }, defaults: OPEN })
    const more = first.withRules([{ deny: { group: 'all' }, origin: 'system' }], 'session')
    if (more.kind === 'bad') throw new Error('does not load')
    expect(more.policy.version).not.toBe(first.version)
    expect(more.policy.decide(ANA, WRITE, input())).toMatchObject({ kind: 'deny', rule: { origin: 'session' } })
    expect(first.decide(ANA, WRITE, input()).kind).toBe('allow')
    expect(first.withRules([{ deny: { group: 'al' } }], 'session')).toMatchObject({
      kind: 'bad',
      problems: [{ key: 'rules[0].deny.group' }],
    })
    expect(first.withRules([{ allow: '*' }], 'project').kind).toBe('bad')
  })
})

describe('examples', () => {
  const lock: RuleOptions = { deny: ['edit_file', 'write_file'], where: { path: '**/*.lock' } }

  test('a rule that does what its examples say loads', () => {
    const match = [{ path: 'yarn.lock', content: 'x' }, { path: './a/b.lock' }]
    expect(problemsOf({ rules: [{ ...lock, examples: { match, miss: [{ path: 'src/lock.ts' }, {}] } }] })).toEqual([])
    const keys: RuleOptions = { deny: { resource: ['read file:**/.env*'] } }
    const examples = {
      match: ['read file:.env', 'read file:/ws/a/.env.local'],
      miss: ['read file:a.txt', 'write file:.env'],
    }
    expect(problemsOf({ rules: [{ ...keys, examples }] })).toEqual([])
  })

  test.each<[what: string, rule: object, key: string]>([
    ['a match that it misses', { ...lock, examples: { match: [{ path: 'a.txt' }] } }, 'match[0]'],
    ['a miss that it matches', { ...lock, examples: { miss: [{}, { path: 'a.lock' }] } }, 'miss[1]'],
    ['a resource for a rule about none', { ...lock, examples: { match: ['read file:a.lock'] } }, 'match[0]'],
    [
      'arguments for a rule about resources',
      { deny: { resource: 'read file:a' }, examples: { match: [{}] } },
      'match[0]',
    ],
    ['a resource that is none', { deny: { resource: 'read file:a' }, examples: { match: ['a'] } }, 'match[0]'],
    ['an example that is a number', { ...lock, examples: { match: [7] } }, 'match[0]'],
    ['examples that are no list', { ...lock, examples: { match: { path: 'a.lock' } } }, 'match'],
    ['an unknown key', { ...lock, examples: { mach: [] } }, 'mach'],
    ['an expression', { deny: 'a', when: 'args.n > 3', examples: { match: [{ n: 3 }] } }, 'match[0]'],
    ['an allow that cannot be evaluated', { allow: 'a', when: 'args.n > 3', examples: { match: [{}] } }, 'match[0]'],
  ])('%s is an error', (_what, rule, key) => {
    expect(problemsOf({ rules: [rule] })).toEqual([
      { key: `policy.rules[0].examples.${key}`, message: expect.any(String) },
    ])
  })

  test('examples change no version, and what they cannot tell they do not claim', () => {
    const plain = policyOf({ rules: [lock] })
    expect(policyOf({ rules: [{ ...lock, examples: { match: [{ path: 'a.lock' }] } }] }).version).toBe(plain.version)
    const rule: RuleOptions = { ask: 'a', when: 'args.n > 3 && caller.task.name == "x"' }
    expect(problemsOf({ rules: [{ ...rule, examples: { match: [{ n: 5 }], miss: [{ n: 1 }] } }] })).toEqual([])
  })
})

describe('profiles', () => {
  const answers = (options: PolicyOptions): readonly string[] => {
    const policy = policyOf(options)
    return DECLARED_EFFECTS.map((effect) => policy.decide(ANA, entry('t', { effect }), input({}, { effect })).kind)
  }

  test('each is a set of defaults, and `defaults` changes single ones', () => {
    expect(answers({})).toEqual(['allow', 'ask', 'ask', 'ask', 'deny', 'ask'])
    expect(answers({ profile: 'coding' })).toEqual(answers({}))
    expect(answers({ profile: 'platform' })).toEqual(Array(6).fill('deny'))
    expect(answers({ profile: 'strict' })).toEqual(['ask', 'ask', 'ask', 'deny', 'deny', 'deny'])
    expect(answers({ profile: 'platform', defaults: { read: 'allow' } })[0]).toBe('allow')
    expect(problemsOf({ profile: 'loose' })[0]?.key).toBe('policy.profile')
  })

  test('a question reaches as far as the effect of its call allows, whoever asks it', () => {
    const reaches = (options: PolicyOptions): readonly unknown[] => {
      const policy = policyOf({ ...options, rules: [{ ask: 't' }] })
      return DECLARED_EFFECTS.map((effect) => policy.decide(ANA, entry('t', { effect }), input({}, { effect })).reach)
    }
    expect(reaches({})).toEqual(['pattern', 'session', 'once', 'once', 'once', 'once'])
    expect(reaches({ profile: 'platform' })).toEqual(Array(6).fill('once'))
    expect(policyOf({}).decide(ANA, WRITE, input()).reach).toBe('session')
    expect(policyOf({ defaults: OPEN }).decide(ANA, WRITE, input()).reach).toBeUndefined()
  })

  test('a write that reads something asked about reaches as far as a write', () => {
    const policy = policyOf({ defaults: { read: 'ask', write: 'allow' } })
    const moving = input({}, { touches: ['read file:/ws/a', 'write file:/ws/b'] })
    expect(policy.decide(ANA, WRITE, moving)).toMatchObject({ kind: 'ask', reach: 'session' })
  })

  test('only the platform hides what it denies; the table says what is whose', () => {
    expect(policyOf({ profile: 'platform' }).denialsHidden).toBe(true)
    expect(policyOf({ profile: 'strict' }).denialsHidden).toBe(false)
    const table = policyOf({ profile: 'strict', defaults: { read: 'allow' } }).defaultsTable()
    expect(table[0]).toEqual({ effect: 'read', answer: 'allow', reach: 'once', from: 'defaults' })
    expect(table[1]).toEqual({ effect: 'write', answer: 'ask', reach: 'once', from: 'profile' })
    expect(
      new Set(['coding', 'platform', 'strict'].map((profile) => policyOf({ profile } as PolicyOptions).version)).size,
    ).toBe(3)
  })

  test('printed as rules, a profile decides as the profile does', () => {
    for (const profile of ['coding', 'platform', 'strict'] as const) {
      const rules = policyOf({ profile }).profileRules()
      expect(answers({ profile: 'platform', rules })).toEqual(answers({ profile }))
    }
  })
})

describe('L19: whoever works for somebody has no more authority', () => {
  const parent = caller({ agent: 'lead', roles: ['dev'] })
  const child = caller({ agent: 'helper', roles: [], parent })
  const secret = input({}, { effect: 'read', touches: ['read file:/ws/.env'] })
  const search = entry('search', { effect: 'read', walks: true })

  test('what the parent may not, the child may not, in both halves and while it runs', () => {
    const rules: readonly RuleOptions[] = [{ deny: { resource: 'read file:**/.env' }, for: { agent: 'lead' } }]
    const policy = policyOf({ defaults: OPEN, rules })
    expect(policy.decide(child, search, secret).kind).toBe('deny')
    expect(policy.mayTouch(child, search, 'read file:/ws/.env', input({}, { effect: 'read' }))).toBe(false)
    expect(policy.mayTouch(child, search, 'read file:/ws/a', input({}, { effect: 'read' }))).toBe(true)
    const whole = policyOf({ defaults: OPEN, rules: [{ deny: 'search', for: { role: 'dev' } }] })
    expect(whole.admit(child, search).kind).toBe('deny')
    expect(whole.admit(caller({ agent: 'helper', roles: [] }), search).kind).toBe('admitted')
  })

  test('what the child may not, its parent gives it not', () => {
    const policy = policyOf({ defaults: OPEN, rules: [{ ask: 'write_file', for: { agent: 'helper' } }] })
    expect(policy.decide(child, WRITE, input()).kind).toBe('ask')
    expect(policy.decide(parent, WRITE, input()).kind).toBe('allow')
  })

  test('task and step of the parent bind the child, through any number of callers', () => {
    const narrow = caller({ task: { name: 't', allow: ['read_*'] } })
    const far = caller({ parent: caller({ parent: narrow }) })
    const policy = policyOf({ defaults: OPEN, steps: { look: { effects: ['read'] } } })
    expect(policy.decide(far, WRITE, input())).toMatchObject({ kind: 'deny', by: 'task' })
    expect(policy.admit(far, WRITE).kind).toBe('deny')
    expect(policy.decide(caller({ parent: caller({ step: 'look' }) }), WRITE, input()).by).toBe('step')
    expect(policy.decide(caller({ parent: caller() }), WRITE, input()).kind).toBe('allow')
  })
})

describe('names', () => {
  test('G19: names are exact, letter case included', () => {
    const policy = policyOf({ defaults: { write: 'ask' }, rules: [{ allow: 'write_file' }] })
    expect(policy.decide(ANA, entry('write_file'), input()).kind).toBe('allow')
    for (const name of ['Write_File', 'write_File', 'write_file_', 'mcp__x__write_file'])
      expect(policy.decide(ANA, entry(name), input()).kind).toBe('ask')
  })

  test('G23: a rule speaks of the tool, whatever source it is reached through', () => {
    const policy = policyOf({ defaults: OPEN, rules: [{ deny: 'pay' }, { deny: { source: 'bank' } }] })
    expect(policy.decide(ANA, entry('pay', { source: 'composite' }), input()).kind).toBe('deny')
    expect(policy.decide(ANA, entry('transfer', { source: 'bank' }), input()).kind).toBe('deny')
    expect(policy.decide(ANA, entry('transfer', { source: 'shop' }), input()).kind).toBe('allow')
  })
})
