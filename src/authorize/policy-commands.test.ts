// Goal: rules about programs and about what they read hold for every call that starts one, and for nothing else; a tool that
// failed to say is held at the stricter side. Method: calls of a tool like `run_command`, made by hand.

import { describe, expect, it } from 'vitest'
import type { CommandFacts } from '../describe/tool.ts'
import { ANA, caller, entry, input, policyOf, ROOTS } from './policy.fixture.ts'
import type { RuleOptions } from './policy-options.ts'
import type { KnownTool } from './rule-warnings.ts'

const RUN = entry('run_command', {
  effect: 'execute',
  place: 'child',
  walks: true,
  command: () => undefined,
  touches: () => [],
  takes: { program: { type: 'string', enum: ['git', 'npm'] }, args: { type: 'array' } },
})
const PLAIN = entry('deploy', { effect: 'execute' })
const GIT: CommandFacts = { program: 'git', reads: true }
const NPM: CommandFacts = { program: 'npm', reads: false }
/** What a tool says that broke off while it was asked. */
const UNKNOWN: CommandFacts = { program: '', reads: false }

const call = (command: CommandFacts | undefined, touches: readonly string[] = []) =>
  input({ program: command?.program ?? 'none' }, { effect: 'execute', touches, ...(command && { command }) })

const answer = (rules: readonly RuleOptions[], command: CommandFacts | undefined, touches: readonly string[] = []) =>
  policyOf({ rules }).decide(ANA, RUN, call(command, touches)).kind

describe('a rule about a program', () => {
  const allow: readonly RuleOptions[] = [{ allow: { tool: 'run_command', program: 'git', reads: true } }]

  it('allows the program that it names, where that only reads, and nothing else', () => {
    expect(answer(allow, GIT)).toBe('allow')
    expect(answer(allow, { program: 'git', reads: false })).toBe('ask')
    expect(answer(allow, NPM)).toBe('ask')
    expect(answer(allow, { program: 'Git', reads: true })).toBe('ask')
    expect(answer(allow, { program: 'git-lfs', reads: true })).toBe('ask')
  })

  it('does not speak of a call that starts no program, nor of a tool that starts none', () => {
    const deny: readonly RuleOptions[] = [{ deny: { effect: 'execute', program: '*' } }]
    expect(answer(allow, undefined)).toBe('ask')
    expect(answer(deny, undefined)).toBe('ask')
    expect(policyOf({ rules: deny }).decide(ANA, PLAIN, input({}, { effect: 'execute' })).kind).toBe('ask')
    expect(answer(deny, NPM)).toBe('deny')
  })

  it('closed: of a tool that failed to say which program it starts, every deny and ask holds, and no allow', () => {
    expect(answer([{ allow: { program: '*' } }], UNKNOWN)).toBe('ask')
    expect(answer([{ allow: { reads: false } }], UNKNOWN)).toBe('ask')
    expect(answer([{ deny: { program: 'git' } }], UNKNOWN)).toBe('deny')
    expect(answer([{ deny: { reads: true } }], UNKNOWN)).toBe('deny')
    expect(answer([{ allow: 'run_command' }, { ask: { program: 'rg' } }], UNKNOWN)).toBe('ask')
  })

  it('closed: an empty list of programs allows none', () => {
    expect(answer([{ allow: { tool: 'run_command', program: [] } }], GIT)).toBe('ask')
  })

  it('deny-wins: what is allowed by its program is denied by what it reads', () => {
    const keys: readonly RuleOptions[] = [...allow, { deny: { resource: 'read file:**/.env*' } }]
    expect(answer(keys, GIT, ['read file:/ws/src/a.ts'])).toBe('allow')
    expect(answer(keys, GIT, ['read file:/ws/.env'])).toBe('deny')
    expect(answer([...allow, { ask: { resource: 'read file:secret/**' } }], GIT, ['read file:/ws/secret/x'])).toBe(
      'ask',
    )
  })

  it('for some callers only', () => {
    const policy = policyOf({ rules: [{ deny: { tool: 'run_command', reads: false }, for: { role: 'viewer' } }] })
    expect(policy.decide(caller({ roles: ['viewer'] }), RUN, call(NPM)).kind).toBe('deny')
    expect(policy.decide(caller({ roles: ['viewer'] }), RUN, call(GIT)).kind).toBe('ask')
    expect(policy.decide(ANA, RUN, call(NPM)).kind).toBe('ask')
  })
})

