// Goal: absence is never permission, the strictest rule wins, and nothing that goes wrong widens anything. Method: each
// refusal beside the twin that passes, and properties over random policies.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import { DECLARED_EFFECTS } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import { ANA, caller, entry, input, policyOf } from './policy.fixture.ts'
import type { Policy } from './policy.ts'
import type { Answer, RuleOptions, RuleSubject } from './policy-options.ts'

const TOOL = entry('write_file', { source: 'files' })

const kind = (
  rules: readonly RuleOptions[],
  who: Caller = ANA,
  tool: Entry = TOOL,
  given: CheckedInput = input(),
): string => policyOf({ rules }).decide(who, tool, given).kind

describe('closed: nothing that goes wrong is a permission', () => {
  const open = { defaults: { read: 'allow', write: 'allow', undeclared: 'allow' } } as const
  const broken = (field: string, rest: object): CheckedInput =>
    Object.defineProperty({ ...rest }, field, {
      get: () => {
        throw new Error('broken')
      },
    }) as CheckedInput

  test('L17: touches that throw while a rule looks at them deny', () => {
    const faults: unknown[] = []
    const policy = policyOf(
      { ...open, rules: [{ deny: { resource: 'read file:/x' } }] },
      { onFault: (fault) => faults.push(fault) },
    )
    const decision = policy.decide(ANA, TOOL, broken('touches', { kind: 'ok', args: {}, text: '{}', effect: 'write' }))
    expect(decision).toMatchObject({ kind: 'deny', by: 'closed', policyVersion: policy.version })
    expect(decision.reason).not.toContain('broken')
    expect(faults).toHaveLength(1)
    expect(policy.decide(ANA, TOOL, input()).kind).toBe('allow')
  })

  test.each(['args', 'effect'])('L17: a broken %s denies', (field) => {
    const policy = policyOf({ ...open, rules: [{ ask: TOOL.tool.name, where: { path: 'x' } }] })
    const whole = { ...input() }
    expect(policy.decide(ANA, TOOL, broken(field, whole))).toMatchObject({ kind: 'deny', by: 'closed' })
  })

  test('L17: a broken caller or entry denies, in both halves', () => {
    const policy = policyOf({ ...open, rules: [{ deny: 'other' }, { ask: '*', for: { role: 'x' } }] })
    const nobody = null as unknown as Caller
    const nothing = {} as unknown as Entry
    expect(policy.decide(nobody, TOOL, input()).kind).toBe('deny')
    expect(policy.decide(ANA, nothing, input()).kind).toBe('deny')
    expect(policy.admit(nobody, TOOL).kind).toBe('deny')
    expect(policy.admit(ANA, nothing).kind).toBe('deny')
    expect(policy.mayTouch(nobody, TOOL, 'read file:/ws/a', input())).toBe(false)
  })

  test('a listener for faults that fails itself changes nothing', () => {
    const policy = policyOf(open, {
      onFault: () => {
        throw new Error('listener')
      },
    })
    expect(policy.decide(ANA, {} as unknown as Entry, input()).kind).toBe('deny')
  })

  test('an effect that nobody knows is denied', () => {
    const policy = policyOf(open)
    for (const effect of ['constructor', 'everything', ''])
      expect(policy.decide(ANA, TOOL, input({}, { effect: effect as 'read' }))).toMatchObject({
        kind: 'deny',
        by: 'closed',
      })
  })

  test('without rules each effect has its closed default', () => {
    const answers = DECLARED_EFFECTS.map((effect) => kind([], ANA, entry('t', { effect }), input({}, { effect })))
    expect(answers).toEqual(['allow', 'ask', 'ask', 'ask', 'deny', 'ask'])
  })

  test('L14: an empty list is not an absent one: it allows nothing and denies nothing', () => {
    expect(kind([{ allow: [] }])).toBe('ask')
    expect(kind([{ allow: { tool: [] } }])).toBe('ask')
    expect(kind([{ allow: { source: [] } }])).toBe('ask')
    expect(kind([{ allow: { effect: [] } }])).toBe('ask')
    expect(kind([{ allow: { tool: 'write_file', resource: [] } }])).toBe('ask')
    expect(kind([{ allow: 'write_file', for: { role: [] } }])).toBe('ask')
    expect(kind([{ allow: 'write_file', where: { path: [] } }])).toBe('ask')
    expect(kind([{ deny: [] }, { deny: 'write_file', where: { path: [] } }])).toBe('ask')
    expect(kind([{ allow: ['write_file'] }])).toBe('allow')
  })

  test('L14: an empty task list leaves nothing to the caller; an absent one narrows nothing', () => {
    const policy = policyOf(open)
    const none = caller({ task: { name: 'triage', allow: [] } })
    expect(policy.admit(none, TOOL)).toMatchObject({ kind: 'deny', decision: { by: 'task' } })
    expect(policy.decide(none, TOOL, input())).toMatchObject({ kind: 'deny', by: 'task' })
    expect(policy.admit(caller({ task: { name: 'triage' } }), TOOL).kind).toBe('admitted')
  })

  test('L24: a task list with only unknown tools leaves nothing to the caller', () => {
    const policy = policyOf(open)
    for (const allow of [['gone_plugin'], ['gone_*'], ['[']]) {
      const task = { name: 'triage', allow }
      expect(policy.admit(caller({ task }), TOOL).kind).toBe('deny')
      expect(policy.decide(caller({ task }), TOOL, input()).kind).toBe('deny')
    }
    const named = caller({ task: { name: 'triage', allow: ['gone_plugin', 'write_*'] } })
    expect(policy.admit(named, TOOL).kind).toBe('admitted')
    expect(policy.decide(named, TOOL, input()).kind).toBe('allow')
  })

  test('a task list that is changed afterwards is not remembered; one that cannot change is', () => {
    const policy = policyOf(open)
    const allow = ['write_*']
    const loose = caller({ task: { name: 't', allow } })
    expect(policy.admit(loose, TOOL).kind).toBe('admitted')
    allow[0] = 'read_*'
    expect(policy.admit(loose, TOOL).kind).toBe('deny')
    const fixed = caller({ task: { name: 't', allow: Object.freeze(['write_*']) } })
    expect(policy.admit(fixed, TOOL).kind).toBe('admitted')
    expect(policy.admit(fixed, entry('read_file')).kind).toBe('deny')
  })
})

