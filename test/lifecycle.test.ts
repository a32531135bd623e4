// Goal: a call goes through six stages, any of which may end it with a typed outcome, and none after that one runs.
// Method: one real gate with a recording store and a fake clock; one `describe` per stage, as in docs/lifecycle.md.

import { describe, expect, test } from 'vitest'
import {
  type AnyTool,
  createGate,
  defineTool,
  GateConfigError,
  type GateOptions,
  type Outcome,
  ToolResult,
  toolFailure,
} from '../src/index.ts'
import { createRecordingStore, FakeClock, ScriptedSource } from '../src/testing/index.ts'

const integer = {
  type: 'object',
  properties: { n: { type: 'integer' } },
  required: ['n'],
  additionalProperties: false,
} as const

async function open(tools: readonly AnyTool[], options: GateOptions = {}) {
  const clock = new FakeClock()
  const store = createRecordingStore({ clock })
  const gate = await createGate({ tools, store, clock, artifacts: false, ...options })
  return { gate, clock, store, session: gate.session({ user: 'ana', agent: 'helper' }) }
}

/** A tool that notes each run. */
function probe(
  effect: 'read' | 'write' | 'external' | 'destructive' | 'undeclared',
  name = 'probe',
  more: object = {},
) {
  const runs: unknown[] = []
  const tool = defineTool({
    name,
    version: '1.0.0',
    description: 'A probe.',
    input: integer,
    effect,
    run: (args: unknown) => {
      runs.push(args)
      return 'ran'
    },
    ...more,
  })
  return { tool: tool as AnyTool, runs }
}

const typeOf = (outcome: Outcome): string => (outcome.ok ? 'ok' : outcome.error.type)
const kinds = (store: { written: readonly { kind: string }[] }) => store.written.map(({ kind }) => kind)

describe('① discover', () => {
  test('an unknown name is not_found, runs nothing and leaves its record', async () => {
    const { tool, runs } = probe('read')
    const { session, store } = await open([tool])
    expect(typeOf(await session.call({ name: 'Probe', arguments: { n: 1 } }))).toBe('not_found')
    expect(runs).toEqual([])
    expect(store.written).toMatchObject([
      { kind: 'end', body: { tool: 'Probe', ok: false, error: { type: 'not_found', effect: 'none' } } },
    ])
  })

  test('G13: a source that fails or hangs takes nothing else down and is named', async () => {
    const { tool } = probe('read')
    const { gate, session, clock } = await open([tool], {
      sources: [
        new ScriptedSource({ name: 'broken', starts: 'fail' }),
        new ScriptedSource({ name: 'slow', starts: 'hang' }),
      ],
    })
    expect(typeOf(await session.call({ name: 'probe', arguments: { n: 1 } }))).toBe('ok')
    expect(typeOf(await session.call({ name: 'other', arguments: {} }))).toBe('unavailable')
    await clock.advance(30_000)
    await gate.settled()
    expect(gate.catalogue.sources().map(({ name, state }) => [name, state.kind])).toEqual([
      ['broken', 'failed'],
      ['slow', 'failed'],
    ])
    expect(typeOf(await session.call({ name: 'other', arguments: {} }))).toBe('not_found')
  })

  test('a tool object is found only as the very definition that is registered', async () => {
    const one = probe('read')
    const other = probe('read')
    const { session } = await open([one.tool])
    expect(typeOf(await session.call(one.tool, { n: 1 } as never))).toBe('ok')
    expect(typeOf(await session.call(other.tool, { n: 1 } as never))).toBe('not_found')
    expect(other.runs).toEqual([])
  })
})

describe('② authorize, the cheap half', () => {
  test('closed: a denied tool is refused before its arguments are read', async () => {
    const { tool, runs } = probe('read')
    const { session } = await open([tool], { policy: { rules: [{ deny: 'probe', because: 'not today' }] } })
    const outcome = await session.call({ name: 'probe', arguments: '{"n":' })
    expect(typeOf(outcome)).toBe('permission_denied')
    expect(runs).toEqual([])
    expect(session.tools()).toEqual([])
  })

  test('L24: a task that allows only unknown tools allows nothing', async () => {
    const { tool, runs } = probe('read')
    const { gate } = await open([tool])
    const session = gate.session({ task: { name: 'triage', allow: ['gone_*'] } })
    expect(session.tools()).toEqual([])
    expect(typeOf(await session.call({ name: 'probe', arguments: { n: 1 } }))).toBe('permission_denied')
    expect(runs).toEqual([])
  })
})

