// Goal: whatever rules there are, a stricter one never widens, their order never matters, another spelling of the same thing
// is the same thing, and nobody has more than whoever they work for. Method: random policies and calls over a small world, so
// that rules and calls often meet.

import './property-seed.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { caller, entry, input, policyOf } from '../src/authorize/policy.fixture.ts'
import type { Answer, PolicyOptions, RuleOptions, RuleSubject } from '../src/authorize/policy-options.ts'
import type { Caller } from '../src/describe/caller.ts'
import { DECLARED_EFFECTS, type DeclaredEffect } from '../src/describe/effect.ts'
import type { Entry } from '../src/describe/entry.ts'

const WEIGHT = { allow: 0, ask: 1, deny: 2 } as const
const GROUPS = { files: ['*_file'], web: ['fetch_*'], none: [] }
const STEPS = {
  look: { effects: ['read'] },
  change: { effects: ['read', 'write'], groups: ['files'] },
  stop: {},
} as const

const path = fc.constantFrom('a', 'docs/a', 'docs/b/c.lock', 'secret/a', 'secret/.env', '.env')
const pattern = fc.constantFrom('a', 'docs/**', '**/*.lock', 'secret/**', '**/.env', '/ws/docs/**', '**', 'docs')
const name = fc.constantFrom('read_file', 'write_file', 'fetch_url', 'other')
const effect = fc.constantFrom<DeclaredEffect>(...DECLARED_EFFECTS)

const subject: fc.Arbitrary<RuleSubject> = fc.oneof(
  fc.constantFrom('read_file', 'write_file', '*_file', '*', 'fetch_*'),
  fc
    .record(
      {
        group: fc.constantFrom('files', 'web', 'none'),
        effect: fc.subarray([...DECLARED_EFFECTS]),
        source: fc.constantFrom('files', 'web', '*'),
        resource: fc
          .tuple(fc.constantFrom('read', 'write', '*'), pattern)
          .map(([verb, glob]) => `${verb} file:${glob}`),
      },
      { requiredKeys: [] },
    )
    .filter((given) => Object.keys(given).length > 0),
)

const argumentTest = fc.oneof(
  pattern,
  fc.record({ in: fc.array(path, { maxLength: 2 }) }),
  fc.record({ prefix: fc.constantFrom('docs/', 'secret/', 'a') }),
)
const when = fc.constantFrom(
  'args.path.startsWith("docs/")',
  'args.size > 3',
  'has(args.size) && args.size <= 3',
  'caller.user == "ana"',
  'resources.exists(r, r.endsWith(".env"))',
  'resources.all(r, r.startsWith("read "))',
  'tool.effect == "write"',
  '"dev" in caller.roles || args.path == "a"',
)

const more = fc.record(
  {
    for: fc.oneof(
      fc.record({ user: fc.constantFrom('ana', 'bob', '*') }),
      fc.record({ role: fc.constantFrom('dev', 'qa') }),
    ),
    where: fc.record({ path: argumentTest }),
    when,
  },
  { requiredKeys: [] },
)

const ruleOf = (answer: fc.Arbitrary<Answer>): fc.Arbitrary<RuleOptions> =>
  fc.tuple(answer, subject, more, fc.boolean()).map(([kind, speaks, rest, placed]) => ({
    [kind]: speaks,
    ...rest,
    ...(placed && kind !== 'deny' ? { place: 'upstream' as const } : {}),
  }))

const rule = ruleOf(fc.constantFrom('allow', 'ask', 'deny'))
// Often more rules about resources than are looked at one by one.
const rules = fc.oneof(fc.array(rule, { maxLength: 6 }), fc.array(rule, { minLength: 20, maxLength: 40 }))
const profile = fc.constantFrom('coding', 'platform', 'strict')
const defaults = fc.dictionary(effect, fc.constantFrom<Answer>('allow', 'ask', 'deny'))

type World = {
  readonly options: PolicyOptions
  readonly who: Caller
  readonly tool: Entry
  readonly given: ReturnType<typeof input>
}