describe('deny-wins: the strictest rule that holds answers', () => {
  const rules: Readonly<Record<Answer, RuleOptions>> = {
    allow: { allow: 'write_file' },
    ask: { ask: 'write_*' },
    deny: { deny: { source: 'files' } },
  }

  test('a deny outranks an ask and an allow, an ask an allow, in every order', () => {
    const { allow, ask, deny } = rules
    for (const order of [
      [allow, ask, deny],
      [deny, ask, allow],
      [ask, deny, allow],
      [allow, deny],
    ])
      expect(kind(order)).toBe('deny')
    expect(kind([allow, ask])).toBe('ask')
    expect(kind([ask, allow])).toBe('ask')
    expect(kind([allow])).toBe('allow')
  })

  test('a default speaks only where no rule holds', () => {
    const destructive = entry('drop', { effect: 'destructive' })
    const call = input({}, { effect: 'destructive' })
    expect(kind([], ANA, destructive, call)).toBe('deny')
    expect(kind([{ allow: 'drop' }], ANA, destructive, call)).toBe('allow')
    expect(kind([{ ask: 'drop' }], ANA, destructive, call)).toBe('ask')
    expect(kind([{ allow: 'other' }], ANA, destructive, call)).toBe('deny')
    const policy = policyOf({ defaults: { destructive: 'allow' } })
    expect(policy.decide(ANA, destructive, call)).toMatchObject({ kind: 'allow', by: 'default' })
  })

  const names = fc.constantFrom('a', 'b', 'a*', '*', 'c')
  const subject: fc.Arbitrary<RuleSubject> = fc.oneof(
    names,
    fc.array(names, { maxLength: 2 }),
    fc.record({ tool: names, effect: fc.constantFrom('read' as const, 'write' as const) }),
    fc.record({ resource: fc.constantFrom('read file:**', 'write file:docs/**', '* file:**/x') }),
    fc.record({ source: fc.constantFrom('s', 't', '*') }),
  )
  const narrowing = fc.record(
    {
      where: fc.record({ path: fc.constantFrom('docs/**', '**', 'x', '**/x') }),
      for: fc.record({ user: fc.constantFrom('ana', 'bo', '*') }),
    },
    { requiredKeys: [] },
  )
  const rule = fc
    .tuple(fc.constantFrom<Answer>('allow', 'ask', 'deny'), subject, narrowing)
    .map(([answer, about, more]) => ({ [answer]: about, ...more }) as RuleOptions)
  const call = fc.record({
    tool: fc.record({
      name: fc.constantFrom('a', 'b', 'ab'),
      source: fc.constantFrom('s', 't'),
      effect: fc.constantFrom('read' as const, 'write' as const),
    }),
    path: fc.constantFrom('docs/x', 'x', '.', 'src/y'),
    touches: fc.constantFrom<unknown>(
      undefined,
      'broken',
      ['read file:/ws/docs/x'],
      ['write file:/ws/docs/x', 'read file:/ws/x'],
      ['write file:/ws/docs/*'],
      ['read file:/ws/*'],
      [],
    ),
    user: fc.constantFrom('ana', 'bo'),
  })
  const decideWith = (
    policy: Policy,
    {
      tool,
      path,
      touches,
      user,
    }: {
      tool: { name: string; source: string; effect: 'read' | 'write' }
      path: string
      touches?: unknown
      user: string
    },
  ) => policy.decide(caller({ user }), entry(tool.name, tool), input({ path }, { effect: tool.effect, touches }))
  const weight = { allow: 0, ask: 1, deny: 2 } as const

  test('adding a deny never widens a decision, and adding an ask widens at most a default', () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 6 }), rule, call, (rules, added, asked) => {
        const before = decideWith(policyOf({ rules }), asked)
        const after = decideWith(policyOf({ rules: [...rules, added] }), asked)
        if ('deny' in added || (before.by === 'rule' && 'ask' in added))
          expect(weight[after.kind]).toBeGreaterThanOrEqual(weight[before.kind])
        if (before.kind === 'deny' && before.by === 'rule') expect(after.kind).toBe('deny')
      }),
      { numRuns: 1_000 },
    )
  })

  test('the order of rules never changes a decision', () => {
    const shuffled = fc
      .array(rule, { minLength: 2, maxLength: 8 })
      .chain((rules) => fc.tuple(fc.constant(rules), fc.shuffledSubarray(rules, { minLength: rules.length })))
    fc.assert(
      fc.property(shuffled, call, ([rules, others], asked) => {
        const [one, other] = [decideWith(policyOf({ rules }), asked), decideWith(policyOf({ rules: others }), asked)]
        expect({ kind: other.kind, by: other.by, version: other.policyVersion }).toEqual({
          kind: one.kind,
          by: one.by,
          version: one.policyVersion,
        })
      }),
      { numRuns: 1_000 },
    )
  })

  test('many rules decide as the strictest of each alone', () => {
    const alone = (rules: readonly RuleOptions[], asked: Parameters<typeof decideWith>[1]) =>
      rules.map((single) => decideWith(policyOf({ rules: [single] }), asked)).filter(({ by }) => by === 'rule')
    fc.assert(
      fc.property(fc.array(rule, { minLength: 12, maxLength: 40 }), call, (rules, asked) => {
        const decision = decideWith(policyOf({ rules }), asked)
        const held = alone(rules, asked)
        const strictest = Math.max(0, ...held.map(({ kind: each }) => weight[each]))
        // A call that reads beside what it does is also held to the rules on reading, which alone may stay below a default.
        const { touches } = asked
        const alsoReads =
          asked.tool.effect !== 'read' &&
          Array.isArray(touches) &&
          touches.some((text) => String(text).startsWith('read '))
        if (alsoReads) expect(weight[decision.kind]).toBeGreaterThanOrEqual(strictest)
        else if (held.length === 0) expect(decision.by).toBe('default')
        else expect(weight[decision.kind]).toBe(strictest)
      }),
      { numRuns: 300 },
    )
  })
})