describe('before the arguments are known', () => {
  it('a rule about programs is no gate, and what it makes of a call depends on that', () => {
    const policy = policyOf({ rules: [{ deny: { program: 'npm' } }] })
    expect(policy.admit(ANA, RUN).kind).toBe('admitted')
    expect(policy.outlook(ANA, RUN)).toMatchObject({ decision: { kind: 'ask' }, depends: true })
    expect(policy.outlook(ANA, PLAIN)).toMatchObject({ decision: { kind: 'ask' }, depends: false })
  })

  it('a tool that is denied by default is there as soon as one program of it is allowed, and a tool that starts none is not', () => {
    const policy = policyOf({
      profile: 'platform',
      rules: [{ allow: { effect: 'execute', program: 'git', reads: true } }],
    })
    expect(policy.admit(ANA, RUN).kind).toBe('admitted')
    expect(policy.admit(ANA, PLAIN).kind).toBe('deny')
    expect(policy.decide(ANA, RUN, call(NPM)).kind).toBe('deny')
  })

  it('a record whose arguments are hidden cannot be decided again where rules look at the program', () => {
    const looks = (rules: readonly RuleOptions[]) => policyOf({ rules }).looksAt(ANA, RUN, call(GIT), ['args'])
    expect(looks([{ deny: { program: 'npm' } }])).toBe(true)
    expect(looks([{ deny: { source: 'host' } }])).toBe(false)
  })
})

describe('what explains it', () => {
  const policy = policyOf({
    rules: [
      { allow: { tool: 'run_command', program: 'git', reads: true } },
      { deny: { program: 'npm' } },
      { ask: { reads: false } },
    ],
  })

  it('a rule says why it does not hold', () => {
    const found = policy.explain(ANA, RUN, call(GIT)).findings.map(({ failed }) => failed)
    expect(found).toEqual(['the program is `git`', 'the program only reads, called like this', undefined])
    expect(policy.explain(ANA, RUN, call(undefined)).findings[2]?.failed).toBe('the call starts no program')
    const unsure = policy.explain(ANA, RUN, call(UNKNOWN)).findings
    expect(unsure.map(({ holds }) => holds)).toEqual([true, true, false])
    expect(unsure[0]?.unsure).toBe('the tool failed to say which program it starts')
  })

  it('its text names program and reading, and its version is its own', () => {
    const [first] = policy.matchesNow([RUN, PLAIN])
    expect(first).toMatchObject({ rule: { text: 'allow run_command program=git reads=true' }, tools: ['run_command'] })
    const version = (rule: RuleOptions) => policyOf({ rules: [rule] }).version
    expect(version({ allow: { program: 'git', reads: true } })).not.toBe(version({ allow: { program: 'git' } }))
    expect(version({ allow: { program: 'git' } })).not.toBe(version({ allow: { program: 'npm' } }))
    expect(version({ allow: { program: ['npm', 'git'] } })).toBe(version({ allow: { program: ['git', 'npm'] } }))
  })

  it('an operator is told of programs that nothing starts', () => {
    const warnings = (rules: readonly RuleOptions[], known: readonly KnownTool[]) => policyOf({ rules }).warnings(known)
    expect(warnings([{ allow: { program: 'gti' } }], [RUN])).toEqual([
      expect.stringContaining('`gti` matches no program'),
    ])
    expect(warnings([{ deny: { tool: 'deploy', program: 'git' } }], [PLAIN])).toEqual([
      expect.stringContaining('starts programs'),
    ])
    expect(warnings([{ allow: { program: 'git' } }], [RUN])).toEqual([])
  })

  it('an example is held against the program, and what it cannot tell is left out', () => {
    const rule = (examples: RuleOptions['examples'] & object): RuleOptions => ({ deny: { program: 'git' }, examples })
    expect(() => policyOf({ rules: [rule({ match: [{ program: 'git' }], miss: [{ program: 'npm' }] })] })).not.toThrow()
    expect(() => policyOf({ rules: [rule({ match: [{ program: 'npm' }] })] })).toThrow('does not hold')
    expect(() => policyOf({ rules: [rule({ miss: [{ program: 'git' }] })] })).toThrow('holds for')
    expect(() => policyOf({ rules: [rule({ miss: [{ command: 'git log' }] })] })).not.toThrow()
  })
})