const who: fc.Arbitrary<Caller> = fc
  .record(
    {
      user: fc.constantFrom('ana', 'bob'),
      roles: fc.subarray(['dev', 'qa']),
      step: fc.constantFrom('look', 'change', 'stop', 'x'),
    },
    { requiredKeys: ['user', 'roles'] },
  )
  .map((given) => caller(given))

const touch = fc.tuple(fc.constantFrom('read', 'write'), path).map(([verb, file]) => `${verb} file:/ws/${file}`)
const touches = fc.oneof(fc.constant(undefined), fc.constant('broken'), fc.array(touch, { maxLength: 3 }))

const world: fc.Arbitrary<World> = fc
  .record({
    profile,
    defaults,
    rules,
    who,
    name,
    effect,
    path,
    size: fc.option(fc.nat(6), { nil: undefined }),
    touches,
    resolved: fc.boolean(),
  })
  .map((parts) => ({
    options: {
      profile: parts.profile,
      groups: GROUPS,
      steps: STEPS,
      defaults: parts.defaults,
      rules: parts.rules,
    } as PolicyOptions,
    who: parts.who,
    tool: entry(parts.name, {
      effect: parts.effect,
      source: parts.name === 'fetch_url' ? 'web' : 'files',
      ...(parts.resolved ? { resolve: (args) => args } : {}),
    }),
    given: input(
      { path: parts.path, ...(parts.size === undefined ? {} : { size: parts.size }) },
      { effect: parts.effect, ...(parts.touches === undefined ? {} : { touches: parts.touches }) },
    ),
  }))

const decide = ({ options, who: asked, tool, given }: World) => policyOf(options).decide(asked, tool, given)
const weigh = (made: World): number => WEIGHT[decide(made).kind]
const withRules = (made: World, given: readonly RuleOptions[]): World => ({
  ...made,
  options: { ...made.options, rules: given },
})
const rulesOf = ({ options }: World): readonly RuleOptions[] => options.rules ?? []