describe('all keys of a rule have to hold', () => {
  const github = entry('mcp__github__create_issue', { effect: 'external', source: 'github' })
  const call = input({}, { effect: 'external' })

  test('a name is matched exactly, case included', () => {
    expect(kind([{ deny: 'write_file' }])).toBe('deny')
    for (const name of ['Write_file', 'write_fil', 'write_files', 'rite_file'])
      expect(kind([{ deny: name }])).toBe('ask')
  })

  test('L12: a star in the middle of a name matches', () => {
    expect(kind([{ deny: 'mcp_*_issue' }], ANA, github, call)).toBe('deny')
    expect(kind([{ deny: 'mcp_*_delete' }], ANA, github, call)).toBe('ask')
    expect(kind([{ deny: 'mcp__{gitlab,github}__*' }], ANA, github, call)).toBe('deny')
  })

  test('L15: a rule about one source leaves the tools of another alone', () => {
    expect(kind([{ deny: { source: 'files' } }])).toBe('deny')
    expect(kind([{ deny: { source: 'files' } }], ANA, github, call)).toBe('ask')
    expect(kind([{ deny: { source: 'git*', tool: 'mcp__github__*' } }], ANA, github, call)).toBe('deny')
    expect(kind([{ deny: { source: 'git*', tool: 'write_file' } }], ANA, github, call)).toBe('ask')
    const same = entry('write_file', { source: 'github' })
    expect(kind([{ deny: { source: 'files', tool: 'write_file' } }], ANA, same)).toBe('ask')
  })

  test('one definition that two sources offer is judged by the source that was called', () => {
    const policy = policyOf({ rules: [{ deny: { source: 'files' } }] })
    const other: Entry = { ...TOOL, source: 'host' }
    for (let turn = 0; turn < 3; turn++) {
      expect(policy.decide(ANA, TOOL, input()).kind).toBe('deny')
      expect(policy.decide(ANA, other, input()).kind).toBe('ask')
    }
  })

  test('an effect is that of the call, not the heaviest of the tool', () => {
    const query = entry('query', { effect: { most: 'write', of: () => 'read' } })
    const rules = [{ deny: { effect: 'write' } }] as const
    expect(kind(rules, ANA, query, input({}, { effect: 'write' }))).toBe('deny')
    expect(kind(rules, ANA, query, input({}, { effect: 'read' }))).toBe('allow')
    expect(kind([{ deny: { effect: ['external', 'execute'] } }], ANA, github, call)).toBe('deny')
  })

  test.each<[key: string, value: string | readonly string[], holds: Partial<Caller>, fails: Partial<Caller>]>([
    ['agent', 'cursor', { agent: 'cursor' }, { agent: 'Cursor' }],
    ['agent', 'org*', { agent: 'org/agent' }, { agent: 'other/org' }],
    ['user', ['bo', 'an?'], { user: 'ana' }, { user: 'anna' }],
    ['tenant', 'acme', { tenant: 'acme' }, { tenant: 'acme2' }],
    ['role', 'admin', { roles: ['dev', 'admin'] }, { roles: ['dev'] }],
    ['role', '*', { roles: ['dev'] }, { roles: [] }],
    ['task', 'triage', { task: { name: 'triage' } }, { task: { name: 'other' } }],
    ['task', '*', { task: { name: 'triage' } }, {}],
  ])('for %s %j', (key, value, holds, fails) => {
    const rules = [{ deny: 'write_file', for: { [key]: value } }]
    expect(kind(rules, caller(holds))).toBe('deny')
    expect(kind(rules, caller(fails))).toBe('ask')
  })

  test('all keys of `for` have to hold, and a key that holds twice is no second key', () => {
    const rules = [{ deny: 'write_file', for: { user: 'ana', agent: 'cursor' } }]
    expect(kind(rules, caller({ agent: 'cursor' }))).toBe('deny')
    expect(kind(rules, caller({ user: 'bo', agent: 'cursor' }))).toBe('ask')
    expect(kind(rules, caller({ user: 'cursor', agent: 'ana' }))).toBe('ask')
  })

  test('a subject and a condition both have to hold', () => {
    const rules = [
      { allow: { tool: 'write_file', effect: 'write' }, where: { path: 'docs/**' }, for: { role: 'dev' } },
    ] as const
    expect(kind(rules, ANA, TOOL, input({ path: 'docs/a' }))).toBe('allow')
    expect(kind(rules, ANA, TOOL, input({ path: 'src/a' }))).toBe('ask')
    expect(kind(rules, caller({ roles: [] }), TOOL, input({ path: 'docs/a' }))).toBe('ask')
    expect(kind(rules, ANA, entry('edit_file'), input({ path: 'docs/a' }))).toBe('ask')
  })
})

