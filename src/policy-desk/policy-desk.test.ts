// Goal: what the policy desk says of calls is what happens to them, and what it proposes is never more than people approved.
// Method: whole gates with a store in memory, calls through the pipeline, and the desk's words held against their outcomes.

import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import '../../test/property-seed.ts'
import type { JsonObject } from '../base/json-value.ts'
import { createGate } from '../gate.ts'
import type { Gate, GateOptions, PolicyCase, SessionOptions } from '../gate-contract.ts'
import { defineTool } from '../index.ts'

const text = { type: 'string' }
const shape = (properties: Record<string, JsonObject>, required: readonly string[] = Object.keys(properties)) => ({
  ...{ type: 'object', properties, required: [...required], additionalProperties: false },
})

const note = defineTool({
  ...{ name: 'note', version: '1.0.0', description: 'Write a note.', effect: 'write' },
  input: shape({ path: text, content: text, mode: text }, ['path', 'content']),
  touches: (args: { path?: unknown }) => [`write item:${String(args.path)}`],
  run: async () => 'written',
})
const look = defineTool({
  ...{ name: 'look', version: '1.0.0', description: 'Look at a thing.', effect: 'read' },
  input: shape({ path: text }),
  run: async () => 'seen',
})
const post = defineTool({
  ...{ name: 'post', version: '1.0.0', description: 'Post a text.', effect: 'external' },
  input: shape({ to: text, body: text }),
  run: async () => 'posted',
})
const ping = defineTool({
  ...{ name: 'ping', version: '1.0.0', description: 'Ping a host.', effect: 'external' },
  input: shape({ host: text, count: { type: 'integer' } }),
  run: async () => 'pong',
})
const wipe = defineTool({
  ...{ name: 'wipe', version: '1.0.0', description: 'Wipe a thing.', effect: 'destructive' },
  input: shape({ path: text }),
  run: async () => 'gone',
})
const TOOLS = [note, look, post, ping, wipe]

const ANA: SessionOptions = { user: 'ana', agent: 'helper', roles: ['dev'], session: 's1' }

const gates: Gate[] = []
async function open(policy: GateOptions['policy'] = {}, more: Partial<GateOptions> = {}): Promise<Gate> {
  const gate = await createGate({ tools: TOOLS, policy, artifacts: false, ...more })
  gates.push(gate)
  return gate
}
afterEach(async () => {
  for (const gate of gates.splice(0)) await gate.close()
})

/** Makes a call and answers the question that it raises. */
async function answered(gate: Gate, name: string, args: object, decision: 'approve' | 'decline', who = ANA) {
  const outcome = await gate.session(who).call({ name, arguments: args })
  const id = outcome.ok ? undefined : outcome.error.details?.approvalId
  if (typeof id !== 'string') throw new Error(`${name} did not ask: ${JSON.stringify(outcome)}`)
  await gate.approvals.decide(id, { decision, by: 'boss' })
  return decision === 'approve' ? gate.session(who).call({ name, arguments: args }) : undefined
}