describe('properties of every policy', () => {
  test('adding a deny never widens', () => {
    fc.assert(
      fc.property(world, ruleOf(fc.constant('deny')), (made, added) => {
        const stricter = withRules(made, [...rulesOf(made), added])
        expect(weigh(stricter)).toBeGreaterThanOrEqual(weigh(made))
        const [before, after] = [policyOf(made.options), policyOf(stricter.options)]
        if (before.admit(made.who, made.tool).kind === 'deny')
          expect(after.admit(made.who, made.tool).kind).toBe('deny')
      }),
      { numRuns: 150 },
    )
  })

  test('adding an ask never widens an allow, and never anything that a rule denies', () => {
    fc.assert(
      fc.property(world, ruleOf(fc.constant('ask')), (made, added) => {
        const before = decide(made)
        const after = weigh(withRules(made, [...rulesOf(made), added]))
        if (before.kind === 'allow' || before.by !== 'default')
          expect(after).toBeGreaterThanOrEqual(WEIGHT[before.kind])
      }),
      { numRuns: 150 },
    )
  })

  test('the order of rules changes no decision, no reason and no version', () => {
    fc.assert(
      fc.property(world, fc.infiniteStream(fc.nat()), (made, order) => {
        const keyed = rulesOf(made).map((one) => [order.next().value ?? 0, one] as const)
        const shuffled = keyed.toSorted(([one], [other]) => one - other).map(([, one]) => one)
        expect(decide(withRules(made, shuffled))).toEqual(decide(made))
      }),
      { numRuns: 150 },
    )
  })

  test('another spelling of the same path changes no answer to a deny or ask, and widens none', () => {
    const spelled = fc.constantFrom<(file: string) => string>(
      (file) => `./${file}`,
      (file) => file.replaceAll('/', '//'),
      (file) => file.replaceAll('/', '/./'),
      (file) => `docs/../${file}`,
      (file) => `x/y/../../${file}`,
    )
    fc.assert(
      fc.property(world, spelled, (made, spell) => {
        const raw = {
          ...made,
          tool: { ...made.tool, tool: { ...made.tool.tool, resolve: undefined } } as unknown as Entry,
        }
        const { args, effect: of, touches: known } = raw.given
        const other = { ...input({ ...args, path: spell(String(args.path)) }, { effect: of }), touches: known }
        expect(weigh({ ...raw, given: other })).toBeGreaterThanOrEqual(weigh(raw))
      }),
      { numRuns: 250 },
    )
  })

  test('absolute and relative, a path is one path', () => {
    const patterned = fc
      .array(ruleOf(fc.constantFrom('allow', 'ask', 'deny')), { maxLength: 6 })
      .map((all) => all.map(({ when: _, ...rest }) => rest))
    fc.assert(
      fc.property(world, patterned, (made, all) => {
        const given = {
          ...input({ ...made.given.args, path: `/ws/${made.given.args.path}` }, { effect: made.given.effect }),
          touches: made.given.touches,
        }
        const plain = withRules(made, all)
        expect(decide({ ...plain, given }).kind).toBe(decide(plain).kind)
      }),
      { numRuns: 150 },
    )
  })

  test('what a child may do, its parent may do', () => {
    fc.assert(
      fc.property(world, who, (made, parent) => {
        const policy = policyOf(made.options)
        const child = caller({ ...made.who, parent })
        const answers = [parent, made.who].map((one) => WEIGHT[policy.decide(one, made.tool, made.given).kind])
        expect(WEIGHT[policy.decide(child, made.tool, made.given).kind]).toBe(Math.max(...answers))
        const admitted = [parent, made.who].every((one) => policy.admit(one, made.tool).kind === 'admitted')
        expect(policy.admit(child, made.tool).kind === 'admitted').toBe(admitted)
        for (const file of ['read file:/ws/secret/a', 'write file:/ws/docs/a'])
          if (policy.mayTouch(child, made.tool, file, made.given))
            expect(policy.mayTouch(parent, made.tool, file, made.given)).toBe(true)
      }),
      { numRuns: 150 },
    )
  })

  test('what is not admitted is denied whatever the arguments are', () => {
    fc.assert(
      fc.property(world, (made) => {
        const policy = policyOf(made.options)
        if (policy.admit(made.who, made.tool).kind === 'deny')
          expect(policy.decide(made.who, made.tool, made.given).kind).toBe('deny')
      }),
      { numRuns: 250 },
    )
  })

  test('an outlook that depends on no argument is the answer to every call', () => {
    fc.assert(
      fc.property(world, (made) => {
        const { decision, depends } = policyOf(made.options).outlook(made.who, made.tool)
        if (!depends && made.given.touches.kind !== 'known') expect(decide(made).kind).toBe(decision.kind)
      }),
      { numRuns: 150 },
    )
  })

  test('the answer is the strictest of what each rule answers alone, however many there are', () => {
    fc.assert(
      fc.property(world, (made) => {
        const { effect: of, touches: known } = made.given
        // A call that also reads is asked about twice; here it is about one thing.
        fc.pre(of === 'read' || known.kind !== 'known' || known.resources.every(({ verb }) => verb !== 'read'))
        const alone = rulesOf(made).flatMap((one) => {
          const { by, kind } = decide(withRules(made, [one]))
          return by === 'rule' ? [WEIGHT[kind]] : []
        })
        const decision = decide(made)
        if (decision.by === 'step') return
        if (alone.length === 0) expect(decision.by).not.toBe('rule')
        else expect(WEIGHT[decision.kind]).toBe(Math.max(...alone))
      }),
      { numRuns: 100 },
    )
  })

  test('what explains a decision names the rule that made it', () => {
    fc.assert(
      fc.property(world, (made) => {
        const { decision, findings } = policyOf(made.options).explain(made.who, made.tool, made.given)
        const deciding = findings.filter(({ decides }) => decides)
        if (decision.by === 'rule') expect(deciding.map((one) => one.rule)).toContainEqual(decision.rule)
        else expect(deciding).toEqual([])
      }),
      { numRuns: 150 },
    )
  })
})