describe('③ validate', () => {
  test('arguments of another shape are invalid_args and name the path, what was expected and what came', async () => {
    const { tool, runs } = probe('read')
    const { session } = await open([tool])
    const outcome = await session.call({ name: 'probe', arguments: { n: 'five' } })
    expect(outcome).toMatchObject({ ok: false, error: { type: 'invalid_args', retry: { advice: 'fix_args' } } })
    expect(outcome.ok ? '' : outcome.error.message).toMatch(/`n`.*integer.*string/)
    expect(runs).toEqual([])
  })

  test('L66: truncated JSON names the position', async () => {
    const { tool } = probe('read')
    const { session } = await open([tool])
    const outcome = await session.call({ name: 'probe', arguments: '{"n": 1' })
    expect(outcome).toMatchObject({ ok: false, error: { type: 'invalid_args' } })
    expect(outcome.ok ? '' : outcome.error.message).toMatch(/line 1|column|position|offset/)
  })

  test.each([
    '{"n":1,"n":2}',
    '{"__proto__":{"n":1},"n":1}',
    '[1]',
    '"n"',
    'null',
    '{"n":1} x',
    '{"n":1e999}',
    '{"n":9007199254740993}',
  ])('raw arguments %s are refused', async (text) => {
    const { tool, runs } = probe('read')
    const { session } = await open([tool])
    expect(typeOf(await session.call({ name: 'probe', arguments: text }))).toBe('invalid_args')
    expect(runs).toEqual([])
  })

  test('arguments above the bound are oversized before they are parsed', async () => {
    const { tool, runs } = probe('read')
    const { session } = await open([tool], { limits: { argumentBytes: 64 } })
    expect(typeOf(await session.call({ name: 'probe', arguments: `{"n":1,"x":"${'y'.repeat(100)}"}` }))).toBe(
      'oversized',
    )
    expect(runs).toEqual([])
  })

  test('last-check: the tool gets the frozen, resolved arguments that the policy decided on', async () => {
    const seen: unknown[] = []
    const tool = defineTool({
      name: 'open',
      version: '1.0.0',
      description: 'Opens.',
      input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } as const,
      effect: 'read',
      resolve: (args: object) =>
        ({ ...args, path: String((args as { path: string }).path).replace('docs/../', '') }) as never,
      run: (args: unknown) => {
        seen.push(args)
        return 'opened'
      },
    }) as AnyTool
    const { session } = await open([tool], { policy: { rules: [{ deny: 'open', where: { path: 'src/**' } }] } })
    expect(typeOf(await session.call({ name: 'open', arguments: { path: 'docs/../src/x' } }))).toBe('permission_denied')
    expect(typeOf(await session.call({ name: 'open', arguments: { path: 'docs/../lib/x' } }))).toBe('ok')
    expect(seen).toEqual([{ path: 'lib/x' }])
    expect(Object.isFrozen(seen[0])).toBe(true)
  })

  test('closed: an author function that throws or hangs refuses the call', async () => {
    const throwing = probe('read', 'throwing', {
      check: () => {
        throw new Error('bug')
      },
    })
    const hanging = probe('read', 'hanging', { resolve: () => new Promise(() => {}) })
    const { session, clock } = await open([throwing.tool, hanging.tool])
    const first = await session.call({ name: 'throwing', arguments: { n: 1 } })
    expect(first).toMatchObject({ ok: false, error: { effect: 'none' } })
    const pending = session.call({ name: 'hanging', arguments: { n: 1 } })
    await clock.advance(60_000)
    expect(typeOf(await pending)).toBe('timeout')
    expect([...throwing.runs, ...hanging.runs]).toEqual([])
  })
})