describe('explain', () => {
  it('names the rule that decides with file and line, and for each other rule the condition that fails', async () => {
    const at = { file: '/etc/rules.yaml', line: 7, column: 3 }
    const gate = await open({
      rules: [
        { deny: 'note', where: { path: 'secret/**' }, because: 'it is secret', at },
        { allow: 'note', where: { path: 'docs/**' }, at: { ...at, line: 9 } },
        { deny: 'note', for: { role: 'guest' } },
        { deny: 'look' },
      ],
    })
    const explained = await gate.policy.explain(ANA, { name: 'note', arguments: { path: 'secret/a', content: 'x' } })
    if (explained.kind !== 'decided') throw new Error(JSON.stringify(explained))
    expect(explained.decision).toMatchObject({ kind: 'deny', by: 'rule', rule: { file: '/etc/rules.yaml', line: 7 } })
    expect(explained).toMatchObject({
      arguments: { path: 'secret/a', content: 'x' },
      resources: ['write item:secret/a'],
      effect: 'write',
    })
    const [decides, ...others] = [...explained.findings].sort(
      (one, other) => Number(other.decides) - Number(one.decides),
    )
    expect(decides).toMatchObject({ holds: true, decides: true, rule: { line: 7 }, answer: 'deny' })
    expect(others).toHaveLength(2)
    for (const finding of others) expect(finding).toMatchObject({ holds: false, decides: false })
    expect(others.find(({ rule }) => rule.line === 9)?.failed).toContain('docs/**')
    expect(others.find(({ rule }) => rule.line === undefined)?.failed).toContain('role=guest')
  })

  it('L33: says what a session is told, for allowed, asked and denied calls alike', async () => {
    const gate = await open({
      rules: [
        { allow: 'note', where: { path: 'a/**' } },
        { deny: 'note', where: { path: 'b/**' } },
      ],
    })
    for (const path of ['a/x', 'b/x', 'c/x']) {
      const call = { name: 'note', arguments: { path, content: 'x' } }
      const explained = await gate.policy.explain(ANA, call)
      expect(explained).toMatchObject(await gate.session(ANA).decide(call))
    }
  })

  it('a call that does not come to a decision is refused with its type, and a tool that is denied as a whole is explained', async () => {
    const gate = await open({ rules: [{ deny: 'look', because: 'no' }] })
    expect(await gate.policy.explain(ANA, { name: 'nothing', arguments: {} })).toMatchObject({ type: 'not_found' })
    expect(await gate.policy.explain(ANA, { name: 'note', arguments: {} })).toMatchObject({ type: 'invalid_args' })
    const denied = await gate.policy.explain(ANA, { name: 'look', arguments: { wrong: 1 } })
    expect(denied).toMatchObject({ kind: 'decided', decision: { kind: 'deny', by: 'rule' } })
    expect(denied.kind === 'decided' && denied.findings.some(({ decides }) => decides)).toBe(true)
  })

  it('L68: what a profile hides from the caller is explained to the operator, and shown to the caller by no door', async () => {
    const gate = await open({ profile: 'platform', rules: [{ allow: 'look' }] })
    expect(await gate.policy.explain(ANA, { name: 'note', arguments: { path: 'a', content: 'x' } })).toMatchObject({
      kind: 'decided',
      decision: { kind: 'deny' },
    })
    expect(
      gate
        .session(ANA)
        .tools()
        .map(({ name }) => name),
    ).toEqual(['look'])
    expect(await gate.session(ANA).decide({ name: 'note', arguments: { path: 'a', content: 'x' } })).toMatchObject({
      kind: 'refused',
      type: 'not_found',
    })
  })

  it('runs no tool and records nothing', async () => {
    let runs = 0
    const counted = defineTool({
      ...{ name: 'counted', version: '1.0.0', description: 'Counts.', effect: 'read', input: shape({}) },
      run: async () => ++runs,
    })
    const gate = await open({}, { tools: [counted] })
    await gate.policy.explain(ANA, { name: 'counted', arguments: {} })
    await gate.policy.test([{ call: { name: 'counted' }, expect: 'allow' }])
    gate.policy.matrix([ANA])
    expect(runs).toBe(0)
    expect(await gate.records.query({ kind: 'end', limit: 10 })).toEqual([])
    await gate.session(ANA).call({ name: 'counted', arguments: {} })
    expect(runs).toBe(1)
  })
})