describe('a program that looks at everything below a folder', () => {
  const keys: readonly RuleOptions[] = [{ allow: 'run_command' }, { deny: { resource: 'read file:**/.env*' } }]
  const whole = ['read file:/ws/*']

  it('is let through by a rule that could deny some file there, for each file is asked about', () => {
    const policy = policyOf({ rules: keys })
    expect(policy.decide(ANA, RUN, call(GIT, whole)).kind).toBe('allow')
    expect(policy.mayTouch(ANA, RUN, 'read file:/ws/src/a.ts', call(GIT, whole))).toBe(true)
    expect(policy.mayTouch(ANA, RUN, 'read file:/ws/.env', call(GIT, whole))).toBe(false)
    expect(policy.mayTouch(ANA, RUN, 'read file:/ws/a/.env.local', call(GIT, whole))).toBe(false)
  })

  it('is denied where the whole folder is', () => {
    expect(answer([...keys, { deny: { resource: 'read file:**' } }], GIT, whole)).toBe('deny')
  })

  it('is judged by everything below where the tool does not run in a child, or does not ask', () => {
    const here = entry('run_command', { effect: 'execute', walks: true, touches: () => [] })
    const silent = entry('run_command', { effect: 'execute', place: 'child', touches: () => [] })
    for (const tool of [here, silent])
      expect(policyOf({ rules: keys }).decide(ANA, tool, call(GIT, whole)).kind).toBe('deny')
  })

  it('never filters what it changes', () => {
    const rules: readonly RuleOptions[] = [{ allow: 'run_command' }, { deny: { resource: 'write file:**/.env*' } }]
    expect(answer(rules, NPM, ['write file:/ws/*'])).toBe('deny')
    expect(answer(rules, NPM, ['read file:/ws/*', 'write file:/ws/build/*'])).toBe('deny')
    expect(
      answer([{ allow: 'run_command' }, { deny: { resource: '* file:**/.env*' } }], NPM, ['write file:/ws/*']),
    ).toBe('deny')
    expect(answer(rules, NPM, ['read file:/ws/*'])).toBe('allow')
  })

  it('a condition on paths hides what is read, and refuses what is changed', () => {
    const rules: readonly RuleOptions[] = [
      { allow: 'run_command' },
      { deny: 'run_command', where: { path: 'secret/**' } },
    ]
    const policy = policyOf({ rules })
    expect(policy.decide(ANA, RUN, call(GIT, whole)).kind).toBe('allow')
    expect(policy.mayTouch(ANA, RUN, 'read file:/ws/secret/x', call(GIT, whole))).toBe(false)
    expect(policy.decide(ANA, RUN, call(NPM, ['read file:/ws/*', 'write file:/ws/*'])).kind).toBe('deny')
    expect(policy.decide(ANA, RUN, call(GIT, ['read file:/ws/secret/x'])).kind).toBe('deny')
  })

  it('a nested root counts as well', () => {
    const roots = new Map([...ROOTS, ['inner', '/ws/inner']])
    const policy = policyOf(
      { rules: [{ allow: 'run_command' }, { deny: { resource: 'write file:keys/**' } }] },
      { roots },
    )
    expect(policy.decide(ANA, RUN, call(NPM, ['write file:/ws/*'])).kind).toBe('deny')
    expect(policy.decide(ANA, RUN, call(GIT, ['read file:/ws/*'])).kind).toBe('allow')
  })
})