describe('admit, before arguments are read', () => {
  test('a deny without conditions on arguments denies; one with conditions waits for them', () => {
    const admits = (rule: RuleOptions, tool: Entry = TOOL): string => policyOf({ rules: [rule] }).admit(ANA, tool).kind
    expect(admits({ deny: 'write_*' })).toBe('deny')
    expect(admits({ deny: { source: 'files', effect: 'write' } })).toBe('deny')
    expect(admits({ deny: 'write_*', for: { user: 'ana' } })).toBe('deny')
    expect(admits({ deny: 'write_*', for: { user: 'bo' } })).toBe('admitted')
    expect(admits({ deny: 'write_*', where: { path: '**' } })).toBe('admitted')
    expect(admits({ deny: { resource: 'write file:**' } })).toBe('admitted')
    expect(admits({ deny: { effect: 'read' } })).toBe('admitted')
    const variable = entry('query', { effect: { most: 'write', of: () => 'read' } })
    expect(admits({ deny: { effect: 'write' } }, variable)).toBe('admitted')
    expect(admits({ ask: 'write_*' })).toBe('admitted')
  })

  test('G06: a denied tool is denied by name to one agent, and still works for another', () => {
    const policy = policyOf({ defaults: { write: 'allow' }, rules: [{ deny: 'write_file', for: { agent: 'cursor' } }] })
    expect(policy.admit(caller({ agent: 'cursor' }), TOOL)).toMatchObject({ kind: 'deny', decision: { by: 'rule' } })
    expect(policy.decide(caller({ agent: 'cursor' }), TOOL, input()).kind).toBe('deny')
    expect(policy.admit(caller({ agent: 'workflow' }), TOOL).kind).toBe('admitted')
    expect(policy.decide(caller({ agent: 'workflow' }), TOOL, input()).kind).toBe('allow')
  })

  test.each<[what: string, admit: unknown]>([
    ['says no', () => false],
    ['says something else than true', () => 'yes'],
    ['says 1', () => 1],
    ['says nothing', () => undefined],
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['is no function', 'true'],
    ['answers with a promise', () => Promise.resolve(true)],
    ['answers with a promise that fails', () => Promise.reject(new Error('late'))],
    [
      'answers with something whose `then` throws',
      () =>
        Object.defineProperty({}, 'then', {
          get: () => {
            throw new Error('then')
          },
        }),
    ],
  ])('L17: a tool whose own admit %s is denied', async (_what, admit) => {
    const faults: unknown[] = []
    const policy = policyOf({}, { onFault: (fault) => faults.push(fault) })
    expect(policy.admit(ANA, entry('t', { admit }))).toMatchObject({
      kind: 'deny',
      decision: { kind: 'deny', by: 'tool' },
    })
    // A rejection that nobody took would end the test run.
    await new Promise((resolve) => setImmediate(resolve))
  })

  test('a tool whose own admit says true is admitted, and is asked with the caller', () => {
    const asked: unknown[] = []
    const admit = (who: Caller): boolean => asked.push(who) > 0
    expect(policyOf({}).admit(ANA, entry('t', { admit })).kind).toBe('admitted')
    expect(asked).toEqual([ANA])
  })

  test('a tool that a rule denies is not asked', () => {
    const asked: unknown[] = []
    const admit = (who: Caller): boolean => asked.push(who) > 0
    expect(policyOf({ rules: [{ deny: 't' }] }).admit(ANA, entry('t', { admit })).kind).toBe('deny')
    expect(asked).toEqual([])
  })
})