describe('② authorize, the exact half', () => {
  test('closed: without a rule a write is asked, a destructive call denied, an undeclared one asked', async () => {
    const tools = (['write', 'destructive', 'undeclared', 'external'] as const).map((effect) => probe(effect, effect))
    const { session } = await open(tools.map(({ tool }) => tool))
    const types = []
    for (const name of ['write', 'destructive', 'undeclared', 'external'])
      types.push(typeOf(await session.call({ name, arguments: { n: 1 } })))
    expect(types).toEqual(['approval_required', 'permission_denied', 'approval_required', 'approval_required'])
    expect(tools.flatMap(({ runs }) => runs)).toEqual([])
  })

  test('L17: a tool that fails to say what it touches is held to the stricter side', async () => {
    const { tool, runs } = probe('read', 'probe', {
      touches: () => {
        throw new Error('bug')
      },
    })
    const { session } = await open([tool], { policy: { rules: [{ deny: { resource: 'read file:**/.env' } }] } })
    expect(typeOf(await session.call({ name: 'probe', arguments: { n: 1 } }))).toBe('permission_denied')
    expect(runs).toEqual([])
  })
})

describe('⑥ audit, first half', () => {
  test('an approved call is a new call; the approval is worth exactly one', async () => {
    const { tool, runs } = probe('write')
    const { gate, session } = await open([tool])
    const asked = await session.call({ name: 'probe', arguments: { n: 1 } })
    const id = asked.ok ? '' : String(asked.error.details?.approvalId)
    expect(await gate.approvals.decide(id, { decision: 'approve', by: 'a person' })).toMatchObject({ kind: 'answered' })
    expect(typeOf(await session.call({ name: 'probe', arguments: { n: 2 } }))).toBe('approval_required')
    expect(typeOf(await session.call({ name: 'probe', arguments: { n: 1 } }))).toBe('ok')
    expect(typeOf(await session.call({ name: 'probe', arguments: { n: 1 } }))).toBe('approval_required')
    expect(runs).toEqual([{ n: 1 }])
  })

  test('an equal call joins the open question; a declined one stays declined', async () => {
    const { tool, runs } = probe('write')
    const { gate, session } = await open([tool])
    const ask = async () => {
      const outcome = await session.call({ name: 'probe', arguments: { n: 1 } })
      return outcome.ok ? '' : String(outcome.error.details?.approvalId)
    }
    const id = await ask()
    expect(await ask()).toBe(id)
    await gate.approvals.decide(id, { decision: 'decline', by: 'a person' })
    expect(typeOf(await session.call({ name: 'probe', arguments: { n: 1 } }))).toBe('approval_declined')
    expect(await gate.approvals.decide(id, { decision: 'approve', by: 'another' })).toMatchObject({ kind: 'closed' })
    expect(runs).toEqual([])
  })

  test('an approval of another caller, another definition or past its time is none', async () => {
    const { tool, runs } = probe('write')
    const { gate, session, clock } = await open([tool], { approvals: { expiresMs: 10_000 } })
    const asked = await session.call({ name: 'probe', arguments: { n: 1 } })
    const approval = asked.ok ? '' : String(asked.error.details?.approvalId)
    await gate.approvals.decide(approval, { decision: 'approve', by: 'a person' })
    const other = gate.session({ user: 'ben', agent: 'helper' })
    expect(typeOf(await other.call({ name: 'probe', arguments: { n: 1 }, approval }))).toBe('approval_required')
    await clock.advance(10_001)
    expect(typeOf(await session.call({ name: 'probe', arguments: { n: 1 }, approval }))).toBe('approval_expired')
    gate.catalogue.register(probe('write', 'probe', { description: 'Another probe.' }).tool)
    expect(typeOf(await session.call({ name: 'probe', arguments: { n: 1 } }))).toBe('approval_required')
    expect(runs).toEqual([])
  })

  test('intent-first: the intent of an effect is durable before the tool starts, and a read needs none', async () => {
    const store = createRecordingStore({ clock: new FakeClock() })
    const seen: string[][] = []
    const run = () => {
      seen.push(kinds(store))
      return 'ran'
    }
    const gate = await createGate({
      store,
      tools: [probe('write', 'writing', { run }).tool, probe('read', 'reading', { run }).tool],
      policy: { defaults: { write: 'allow' } },
    })
    await gate.session().call({ name: 'writing', arguments: { n: 1 } })
    await gate.session().call({ name: 'reading', arguments: { n: 1 } })
    expect(seen).toEqual([['intent'], ['intent', 'end']])
    expect(kinds(store)).toEqual(['intent', 'end', 'end'])
  })

  test('closed: a store that cannot keep the record refuses the call, and only then the failure is fatal', async () => {
    const { tool, runs } = probe('write')
    const { session, store } = await open([tool], { policy: { defaults: { write: 'allow' } } })
    store.breakWith('disk full')
    const outcome = await session.call({ name: 'probe', arguments: { n: 1 } })
    expect(outcome).toMatchObject({ ok: false, error: { type: 'audit_unavailable', effect: 'none', fatal: true } })
    expect(runs).toEqual([])
    store.breakWith(undefined)
    expect(typeOf(await session.call({ name: 'probe', arguments: { n: 1 } }))).toBe('ok')
  })
})