describe('matrix', () => {
  const callers: readonly SessionOptions[] = [
    ANA,
    { agent: 'ci', roles: ['guest'] },
    { user: 'ben', task: { name: 't', allow: ['look'] } },
  ]

  it('equals what is decided, for every tool whose answer does not depend on arguments', async () => {
    const subjects = fc.constantFrom('note', 'look', 'post', '*', 'p*')
    const rule = fc.record({
      answer: fc.constantFrom('allow', 'ask', 'deny'),
      subject: subjects,
      role: fc.option(fc.constantFrom('dev', 'guest')),
    })
    const args = {
      note: { path: 'a', content: 'x' },
      look: { path: 'a' },
      post: { to: 'a', body: 'b' },
      ping: { host: 'h', count: 1 },
      wipe: { path: 'a' },
    }
    await fc.assert(
      fc.asyncProperty(fc.array(rule, { maxLength: 5 }), async (rules) => {
        const gate = await createGate({
          tools: TOOLS,
          artifacts: false,
          policy: {
            rules: rules.map(({ answer, subject, role }) => ({
              [answer]: subject,
              ...(role === null ? {} : { for: { role } }),
            })),
          },
        })
        for (const row of gate.policy.matrix(callers)) {
          expect(row.depends).toBe(false)
          const caller =
            callers[
              [...new Set(gate.policy.matrix(callers).map((one) => one.caller.agent + one.caller.user))].indexOf(
                row.caller.agent + row.caller.user,
              )
            ]
          const name = row.tool
          const preview = await gate.session(caller).decide({ name, arguments: args[name as keyof typeof args] })
          expect(preview).toMatchObject({ kind: 'decided', decision: { kind: row.decision.kind } })
        }
        await gate.close()
      }),
      { numRuns: 25 },
    )
  })

  it('says where arguments matter, and what holds where no such rule does', async () => {
    const gate = await open({
      rules: [
        { deny: 'note', where: { path: 'x/**' } },
        { deny: 'look', for: { role: 'guest' } },
      ],
    })
    const rows = gate.policy.matrix([ANA], ['note', 'lo*'])
    expect(rows.map(({ tool, decision, depends }) => [tool, decision.kind, depends])).toEqual([
      ['look', 'allow', false],
      ['note', 'ask', true],
    ])
  })

  it('a default that some rule undoes for some arguments depends on them', async () => {
    const gate = await open({ profile: 'platform', rules: [{ allow: 'note', where: { path: 'a/**' } }] })
    expect(gate.policy.matrix([ANA], ['note'])).toMatchObject([{ decision: { kind: 'deny' }, depends: true }])
    expect(gate.policy.matrix([ANA], ['look'])).toMatchObject([{ decision: { kind: 'deny' }, depends: false }])
  })

  it('G34: a tool that the caller cannot see by its layers has no row, and what is no glob is an error', async () => {
    const gate = await open()
    expect(gate.policy.matrix([{ ...ANA, layers: [] }])).toEqual([])
    expect(() => gate.policy.matrix([ANA], ['[a'])).toThrow('no glob')
  })
})

describe('test', () => {
  it('a case gets what a call would get, by either word for it, and a wrong one fails', async () => {
    const gate = await open({ rules: [{ allow: 'note', where: { path: 'a/**' } }] })
    const write = (path: string) => ({ name: 'note', arguments: { path, content: 'x' } })
    const cases: PolicyCase[] = [
      { caller: ANA, call: write('a/x'), expect: 'allow' },
      { caller: ANA, call: write('b/x'), expect: 'ask' },
      { caller: ANA, call: write('b/x'), expect: 'approval_required' },
      { call: { name: 'wipe', arguments: { path: 'x' } }, expect: 'deny' },
      { call: { name: 'wipe', arguments: { path: 'x' } }, expect: 'permission_denied' },
      { call: { name: 'nothing' }, expect: 'not_found' },
      { call: { name: 'note' }, expect: 'invalid_args' },
      { name: 'wrong', caller: ANA, call: write('b/x'), expect: 'allow' },
      { name: 'nobody', caller: { user: '' }, call: write('a/x'), expect: 'allow' },
    ]
    const results = await gate.policy.test(cases)
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true, true, true, true, true, false, false])
    expect(results[7]).toMatchObject({ name: 'wrong', expected: 'allow', got: 'ask' })
    expect(results[0]?.name).toContain('note')
  })

  it('a denial that the profile hides is a denial, and not_found at the door', async () => {
    const gate = await open({ profile: 'platform' })
    const call = { name: 'note', arguments: { path: 'a', content: 'x' } }
    const results = await gate.policy.test([
      { call, expect: 'deny' },
      { call, expect: 'not_found' },
      { call, expect: 'permission_denied' },
    ])
    expect(results.map(({ ok }) => ok)).toEqual([true, true, false])
  })
})

