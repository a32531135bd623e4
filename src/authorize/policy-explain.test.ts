// Goal: whoever writes rules learns what each of them found, which tools it speaks of, and what it can never do. Method: one
// policy, and each finding beside the call for which it is another one.

import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../base/json-value.ts'
import { ANA, caller, entry, input, policyOf } from './policy.fixture.ts'
import type { RuleOptions } from './policy-options.ts'

const WRITE = entry('write_file', { source: 'files', takes: { path: { type: 'string' }, size: { type: 'integer' } } })

describe('findings', () => {
  const rules: readonly RuleOptions[] = [
    { allow: 'write_file', where: { path: 'docs/**' }, because: 'docs are free' },
    { deny: { resource: 'write file:**/*.lock' } },
    { ask: 'write_file', when: 'args.size > 10' },
    { deny: 'write_file', for: { role: 'guest' } },
    { deny: { tool: 'write_file', effect: 'destructive' } },
    { deny: 'other_tool' },
  ]
  const policy = policyOf({ rules })
  const explain = (args: JsonObject, touches: readonly string[]) =>
    policy.explain(ANA, WRITE, input(args, { touches })).findings.map(({ rule, holds, decides, failed, ...rest }) => ({
      text: rule.text,
      ...(holds ? { holds, decides } : { failed }),
      ...rest,
    }))

  test('every rule that speaks of the tool says whether it holds, and the first condition that does not', () => {
    expect(explain({ path: 'docs/a', size: 3 }, ['write file:/ws/docs/a'])).toEqual([
      {
        answer: 'deny',
        text: 'deny resource="write file:**/*.lock"',
        failed: 'it touches nothing that the rule speaks of',
      },
      { answer: 'deny', text: 'deny write_file for role=guest', failed: 'for role=guest: the caller is another one' },
      { answer: 'deny', text: 'deny write_file effect=destructive', failed: 'the effect of the call is write' },
      { answer: 'ask', text: 'ask write_file when "args.size > 10"', failed: 'when `args.size > 10` is false' },
      { answer: 'allow', text: 'allow write_file where path=docs/**', holds: true, decides: true },
    ])
  })

  test('the rule that decides, what it concerns, and what could not be judged', () => {
    const found = explain({ path: 'src/a' }, ['write file:/ws/src/a', 'write file:/ws/yarn.lock'])
    expect(found[0]).toMatchObject({ holds: true, decides: true, concerning: 'write file:/ws/yarn.lock' })
    expect(found[3]).toMatchObject({
      holds: true,
      decides: false,
      unsure: expect.stringContaining('No such key: size'),
    })
    expect(found[4]).toMatchObject({ failed: 'where path=docs/**: it is `"src/a"`' })
  })

  test('a child is explained by whoever of its line gets the answer', () => {
    const child = caller({ agent: 'helper', parent: caller({ roles: ['guest'] }) })
    const explained = policy.explain(child, WRITE, input({ path: 'docs/a', size: 1 }))
    expect(explained.decision.kind).toBe('deny')
    expect(explained.caller.roles).toEqual(['guest'])
    expect(explained.findings.find(({ decides }) => decides)?.rule.text).toBe('deny write_file for role=guest')
  })

  test('the cheap half shows the rules that look at no argument', () => {
    const { admission, findings } = policy.explainAdmission(caller({ roles: ['guest'] }), WRITE)
    expect(admission.kind).toBe('deny')
    expect(findings.map(({ rule, decides }) => [rule.text, decides])).toEqual([
      ['deny write_file for role=guest', true],
    ])
    expect(policy.explainAdmission(ANA, WRITE).findings[0]?.failed).toContain('another one')
  })

  test('the text of a rule shows every key', () => {
    const rule: RuleOptions = {
      ask: { group: 'repo', effect: 'write' },
      for: { step: 'change' },
      where: { n: { min: 1, max: 5 }, t: { prefix: 'a b', in: ['x'] } },
      when: 'args.n > 3',
      place: ['process', 'upstream'],
    }
    const { findings } = policyOf({ groups: { repo: ['write_*'] }, rules: [rule] }).explain(ANA, WRITE, input())
    expect(findings[0]?.rule.text).toBe(
      'ask group=repo effect=write for step=change where n={min=1,max=5} t={in=["x"],prefix="a b"} when "args.n > 3" place=process|upstream',
    )
  })
})

describe('what holds whatever the arguments are', () => {
  const outlook = (rules: readonly RuleOptions[], tool = WRITE) => {
    const { decision, depends } = policyOf({ rules }).outlook(ANA, tool)
    return [decision.kind, depends]
  }

  test('rules about arguments are told apart from those that always hold', () => {
    expect(outlook([])).toEqual(['ask', false])
    expect(outlook([{ allow: 'write_file' }])).toEqual(['allow', false])
    expect(outlook([{ allow: 'write_file', where: { path: 'docs/**' } }])).toEqual(['ask', true])
    expect(outlook([{ ask: 'write_file', where: { path: 'docs/**' } }])).toEqual(['ask', false])
    expect(outlook([{ allow: 'write_file' }, { ask: 'write_file', when: 'args.size > 3' }])).toEqual(['allow', true])
    const touching = entry('write_file', { touches: () => ['write file:/ws/x'] })
    const onFile = [{ allow: 'write_file' }, { deny: { resource: 'write file:x' } }]
    expect(outlook(onFile, touching)).toEqual(['allow', true])
    expect(outlook(onFile)).toEqual(['allow', false])
    expect(outlook([{ deny: 'write_file' }, { allow: 'write_file', when: 'args.size > 3' }])).toEqual(['deny', false])
    expect(outlook([{ deny: 'write_file', where: { path: 'x' }, for: { user: 'bob' } }])).toEqual(['ask', false])
    expect(outlook([{ deny: 'write_file', when: 'caller.user == "bob"' }])).toEqual(['ask', false])
  })

  test('an effect that depends on the arguments makes the answer depend on them', () => {
    const query = entry('query', { effect: { most: 'write', of: () => 'read' } })
    expect(outlook([], query)).toEqual(['ask', true])
    expect(outlook([{ allow: 'query' }], query)).toEqual(['allow', false])
    expect(policyOf({}).dependsOnArguments(ANA, query)).toBe(true)
  })
})