describe('④ execute', () => {
  test('a crash is an observation: typed, with its effect, and the next call works', async () => {
    const crashing = probe('write', 'crashing', { run: () => Promise.reject(new Error('ENOENT /var/lib/secret')) })
    const { session } = await open([crashing.tool], { policy: { defaults: { write: 'allow' } } })
    const outcome = await session.call({ name: 'crashing', arguments: { n: 1 } })
    expect(outcome).toMatchObject({ ok: false, error: { type: 'tool_crashed', effect: 'unknown', fatal: false } })
    expect(JSON.stringify(outcome.content)).not.toContain('/var/lib')
  })

  test('a late answer is recorded under its call', async () => {
    let answer = (_value: string): void => {}
    const late = probe('write', 'late', {
      run: () =>
        new Promise<string>((resolve) => {
          answer = resolve
        }),
    })
    const { session, clock, store } = await open([late.tool], { policy: { defaults: { write: 'allow' } } })
    const pending = session.call({ name: 'late', arguments: { n: 1 } })
    await clock.advance(60_000)
    const outcome = await pending
    answer('at last')
    await clock.advance(0)
    expect(store.written.map(({ kind, callId }) => [kind, callId])).toEqual(
      ['intent', 'end', 'late'].map((kind) => [kind, outcome.meta.callId]),
    )
    expect(store.written.at(-1)?.body).toMatchObject({ ok: true, effect: 'done' })
  })
})

describe('⑤ shape', () => {
  test('said-cut: a result above its budget is cut, says so, and the program still has all of it', async () => {
    const big = probe('read', 'big', { run: () => 'x'.repeat(100_000) })
    const { session } = await open([big.tool])
    const outcome = await session.call({ name: 'big', arguments: { n: 1 } })
    expect(outcome.meta.truncated).toMatchObject({ originalBytes: 100_000 })
    expect(outcome.ok && outcome.value).toHaveLength(100_000)
    expect(Buffer.byteLength(JSON.stringify(outcome.content))).toBeLessThan(50_000)
  })

  test('a present that throws falls back and keeps the effect', async () => {
    const odd = probe('read', 'odd', {
      run: () => ({ a: 1 }),
      present: () => {
        throw new Error('bug')
      },
    })
    const { session } = await open([odd.tool])
    expect(await session.call({ name: 'odd', arguments: { n: 1 } })).toMatchObject({
      ok: true,
      value: { a: 1 },
      content: [{ type: 'text', text: '{"a":1}' }],
    })
  })

  test('the caller finds its own id, the rule and the place in the outcome', async () => {
    const { tool } = probe('read')
    const { session } = await open([tool], { policy: { rules: [{ allow: 'probe', because: 'harmless' }] } })
    const { meta } = await session.call({ name: 'probe', arguments: { n: 1 }, id: 'toolu_1' })
    expect(meta).toMatchObject({
      id: 'toolu_1',
      tool: 'probe',
      source: 'host',
      effect: 'read',
      attempts: 1,
      place: 'process',
      decision: { kind: 'allow' },
    })
    expect(meta.decision?.rule).toContain('probe')
  })
})