describe('simulate', () => {
  async function busy(rules: NonNullable<GateOptions['policy']>['rules']): Promise<Gate> {
    const gate = await open({ rules: rules ?? [] })
    const session = gate.session(ANA)
    for (const path of ['a/1', 'a/2', 'b/1']) await session.call({ name: 'look', arguments: { path } })
    for (const path of ['a/1', 'b/1']) await session.call({ name: 'note', arguments: { path, content: 'x' } })
    await session.call({ name: 'wipe', arguments: { path: 'a/1' } })
    await session.call({ name: 'look', arguments: { wrong: true } })
    await gate.session({ ...ANA, agent: 'ci' }).call({ name: 'look', arguments: { path: 'a/1' } })
    return gate
  }

  it('finds exactly the decisions that differ', async () => {
    const gate = await busy([{ allow: 'note', where: { path: 'a/**' } }])
    const simulation = await gate.policy.simulate({
      rules: [
        { allow: 'note', where: { path: 'b/**' } },
        { deny: 'look', where: { path: 'a/**' }, for: { agent: 'helper' } },
      ],
    })
    expect(simulation.untold).toEqual([])
    expect(simulation.calls).toBe(7)
    expect(
      simulation.differing.map(({ tool, arguments: args, before, after }) => [
        tool,
        args.path,
        before.kind,
        after.kind,
      ]),
    ).toEqual([
      ['look', 'a/1', 'allow', 'deny'],
      ['look', 'a/2', 'allow', 'deny'],
      ['note', 'a/1', 'allow', 'ask'],
      ['note', 'b/1', 'ask', 'allow'],
    ])
    expect(simulation.differing[0]).toMatchObject({
      beforeBy: 'record',
      caller: { user: 'ana', roles: ['dev'], session: 's1' },
    })
  })

  it('the rules in force differ nowhere, whatever they are', async () => {
    const rule = fc.record({
      answer: fc.constantFrom('allow', 'ask', 'deny'),
      subject: fc.constantFrom('note', 'look', 'wipe', '*'),
      path: fc.option(fc.constantFrom('a/**', '*/1', 'b/*')),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(rule, { maxLength: 4 }), async (given) => {
        const rules = given.map(({ answer, subject, path }) => ({
          [answer]: subject,
          ...(path === null ? {} : { where: { path } }),
        }))
        const gate = await busy(rules)
        const simulation = await gate.policy.simulate({ rules })
        expect(simulation).toMatchObject({ differing: [], untold: [] })
        expect(simulation.calls).toBeGreaterThan(0)
      }),
      { numRuns: 15 },
    )
  })

  it('calls of other rules are decided again, or held against their records where that is asked for', async () => {
    const gate = await busy([{ deny: 'look', where: { path: 'b/**' } }])
    const changed = { rules: [{ deny: 'look', where: { path: 'a/**' } } as const] }
    expect(await gate.policy.reload(changed)).toMatchObject({ kind: 'ok' })
    const now = await gate.policy.simulate(changed)
    expect(now.differing).toEqual([])
    const then = await gate.policy.simulate(changed, { against: 'recorded' })
    expect(
      then.differing.map(({ arguments: args, before, beforeBy, after }) => [
        args.path,
        before.kind,
        beforeBy,
        after.kind,
      ]),
    ).toEqual([
      ['a/1', 'allow', 'record', 'deny'],
      ['a/2', 'allow', 'record', 'deny'],
      ['b/1', 'deny', 'record', 'allow'],
      ['a/1', 'allow', 'record', 'deny'],
    ])
    const again = await gate.policy.simulate({ rules: [] })
    expect(again.differing.every(({ beforeBy }) => beforeBy === 'again')).toBe(true)
    expect(again.differing).toHaveLength(3)
  })

  it('cannot tell where arguments were cut and a rule looks at them, and can where none does', async () => {
    const gate = await open()
    await gate.session(ANA).call({ name: 'note', arguments: { path: 'a', content: 'x'.repeat(20_000) } })
    const looking = await gate.policy.simulate({ rules: [{ deny: 'note', where: { content: '*secret*' } }] })
    expect(looking).toMatchObject({
      calls: 0,
      differing: [],
      untold: [{ tool: 'note', why: expect.stringContaining('cut') }],
    })
    const whole = await gate.policy.simulate({ rules: [{ deny: 'note' }] })
    expect(whole).toMatchObject({
      calls: 1,
      untold: [],
      differing: [{ before: { kind: 'ask' }, after: { kind: 'deny' } }],
    })
  })

  it('L82: cannot tell where a redacted value decides, and can where it does not', async () => {
    const gate = await open()
    await gate.session(ANA).call({ name: 'note', arguments: { path: 'a', content: '[redacted: api key]' } })
    await gate.session(ANA).call({ name: 'note', arguments: { path: 'a', content: 'not [redacted: whole]' } })
    const looking = await gate.policy.simulate({ rules: [{ deny: 'note', where: { content: '*key*' } }] })
    expect(looking.untold).toMatchObject([{ why: expect.stringContaining('`content` was redacted') }])
    expect(looking.calls).toBe(1)
    const beside = await gate.policy.simulate({ rules: [{ deny: 'note', where: { path: 'a' } }] })
    expect(beside).toMatchObject({ calls: 2, untold: [] })
    expect(beside.differing).toHaveLength(2)
    const expression = await gate.policy.simulate({ rules: [{ deny: 'note', when: 'args.content.contains("key")' }] })
    expect(expression.untold).toHaveLength(1)
    const whole = await gate.policy.simulate({ rules: [{ deny: 'note', when: 'size(args) > 1' }] })
    expect(whole.calls + whole.untold.length).toBe(2)
  })

  it('cannot tell of a tool that is gone, or that takes other arguments now', async () => {
    const gate = await busy([])
    gate.catalogue.retire('look')
    gate.catalogue.register(
      defineTool({
        ...{ name: 'note', version: '2.0.0', description: 'Other.', effect: 'write' },
        input: shape({ title: text }),
        run: async () => 'x',
      }),
    )
    const simulation = await gate.policy.simulate({ rules: [{ deny: 'note', where: { title: 'x' } }] })
    expect(
      new Set(simulation.untold.map(({ tool, why }) => `${tool} ${/no such tool|refuses/.exec(why)?.[0]}`)),
    ).toEqual(new Set(['look no such tool', 'note refuses']))
    expect(simulation.calls).toBe(1)
  })

  it('a call that was denied before its arguments were read: the same, where it still would be; else it cannot be told', async () => {
    const gate = await open({ rules: [{ deny: 'note', for: { role: 'dev' } }] })
    await gate.session(ANA).call({ name: 'note', arguments: { path: 'a', content: 'x' } })
    expect(await gate.policy.simulate({ rules: [{ deny: 'note' }] })).toMatchObject({
      calls: 1,
      differing: [],
      untold: [],
    })
    expect(await gate.policy.simulate({ rules: [] })).toMatchObject({
      calls: 1,
      differing: [{ after: { kind: 'ask' } }],
    })
    const unclear = await gate.policy.simulate({ rules: [{ allow: 'note', where: { path: 'a' } }] })
    expect(unclear).toMatchObject({
      calls: 0,
      untold: [{ why: expect.stringContaining('before its arguments were read') }],
    })
  })

  it('the range bounds what is looked at, and rules that do not hold are an error', async () => {
    const gate = await busy([])
    expect((await gate.policy.simulate({}, { callsMax: 2 })).calls).toBe(2)
    expect((await gate.policy.simulate({}, { since: Date.now() + 60_000 })).calls).toBe(0)
    await expect(gate.policy.simulate({ rules: [{ deny: { tool: '[' } }] })).rejects.toThrow()
  })
})

