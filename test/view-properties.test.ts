// seen-is-callable, over random callers, steps, tasks, layers, rules and stops: what is listed is exactly what the cheap half
// of the policy admits, by one and the same function, and what is not listed runs nothing. A child sees no more than its parent.

import './property-seed.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PolicyOptions } from '../src/authorize/policy-options.ts'
import { LAYERS } from '../src/describe/layer.ts'
import { type AnyTool, defineTool, type Session, type SessionOptions } from '../src/index.ts'
import { ScriptedSource } from '../src/testing/scripted-source.ts'
import { openGate } from './opened.ts'

const EFFECTS = ['read', 'write', 'execute', 'external', 'destructive', 'undeclared'] as const
const NAMES = ['git_log', 'git_push', 'look', 'change', 'drop'] as const
const ROLES = ['dev', 'ops'] as const
let ran: string[] = []
/** How many tools were listed in all: a house in which nothing is ever seen would show nothing. */
let seen = 0

const tool = (name: string, effect: string, admits: string | undefined): AnyTool =>
  defineTool({
    name,
    version: '1.0.0',
    description: `Does ${name}.`,
    input: { type: 'object', properties: { target: { type: 'string' } }, additionalProperties: false },
    effect,
    ...(admits === undefined ? {} : { admit: ({ roles }: { roles: readonly string[] }) => roles.includes(admits) }),
    run: () => {
      ran.push(name)
      return 'ran'
    },
  } as never) as AnyTool

const some = <Item>(items: readonly Item[]) => fc.subarray([...items])
/** There now and then: what narrows all the time leaves nothing to see. */
const rarely = <Item>(there: fc.Arbitrary<Item>): fc.Arbitrary<Item | undefined> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: there })
const given = (fields: object): SessionOptions =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
const glob = fc.constantFrom('git_*', '*', ...NAMES)
const callers = fc.record(
  { role: fc.constantFrom(...ROLES), agent: fc.constantFrom('lead', 'sub'), step: fc.constantFrom('a', 'b') },
  { requiredKeys: [] },
)
const rule = fc
  .record({
    answer: fc.constantFrom('allow', 'ask', 'deny'),
    subject: fc.oneof(
      glob,
      fc.record({ effect: fc.constantFrom(...EFFECTS) }),
      fc.constant({ group: 'repo' }),
      fc.constant({ source: 'far' }),
    ),
    for: rarely(callers),
    where: rarely(fc.constant({ target: 'x' })),
  })
  .map(({ answer, subject, for: who, where }) => ({
    [answer]: subject,
    ...(who === undefined || Object.keys(who).length === 0 ? {} : { for: who }),
    ...(where === undefined ? {} : { where }),
  }))
const policy = fc.record({
  profile: fc.constantFrom('coding', 'coding', 'strict', 'platform'),
  groups: fc.constant({ repo: ['git_*'] }),
  steps: fc.record({
    a: fc.record({ effects: some(EFFECTS) }),
    b: fc.record({ groups: fc.constantFrom([], ['repo']) }),
  }),
  rules: fc.array(rule, { maxLength: 4 }),
})
const who = fc
  .record({
    roles: some(ROLES),
    agent: fc.constantFrom('lead', 'sub'),
    task: rarely(fc.record({ name: fc.constant('t'), allow: fc.array(glob, { maxLength: 3 }) })),
    step: rarely(fc.constantFrom('a', 'b', 'c')),
    layers: rarely(some(LAYERS)),
  })
  .map(given)
const child = fc
  .record({
    agent: rarely(fc.constantFrom('sub', 'third')),
    roles: rarely(fc.constant([])),
    task: rarely(fc.record({ name: fc.constant('u'), allow: fc.array(glob, { maxLength: 3 }) })),
    step: rarely(fc.constantFrom('a', 'b')),
  })
  .map(given)
const house = fc.record({
  tools: fc.array(
    fc.record({
      name: fc.constantFrom(...NAMES),
      effect: fc.constantFrom(...EFFECTS),
      admits: rarely(fc.constantFrom(...ROLES)),
    }),
    { minLength: 3, maxLength: 5 },
  ),
  policy,
  who,
  child,
  activation: rarely(fc.constantFrom('dev', 'nobody')),
  stop: rarely(fc.record({ tool: fc.constantFrom(...NAMES) })),
})

/** Every tool that there is, as this session finds it: what a call of it with a harmless argument is refused with. */
async function callable(session: Session): Promise<readonly string[]> {
  const names: string[] = []
  for (const name of [...NAMES, 'far_look']) {
    const preview = await session.decide({ name, arguments: { target: 7 } })
    // Arguments are looked at only behind the cheap half: whoever comes to them may call.
    if (preview.kind === 'refused' && preview.type === 'invalid_args') names.push(name)
  }
  return names.sort()
}

test('seen-is-callable: listed is callable and callable is listed, whoever asks', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(house, async ({ tools, policy: rules, who: caller, child: below, activation, stop }) => {
      ran = []
      const far = new ScriptedSource({ name: 'far', tools: [tool('far_look', 'read', undefined)] })
      const source = {
        ...{ name: 'far', layer: far.layer, identity: 'far', foreign: true },
        ...(activation === undefined ? {} : { activation: { roles: [activation] } }),
        start: far.start.bind(far),
        close: far.close.bind(far),
      }
      const distinct = tools.filter(({ name }, index) => tools.findIndex((other) => other.name === name) === index)
      const gate = await openGate({
        tools: distinct.map(({ name, effect, admits }) => tool(name, effect, admits)),
        sources: [source],
        policy: rules as PolicyOptions,
        artifacts: false,
      })
      const session = gate.session(caller)
      const sub = session.child(below)
      if (stop !== undefined) await gate.stop(stop)
      for (const one of [session, sub]) {
        const listed = one.tools().map(({ name }) => name)
        expect(listed).toEqual(await callable(one))
        seen += listed.length
        for (const name of [...NAMES, 'far_look'].filter((other) => !listed.includes(other)))
          expect((await one.call({ name, arguments: {} })).ok).toBe(false)
      }
      expect(ran).toEqual([])
      const above = new Set(session.tools().map(({ name }) => name))
      expect(sub.tools().filter(({ name }) => !above.has(name))).toEqual([])
      const view = gate.policy.view(caller)
      expect(view.filter(({ seen }) => seen).map((row) => row.tool)).toEqual(session.tools().map(({ name }) => name))
      await gate.close()
    }),
    { numRuns: 150 },
  )
  expect(seen).toBeGreaterThan(200)
})