describe('⑥ audit, second half', () => {
  test('one-outcome: every call ends in exactly one end record, whatever happens', async () => {
    const tools = [
      probe('read', 'fine'),
      probe('read', 'throws', {
        run: () => {
          throw new Error('bug')
        },
      }),
      probe('read', 'fails', { run: () => toolFailure({ code: 'no', message: 'no' }) }),
      probe('read', 'undefined_value', { run: () => undefined }),
      probe('read', 'cyclic', {
        run: () => {
          const value: Record<string, unknown> = {}
          value.self = value
          return value
        },
      }),
      probe('read', 'throws_nothing', { run: () => Promise.reject(undefined) }),
      probe('read', 'bad_present', { present: () => null }),
      probe('write', 'asked'),
    ]
    const { session, store } = await open(tools.map(({ tool }) => tool))
    const names = [...tools.map(({ tool }) => tool.name), 'unknown']
    const outcomes = []
    for (const name of names) outcomes.push(await session.call({ name, arguments: { n: 1 } }))
    outcomes.push(await session.call({ name: undefined as never }))
    outcomes.push(await session.call(null as never))
    outcomes.push(await session.call({ name: 10n as never, id: Symbol('x') as never }))
    outcomes.push(
      await session.call({
        name: 'fine',
        arguments: new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('trap')
            },
          },
        ),
      }),
    )
    const ends = store.written.filter(({ kind }) => kind === 'end').map(({ callId }) => callId)
    expect(ends).toEqual(outcomes.map(({ meta }) => meta.callId))
    for (const outcome of outcomes) expect(outcome.content.length).toBeGreaterThan(0)
  })

  test('the record tells who asked, what, which rule allowed it and what happened', async () => {
    const { tool } = probe('write')
    const { gate, session, store } = await open([tool], {
      policy: { rules: [{ allow: 'probe', for: { user: 'ana' }, because: 'ana may' }] },
    })
    await session.call({ name: 'probe', arguments: { n: 7 } })
    expect(store.written.at(-1)).toMatchObject({
      kind: 'end',
      body: {
        user: 'ana',
        agent: 'helper',
        tool: 'probe',
        effect: 'write',
        args: { n: 7 },
        ok: true,
        attempts: 1,
        decision: { kind: 'allow', by: 'rule' },
      },
    })
    expect(await gate.records.verify()).toMatchObject({ kind: 'ok', rows: 2 })
  })
})