describe('L12 L40: what a rule can never do is told when the tools are known', () => {
  const tools = [
    WRITE,
    entry('search', { effect: 'read', source: 'files', touches: () => [], takes: { text: { type: 'string' } } }),
    entry('open', { takes: {} }),
  ]
  const check = (rule: RuleOptions) => policyOf({ rules: [rule] }, { file: 'rules.yaml' }).check(tools)

  test.each<[rule: RuleOptions, key: string, message: string]>([
    [
      { deny: 'write_file', where: { pth: 'a' } },
      'policy.rules[0].where.pth',
      'no argument `pth`; did you mean `path`?',
    ],
    [
      { allow: 'write_file', when: 'args.sise > 3' },
      'policy.rules[0].when',
      'no argument `sise`; did you mean `size`?',
    ],
    [{ deny: 'write_file', when: 'has(args.pat)' }, 'policy.rules[0].when', 'did you mean `path`?'],
    [{ deny: 'write_file', when: 'args["pth"] == "a"' }, 'policy.rules[0].when', 'did you mean `path`?'],
    [{ deny: 'write_file', when: 'args.path > 3' }, 'policy.rules[0].when', 'does not fit the arguments'],
    [
      { deny: ['write_file', 'search'], where: { size: 3 } },
      'policy.rules[0].where.size',
      '`search` takes no argument',
    ],
    [{ deny: '{write_file,search}', where: { zzz: 'a' } }, 'policy.rules[0].where.zzz', 'no argument `zzz`'],
    [{ allow: 'search', where: { path: 'docs/**' } }, 'policy.rules[0].where.path', 'no argument `path`'],
  ])('%j', (rule, key, message) => {
    expect(check(rule).problems).toEqual([{ file: 'rules.yaml', key, message: expect.stringContaining(message) }])
  })

  test.each<RuleOptions>([
    { deny: 'write_file', where: { path: 'a' }, when: 'args.size > 3 && args.path.startsWith("x")' },
    { deny: '*', where: { size: 3 } },
    { deny: { source: 'files' }, when: 'args.text == "x"' },
    { deny: 'search', where: { path: 'secret/**' } },
    { deny: 'open', where: { anything: 'a' }, when: 'args.any.thing > 3' },
    { deny: 'not_there_yet', where: { pth: 'a' } },
  ])('%j fits', (rule) => {
    expect(check(rule).problems).toEqual([])
  })

  test('a rule that does not fit a tool that appears later holds that tool', () => {
    const policy = policyOf({
      rules: [
        { deny: 'mcp__a__b', where: { pth: 'a' } },
        { deny: '*', where: { zz: 1 } },
      ],
    })
    const later = entry('mcp__a__b', { takes: { path: { type: 'string' } } })
    expect(policy.fits(later)).toBe(
      'rule `deny mcp__a__b where pth=a`: `mcp__a__b` takes no argument `pth`; did you mean `path`? (it takes path)',
    )
    expect(policy.fits(entry('mcp__a__b', { takes: { pth: { type: 'string' } } }))).toBeUndefined()
    expect(policy.fits(entry('mcp__a__c', { takes: { path: { type: 'string' } } }))).toBeUndefined()
    expect(policy.fits(entry('mcp__a__b'))).toBeUndefined()
  })

  test('nested arguments are followed as far as the schema tells', () => {
    const author = { type: 'object', properties: { name: { type: 'string' } }, additionalProperties: false }
    const post = entry('post', { takes: { author, list: { type: 'array', items: author }, any: { type: 'object' } } })
    const fits = (rule: RuleOptions) => policyOf({ rules: [rule] }).fits(post) === undefined
    expect(fits({ deny: 'post', where: { 'author.name': 'x', 'list.name': 'y', 'any.thing': 'z' } })).toBe(true)
    expect(fits({ deny: 'post', where: { 'author.nmae': 'x' } })).toBe(false)
    expect(fits({ deny: 'post', where: { 'list.nmae': 'x' } })).toBe(false)
    expect(fits({ deny: 'post', when: 'args.author.nmae == "x"' })).toBe(false)
    expect(fits({ deny: 'post', when: 'args.list[0].name == "x"' })).toBe(true)
  })

  test('each rule says which tools it speaks of now; none is a warning', () => {
    const policy = policyOf({
      groups: { gone: ['gone_*'] },
      rules: [{ deny: 'write_*' }, { deny: 'mcp_*_delete' }, { ask: { group: 'gone' } }, { deny: { source: 'files' } }],
    })
    expect(policy.matchesNow(tools).map(({ tools: names }) => names)).toEqual([
      ['write_file'],
      [],
      [],
      ['write_file', 'search'],
    ])
    const { warnings } = policy.check(tools)
    expect(warnings).toHaveLength(2)
    expect(warnings.join('\n')).toContain('`mcp_*_delete` matches no known tool')
    expect(warnings.join('\n')).toContain('no known tool is in `gone`')
  })
})