describe('what a decision says', () => {
  const because = 'keys stay out of the context'

  test('the model reads the tool, the words of the rule and whether other arguments may pass', () => {
    const reason = (rule: RuleOptions): string =>
      policyOf({ rules: [rule] }).decide(ANA, TOOL, input({ path: 'a' })).reason
    expect(reason({ deny: 'write_*', because })).toBe('`write_file` is denied by a rule: keys stay out of the context')
    expect(reason({ deny: 'write_*', where: { path: '*' } })).toBe(
      '`write_file` with these arguments is denied by a rule',
    )
    expect(reason({ ask: 'write_*', because })).toBe(
      '`write_file` asks a person first, by a rule: keys stay out of the context',
    )
    expect(reason({ deny: 'other' })).toBe('`write_file` asks a person first because writes ask by default')
    expect(policyOf({}).decide(caller({ task: { name: 'triage', allow: [] } }), TOOL, input()).reason).toBe(
      'the task `triage` does not include `write_file`',
    )
  })

  test('no reason names a pattern, another tool, a file or a line', () => {
    const at = { file: '/etc/secret/rules.yaml', line: 12, column: 1 }
    const decision = policyOf({
      rules: [{ deny: ['write_file', 'hidden_tool'], where: { path: ['*', 'private/**'] }, at }],
    }).decide(ANA, TOOL, input({ path: 'a' }))
    for (const word of ['hidden', 'private', 'rules.yaml', '12']) expect(decision.reason).not.toContain(word)
    expect(decision.rule).toEqual({
      text: 'deny write_file|hidden_tool where path=*|private/**',
      file: '/etc/secret/rules.yaml',
      line: 12,
    })
  })

  test('decisions are frozen, equal calls share one, and each carries the version', () => {
    const policy = policyOf({ rules: [{ deny: 'write_file', where: { path: 'x' } }] })
    const denied = policy.decide(ANA, TOOL, input({ path: 'x' }))
    expect(Object.isFrozen(denied)).toBe(true)
    expect(policy.decide(ANA, TOOL, input({ path: 'x' }))).toBe(denied)
    expect(policy.decide(ANA, TOOL, input({ path: 'y' }))).toBe(policy.decide(ANA, TOOL, input({ path: 'z' })))
    expect(denied.policyVersion).toBe(policy.version)
  })

  test('words that hide or break a line are written out', () => {
    const decision = policyOf({ rules: [{ deny: 'write_file', because: 'no\u202e\nway' }] }).decide(ANA, TOOL, input())
    expect(decision.reason).toBe('`write_file` is denied by a rule: no\\u{202e}\\u{a}way')
  })
})