describe('authors and hosts without types', () => {
  const unreadable = Object.create(null) as object
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  const text = [{ type: 'text', text: 'a' }] as const

  test.each([
    ['a display that is none', () => new ToolResult(1, text, { kind: 'text' } as never)],
    ['a display that is null', () => new ToolResult(1, text, null as never)],
    [
      'content with a getter that throws',
      () =>
        new ToolResult(1, [
          {
            type: 'text',
            get text(): string {
              throw unreadable
            },
          },
        ]),
    ],
    [
      'a resource with a cycle',
      () => new ToolResult(1, [{ type: 'resource', resource: { uri: 'a', cyclic } as never }]),
    ],
    ['a failure without a message', () => toolFailure({ code: 'x' } as never)],
    ['a failure whose content is text', () => toolFailure({ code: 'x', message: 'y', content: 'abc' as never })],
    ['a failure with cyclic details', () => toolFailure({ code: 'x', message: 'y', details: { cyclic } })],
    ['a throw of what cannot be read', () => Promise.reject(unreadable)],
    [
      'a throw of an error whose stack throws',
      () =>
        Promise.reject(
          Object.defineProperty(new Error('x'), 'stack', {
            get: () => {
              throw unreadable
            },
          }),
        ),
    ],
    [
      'a throw of a hostile proxy',
      () =>
        Promise.reject(
          new Proxy(
            {},
            {
              getPrototypeOf: () => {
                throw unreadable
              },
            },
          ),
        ),
    ],
  ])('one-outcome: %s ends in one outcome and one end record', async (_name, run) => {
    const odd = probe('write', 'odd', { run })
    const { session, store, gate } = await open([odd.tool], { policy: { defaults: { write: 'allow' } } })
    gate.on('call-closed', () => {
      throw unreadable
    })
    const outcome = await session.call({ name: 'odd', arguments: { n: 1 } })
    expect(outcome.content.length).toBeGreaterThan(0)
    expect(kinds(store)).toEqual(['intent', 'end'])
    if (!outcome.ok) expect(['tool_crashed', 'tool_error']).toContain(outcome.error.type)
  })

  test('a signal that is none is no signal, and a turn of nonsense still ends every call', async () => {
    const { tool } = probe('read')
    const { session, clock } = await open([tool])
    const outcome = await session.call({ name: 'probe', arguments: { n: 1 }, signal: {} as never })
    await clock.advance(60_000)
    expect(typeOf(outcome)).toBe('ok')
    expect((await session.turn([null as never, { name: 'probe', arguments: { n: 1 } }])).map(typeOf)).toEqual([
      'not_found',
      'ok',
    ])
    await expect(session.turn(5 as never)).rejects.toThrow(TypeError)
  })

  test('no text at all means no arguments', async () => {
    const bare = probe('read', 'bare', { input: { type: 'object' } })
    const { session } = await open([bare.tool, probe('read').tool])
    expect(typeOf(await session.call({ name: 'bare', arguments: '' }))).toBe('ok')
    expect(typeOf(await session.call({ name: 'probe', arguments: ' ' }))).toBe('invalid_args')
  })

  test('a generator that yields without waiting meets its deadline', async () => {
    const gate = await createGate({
      limits: { deadlineMs: 100 },
      tools: [
        probe('read', 'endless', {
          run: async function* () {
            for (;;) yield { message: 'x' }
          },
        }).tool,
      ],
    })
    expect(typeOf(await gate.session().call({ name: 'endless', arguments: { n: 1 } }))).toBe('timeout')
    await gate.close()
  })

  test('an answer without a name, or of another kind, is none', async () => {
    const { tool, runs } = probe('write')
    const { gate, session } = await open([tool])
    const asked = await session.call({ name: 'probe', arguments: { n: 1 } })
    const id = asked.ok ? '' : String(asked.error.details?.approvalId)
    for (const answer of [
      { decision: 'approve' },
      { decision: 'approve', by: 5 },
      { decision: 'yes', by: 'a person' },
    ]) {
      await expect(gate.approvals.decide(id, answer as never)).rejects.toThrow(TypeError)
    }
    expect(typeOf(await session.call({ name: 'probe', arguments: { n: 1 } }))).toBe('approval_required')
    expect(runs).toEqual([])
  })
})

describe('a turn', () => {
  test('call-order: L58: outcomes stand in call order, and one refused or failing call stops no other', async () => {
    const good = probe('read', 'good')
    const { session } = await open([good.tool])
    const outcomes = await session.turn([
      { id: 'a', name: 'good', arguments: { n: 1 } },
      { id: 'b', name: 'unknown', arguments: {} },
      { id: 'c', name: 'good', arguments: { n: 3 } },
    ])
    expect(outcomes.map((outcome) => [outcome.meta.id, typeOf(outcome)])).toEqual([
      ['a', 'ok'],
      ['b', 'not_found'],
      ['c', 'ok'],
    ])
  })

  test('L54: cancelled in the middle, every call still has one outcome', async () => {
    const leave = new AbortController()
    const leaving = probe('read', 'leaving', {
      run: () => {
        leave.abort()
        return new Promise(() => {})
      },
    })
    const { session, store } = await open([leaving.tool])
    const call = (id: string) => ({ id, name: 'leaving', arguments: { n: 1 }, signal: leave.signal })
    const outcomes = await session.turn([call('a'), call('b'), call('c')])
    expect(outcomes.map(typeOf)).toEqual(['cancelled', 'cancelled', 'cancelled'])
    expect(store.written.filter(({ kind }) => kind === 'end')).toHaveLength(3)
  })
})