describe('suggest', () => {
  it('a single answered question yields an exact rule and no more', async () => {
    const gate = await open()
    await answered(gate, 'ping', { host: 'a.example', count: 2 }, 'approve')
    const [suggestion, ...others] = await gate.policy.suggest()
    expect(others).toEqual([])
    expect(suggestion).toMatchObject({
      asks: 1,
      rule: {
        allow: 'ping',
        for: { agent: 'helper', user: 'ana', role: 'dev' },
        where: { host: { in: ['a.example'] }, count: { in: [2] } },
      },
    })
    expect(suggestion?.rule.examples?.match).toEqual([{ host: 'a.example', count: 2 }])
    expect(suggestion?.rule.examples?.miss).toHaveLength(1)
  })

  it('paths become their common folder, free text is left open for what can be changed back, and the rule spares the asks', async () => {
    const gate = await open()
    const long = (name: string) => `${name} `.repeat(60)
    for (const name of ['a', 'b', 'c'])
      await answered(gate, 'note', { path: `docs/api/${name}.md`, content: long(name) }, 'approve')
    const [suggestion] = await gate.policy.suggest()
    if (suggestion === undefined) throw new Error('nothing was suggested')
    expect(suggestion).toMatchObject({ asks: 3, rule: { where: { path: 'docs/api/**' }, when: '!has(args.mode)' } })
    expect(suggestion.rule.where).not.toHaveProperty('content')
    expect(suggestion.yaml).toContain('docs/api/**')
    expect(await gate.policy.reload({ rules: [suggestion.rule] })).toMatchObject({ kind: 'ok' })
    const ask = async (args: object, who = ANA) => {
      const preview = await gate.session(who).decide({ name: 'note', arguments: args })
      return preview.kind === 'decided' ? preview.decision.kind : preview.type
    }
    expect(await ask({ path: 'docs/api/d.md', content: long('d') })).toBe('allow')
    expect(await ask({ path: 'docs/d.md', content: long('d') })).toBe('ask')
    expect(await ask({ path: 'docs/api/d.md', content: long('d'), mode: 'force' })).toBe('ask')
    expect(await ask({ path: 'docs/api/d.md', content: long('d') }, { ...ANA, agent: 'ci' })).toBe('ask')
  })

  it.each([
    ['a destructive call', 'wipe', { path: 'a/1' }, { defaults: { destructive: 'ask' } } as const],
    [
      'an external call with free text',
      'post',
      { to: 'team', body: 'a text that somebody has written for this very post' },
      {},
    ],
    ['what a rule asks about', 'ping', { host: 'h', count: 1 }, { rules: [{ ask: 'ping' }] } as const],
  ])('never for %s', async (_what, name, args, policy) => {
    const gate = await open(policy)
    await answered(gate, name, args, 'approve')
    expect(await gate.policy.suggest()).toEqual([])
  })

  it('never after a decline of the kind', async () => {
    const gate = await open()
    for (const name of ['a', 'b']) await answered(gate, 'note', { path: `docs/${name}`, content: 'x' }, 'approve')
    expect(await gate.policy.suggest()).toHaveLength(1)
    await answered(gate, 'note', { path: 'docs/c', content: 'x' }, 'decline')
    expect(await gate.policy.suggest()).toEqual([])
  })

  it('never where what was declined can no longer be told', async () => {
    const gate = await open()
    for (const name of ['a', 'b']) await answered(gate, 'note', { path: `docs/${name}`, content: 'x' }, 'approve')
    await answered(gate, 'note', { path: 'else/c', content: 'y'.repeat(20_000) }, 'decline')
    expect(await gate.policy.suggest()).toEqual([])
  })

  it('suggest-narrow: a rule holds for what was approved and for nothing that was declined, and loads with its examples', async () => {
    const folder = fc.constantFrom('docs', 'docs/api', 'src', 'a b', 'x[1]', 'ä')
    const call = fc.oneof(
      fc.record({
        name: fc.constant('note'),
        args: fc.record({
          path: fc.tuple(folder, fc.constantFrom('a', 'b.md', '*')).map((parts) => parts.join('/')),
          content: fc.constantFrom('x', 'y', 'some longer text of several words'),
        }),
      }),
      fc.record({
        name: fc.constant('ping'),
        args: fc.record({
          host: fc.constantFrom('h', '*', '{a}', 'a.example'),
          count: fc.integer({ min: 0, max: 20 }),
        }),
      }),
    )
    const one = fc.record({
      call,
      decision: fc.constantFrom<'approve' | 'decline'>('approve', 'approve', 'approve', 'decline'),
      agent: fc.constantFrom('helper', 'c*'),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(one, {
          minLength: 1,
          maxLength: 12,
          selector: (item) => JSON.stringify([item.call, item.agent]),
        }),
        async (all) => {
          const gate = await createGate({ tools: TOOLS })
          for (const item of all)
            await answered(gate, item.call.name, item.call.args, item.decision, { ...ANA, agent: item.agent })
          for (const { rule, asks } of await gate.policy.suggest()) {
            const alone = await createGate({ tools: TOOLS, policy: { rules: [rule] } })
            const allowed = []
            for (const item of all) {
              const preview = await alone
                .session({ ...ANA, agent: item.agent })
                .decide({ name: item.call.name, arguments: item.call.args })
              if (preview.kind === 'decided' && preview.decision.kind === 'allow') allowed.push(item.decision)
            }
            expect(allowed).not.toContain('decline')
            expect(allowed.length).toBeGreaterThanOrEqual(asks)
            expect(rule.examples?.match?.length).toBeGreaterThan(0)
            expect(rule.examples?.miss?.length).toBe(1)
            await alone.close()
          }
          await gate.close()
        },
      ),
      { numRuns: 20 },
    )
  })
})

describe('view and rules', () => {
  it('every tool stands in the view, seen or with the reason why not', async () => {
    const gate = await open({
      rules: [{ deny: 'look', because: 'closed on Mondays' }],
      steps: { read: { effects: ['read'] } },
    })
    const rows = gate.policy.view(ANA)
    expect(rows.map(({ tool }) => tool)).toEqual(['look', 'note', 'ping', 'post', 'wipe'])
    expect(rows.filter(({ seen }) => seen).map(({ tool }) => tool)).toEqual(
      gate
        .session(ANA)
        .tools()
        .map(({ name }) => name),
    )
    expect(rows.find(({ tool }) => tool === 'look')?.why).toContain('closed on Mondays')
    const atStep = gate.policy.view({ ...ANA, step: 'read' }).filter(({ seen }) => seen)
    expect(atStep).toEqual([])
    expect(gate.policy.view({ ...ANA, step: 'unknown' }).some(({ seen }) => seen)).toBe(false)
  })

  it('L12: each rule says which tools it speaks of now, and one that speaks of none says so', async () => {
    const gate = await open({ rules: [{ deny: 'p*' }, { deny: 'nothing_*' }] })
    expect(gate.policy.rules().map(({ tools }) => tools)).toEqual([['ping', 'post'], []])
  })
})