describe('the gate', () => {
  test('seen-is-callable: what is listed is admitted, what is not listed is refused', async () => {
    const tools = [probe('read', 'a'), probe('read', 'b'), probe('read', 'c', { admit: () => false })]
    const { session } = await open(
      tools.map(({ tool }) => tool),
      { policy: { rules: [{ deny: 'b' }] } },
    )
    const listed = session.tools().map(({ name }) => name)
    expect(listed).toEqual(['a'])
    for (const name of ['a', 'b', 'c']) {
      const outcome = await session.call({ name, arguments: { n: 1 } })
      expect(typeOf(outcome)).toBe(listed.includes(name) ? 'ok' : 'permission_denied')
    }
  })

  test('decide tells what would happen, runs nothing and records nothing', async () => {
    const { tool, runs } = probe('write')
    const { session, store } = await open([tool])
    expect(await session.decide({ name: 'probe', arguments: { n: 1 } })).toMatchObject({
      kind: 'decided',
      decision: { kind: 'ask', by: 'default' },
    })
    expect(await session.decide({ name: 'probe', arguments: { n: 'x' } })).toMatchObject({
      kind: 'refused',
      type: 'invalid_args',
    })
    expect(runs).toEqual([])
    expect(store.written).toEqual([])
  })

  test('closing ends running calls with an outcome each, and refuses what comes after', async () => {
    const hanging = probe('write', 'hanging', { run: () => new Promise(() => {}) })
    const { gate, session, store } = await open([hanging.tool], { policy: { defaults: { write: 'allow' } } })
    const pending = session.call({ name: 'hanging', arguments: { n: 1 } })
    await new Promise((resolve) => setImmediate(resolve))
    await gate.close()
    expect(typeOf(await pending)).toBe('cancelled')
    expect(kinds(store)).toEqual(['intent', 'end'])
    expect(typeOf(await session.call({ name: 'hanging', arguments: { n: 1 } }))).toBe('unavailable')
  })

  test('nothing starts once the gate is closing, and what waited before its tool has not happened', async () => {
    let proceed = (): void => {}
    const waiting = probe('write', 'waiting', {
      resolve: (args: unknown) =>
        new Promise((resolve) => {
          proceed = () => resolve(args)
        }),
    })
    const { gate, session, store } = await open([waiting.tool], { policy: { defaults: { write: 'allow' } } })
    const pending = session.call({ name: 'waiting', arguments: { n: 1 } })
    await new Promise((resolve) => setImmediate(resolve))
    const closed = gate.close()
    proceed()
    const outcome = await pending
    await closed
    expect(outcome).toMatchObject({ ok: false, error: { type: 'cancelled', effect: 'none' } })
    expect(waiting.runs).toEqual([])
    expect(kinds(store)).toEqual(['end'])
  })

  test('seen-is-callable: a tool that is registered again with another admit leaves the listing', async () => {
    const { gate, session } = await open([probe('read', 'probe', { admit: () => true }).tool])
    expect(session.tools()).toHaveLength(1)
    gate.catalogue.register(probe('read', 'probe', { admit: () => false }).tool)
    expect(session.tools()).toHaveLength(0)
  })

  test.each([
    [{ polciy: { rules: [{ deny: 'a' }] } }, 'polciy'],
    [{ limits: { deadlineMS: 5 } }, 'limits.deadlineMS'],
    [{ tools: [{ name: 'x' }] }, 'tools'],
    [{ store: 'sqlite' }, 'store'],
    [{ log: 'x' }, 'log'],
    [null, 'options'],
    [{ limits: { deadlineMs: 0 } }, 'limits.deadlineMs'],
    [{ limits: { resultBytes: 1.5 } }, 'limits.resultBytes'],
    [{ policy: { rules: [{ deny: 'a', allow: 'b' }] } }, 'allow'],
    [{ policy: { defaults: { write: 'maybe' as never } } }, 'write'],
    [{ workspace: '/no/such/folder' }, 'workspace'],
    [{ sources: [new ScriptedSource({ name: 'a b' })] }, 'sources'],
  ])('a configuration that does not hold throws before anything starts: %o', async (options, key) => {
    await expect(createGate(options as GateOptions)).rejects.toThrow(GateConfigError)
    await expect(createGate(options as GateOptions)).rejects.toThrow(key)
  })
})
