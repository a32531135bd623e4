// Rules that change under a gate that runs, and rules that do not fit. Goal: the new rules hold at once for listing, calling,
// running and asking; what does not hold changes nothing and says why. Each refusal has a twin that passes.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type AnyTool, builtinTools, createGate, defineTool, type Gate, type Session } from '../src/index.ts'
import { ScriptedSource } from '../src/testing/scripted-source.ts'
import { newFolder, openGate } from './opened.ts'

const INPUT = { type: 'object', properties: { target: { type: 'string' } }, additionalProperties: false } as const
const tool = (name: string, more: object = {}): AnyTool =>
  defineTool({
    name,
    version: '1.0.0',
    description: `Does ${name}.`,
    input: INPUT,
    effect: 'read',
    run: () => 'ran',
    ...more,
  } as never) as AnyTool

const typeOf = (outcome: { ok: boolean; error?: { type: string } }): string =>
  outcome.ok ? 'ok' : (outcome.error?.type ?? '')
const typeOfCall = async (gate: Gate, name: string, args: object = {}): Promise<string> =>
  typeOf((await gate.session().call({ name, arguments: args })) as never)
/** Without the gate's own. */
const listed = (session: Session): string[] =>
  session
    .tools()
    .map(({ name }) => name)
    .filter((name) => name !== 'read_artifact')
const names = (gate: Gate): string[] => listed(gate.session())
const ALL_ALLOWED = { read: 'allow', write: 'allow', execute: 'allow', external: 'allow' } as const

/** A tool that runs until it is told to go on. */
function slow(effect: 'read' | 'write') {
  let go = (): void => {}
  let begun = (): void => {}
  const started = new Promise<void>((resolve) => (begun = resolve))
  const run = () => {
    begun()
    return new Promise<string>((resolve) => (go = () => resolve('done')))
  }
  return { tool: tool('slow', { effect, run }), started, go: () => go() }
}

describe('reload', () => {
  test('the new rules hold at once for listing and calling, and all are told', async () => {
    const gate = await openGate({ tools: [tool('a'), tool('b')] })
    const session = gate.session()
    const told: string[] = []
    gate.on('policy-changed', ({ version }) => told.push(version))
    expect(listed(session)).toEqual(['a', 'b'])
    const reloaded = await gate.policy.reload({ rules: [{ deny: 'a' }] })
    expect(reloaded).toMatchObject({ kind: 'ok', version: gate.policy.version })
    expect(listed(session)).toEqual(['b'])
    expect(typeOf((await session.call({ name: 'a' })) as never)).toBe('permission_denied')
    expect(typeOf((await session.call({ name: 'b' })) as never)).toBe('ok')
    expect(told).toEqual([gate.policy.version])
    await gate.records.flush()
    const records = await gate.records.query({ limit: 100 })
    expect(records.filter(({ kind }) => kind === 'gate').map(({ body }) => body)).toEqual([
      expect.stringContaining(gate.policy.version),
    ])
    await gate.policy.reload({})
    expect(listed(session)).toEqual(['a', 'b'])
  })

  test('L27: rules that do not hold are not taken, and the last good ones stay', async () => {
    const gate = await openGate({ tools: [tool('a')], policy: { rules: [{ deny: 'a' }] } })
    const { version } = gate.policy
    for (const bad of [
      { rules: [{ denny: 'a' }] },
      { rules: [{ deny: 'a', where: { traget: 'x' } }] },
      'nonsense',
      null,
    ]) {
      const reloaded = await gate.policy.reload(bad as never)
      expect(reloaded).toMatchObject({
        kind: 'kept',
        problems: expect.arrayContaining([expect.objectContaining({ message: expect.any(String) })]),
      })
      expect(gate.policy.version).toBe(version)
      expect(await typeOfCall(gate, 'a')).toBe('permission_denied')
    }
  })

  test('honest-effect: a running call that would now be denied ends as such, and one that would not runs on', async () => {
    for (const [effect, said] of [
      ['write', 'unknown'],
      ['read', 'none'],
    ] as const) {
      const running = slow(effect)
      const gate = await openGate({ tools: [running.tool], policy: { defaults: ALL_ALLOWED } })
      const outcome = gate.session().call({ name: 'slow' })
      await running.started
      await gate.policy.reload({ defaults: ALL_ALLOWED, rules: [{ deny: 'slow', where: { target: 'x' } }] })
      await gate.policy.reload({ defaults: ALL_ALLOWED, rules: [{ deny: 'slow', because: 'it is late' }] })
      expect(await outcome).toMatchObject({ ok: false, error: { type: 'permission_denied', effect: said } })
      expect((await outcome).meta).toMatchObject({ attempts: 1, decision: { kind: 'deny', rule: expect.any(String) } })
      running.go()
    }
    const running = slow('write')
    const gate = await openGate({ tools: [running.tool], policy: { defaults: ALL_ALLOWED } })
    const outcome = gate.session().call({ name: 'slow' })
    await running.started
    await gate.policy.reload({ defaults: ALL_ALLOWED, rules: [{ deny: 'slow', where: { target: 'x' } }] })
    running.go()
    expect(await outcome).toMatchObject({ ok: true, value: 'done' })
  })

  test('a running tool that asks what it may touch is answered by the new rules', async () => {
    const answers: boolean[] = []
    let go = (): void => {}
    let begun = (): void => {}
    const started = new Promise<void>((resolve) => (begun = resolve))
    const walker = tool('walker', {
      run: async (_args: object, context: { mayTouch: (resource: string) => boolean }) => {
        answers.push(context.mayTouch('read item:secret'))
        begun()
        await new Promise<void>((resolve) => (go = resolve))
        answers.push(context.mayTouch('read item:secret'), context.mayTouch('read item:open'))
        return 'walked'
      },
    })
    const gate = await openGate({ tools: [walker] })
    const outcome = gate.session().call({ name: 'walker' })
    await started
    await gate.policy.reload({ rules: [{ deny: { resource: 'read item:secret' } }] })
    go()
    expect(typeOf((await outcome) as never)).toBe('ok')
    expect(answers).toEqual([true, false, true])
  })

  test('an answer that was given under other rules is worth nothing', async () => {
    const gate = await openGate({ tools: [tool('w', { effect: 'write' })] })
    const call = () => gate.session().call({ name: 'w', arguments: {} })
    const asked = await call()
    if (asked.ok) throw new Error('expected an ask')
    const id = String(asked.error.details?.approvalId)
    await gate.approvals.decide(id, { decision: 'approve', by: 'ana' })
    await gate.policy.reload({ rules: [{ ask: 'other' }] })
    const again = await call()
    expect(again).toMatchObject({ ok: false, error: { type: 'approval_required' } })
    if (!again.ok) expect(again.error.details?.approvalId).not.toBe(id)
    await gate.policy.reload({})
    expect(await call()).toMatchObject({ ok: true, meta: { approval: id } })
  })

  test('a definition that was registered again never serves an answer that was given for the one before', async () => {
    const gate = await openGate({ tools: [tool('w', { effect: 'write' })] })
    const asked = await gate.session().call({ name: 'w', arguments: {} })
    if (asked.ok) throw new Error('expected an ask')
    const approval = String(asked.error.details?.approvalId)
    await gate.approvals.decide(approval, { decision: 'approve', by: 'ana' })
    gate.catalogue.register(tool('w', { effect: 'write', description: 'Does something else.' }))
    expect(await typeOfCall(gate, 'w')).toBe('approval_required')
    const named = await gate.session().call({ name: 'w', arguments: {}, approval })
    expect(named).toMatchObject({ ok: false, error: { type: expect.stringMatching(/^approval_/), effect: 'none' } })
  })
})

describe('rules and the tools that are there', () => {
  test('G15: a rule about an argument that a tool cannot have keeps the gate from starting', async () => {
    const rules = [{ deny: 'a', where: { traget: 'x' } }]
    await expect(createGate({ tools: [tool('a')], policy: { rules } })).rejects.toThrow(
      /`traget`.*did you mean `target`/s,
    )
    expect(
      names(await openGate({ tools: [tool('a')], policy: { rules: [{ deny: 'a', where: { target: 'x' } }] } })),
    ).toEqual(['a'])
  })

  test('G15: a tool that appears later and does not fit is held, alone, with the rule; it is there once the rules fit', async () => {
    const source = new ScriptedSource({ name: 'late', tools: [] })
    const gate = await openGate({
      tools: [tool('b')],
      sources: [source],
      policy: { rules: [{ deny: 'a', where: { traget: 'x' } }] },
    })
    await gate.settled()
    source.offer([tool('a'), tool('c')])
    expect(names(gate)).toEqual(['b', 'c'])
    expect(await typeOfCall(gate, 'a')).toBe('unavailable')
    expect(gate.catalogue.rows().find(({ name }) => name === 'a')?.state).toMatchObject({
      kind: 'held',
      reason: expect.stringContaining('traget'),
    })
    expect(await gate.policy.reload({ rules: [{ deny: 'a', where: { target: 'x' } }] })).toMatchObject({ kind: 'ok' })
    expect(names(gate)).toEqual(['a', 'b', 'c'])
    expect(await typeOfCall(gate, 'a', { target: 'x' })).toBe('permission_denied')
    expect(await typeOfCall(gate, 'a', { target: 'y' })).toBe('ok')
  })
})

describe('what is judged is what runs', () => {
  test('L03: what `resolve` makes of the arguments is judged again, and a denied form does not run', async () => {
    const ran: unknown[] = []
    const rewriting = tool('open', {
      resolve: ({ target }: { target: string }) => ({ target: target.replace('alias', 'secret') }),
      run: (args: object) => {
        ran.push(args)
        return 'ran'
      },
    })
    const gate = await openGate({
      tools: [rewriting],
      policy: { rules: [{ deny: 'open', where: { target: 'secret*' } }] },
    })
    expect(await typeOfCall(gate, 'open', { target: 'alias-1' })).toBe('permission_denied')
    expect(ran).toEqual([])
    expect(await typeOfCall(gate, 'open', { target: 'other' })).toBe('ok')
    expect(ran).toEqual([{ target: 'other' }])
  })

  test('L03: what `resolve` makes of the arguments passes the schema again, or nothing runs', async () => {
    const ran: unknown[] = []
    const run = (args: object) => {
      ran.push(args)
      return 'ran'
    }
    const made = [{ target: 5 }, { target: 'a', more: 1 }, [], 'a']
    const gate = await openGate({
      tools: [
        ...made.map((answer, index) => tool(`r${index}`, { resolve: () => answer, run })),
        tool('open', { resolve: ({ target }: { target: string }) => ({ target: `${target}/` }), run }),
      ],
    })
    for (const index of made.keys()) expect(await typeOfCall(gate, `r${index}`, { target: 'a' })).toBe('tool_crashed')
    expect(ran).toEqual([])
    expect(await typeOfCall(gate, 'open', { target: 'a' })).toBe('ok')
    expect(ran).toEqual([{ target: 'a/' }])
  })

  test('L01: no hook of a tool, no answer of a person and no rule of a conversation outdoes a deny', async () => {
    const ran: unknown[] = []
    const hooks = { admit: () => true, check: () => undefined, resolve: (args: object) => args }
    const yes = { ...hooks, effect: 'write', run: () => ran.push('ran') }
    const gate = await openGate({
      tools: [tool('denied', yes), tool('asked', yes)],
      policy: {
        rules: [
          { allow: '*', for: { agent: 'lead' } },
          { deny: 'denied', where: { target: 'x' } },
        ],
      },
      approvals: { onRequest: async () => ({ decision: 'approve', by: 'ana' }) },
    })
    const args = { target: 'x' }
    for (const session of [gate.session({ agent: 'lead' }), gate.session({ rules: [{ allow: 'denied' }] })])
      expect(typeOf((await session.call({ name: 'denied', arguments: args })) as never)).toBe('permission_denied')
    expect(ran).toEqual([])
    expect(await typeOfCall(gate, 'asked', args)).toBe('ok')
    expect(ran).toEqual(['ran'])
  })

  test('L07, L28: an effect that cannot be told is the heaviest, and one that is heavier than announced is believed', async () => {
    const policy = { defaults: { read: 'allow', write: 'allow', execute: 'ask' } } as const
    const effects: readonly (readonly [most: string, of: () => unknown, end: string])[] = [
      ['execute', () => 'read', 'ok'],
      ['execute', () => 'write', 'ok'],
      ['execute', () => 'reads', 'approval_required'],
      ['execute', () => undefined, 'approval_required'],
      [
        'execute',
        () => {
          throw new Error('too long to be read')
        },
        'approval_required',
      ],
      ['read', () => 'execute', 'approval_required'],
      ['write', () => 'destructive', 'permission_denied'],
    ]
    const gate = await openGate({
      tools: effects.map(([most, of], index) => tool(`e${index}`, { effect: { most, of } })),
      policy,
    })
    const ends = await Promise.all(effects.map((_, index) => typeOfCall(gate, `e${index}`)))
    expect(ends).toEqual(effects.map(([, , end]) => end))
  })

  test('L06, L10: of a call that does several things each has to be allowed, and one that is denied denies all', async () => {
    const ran: unknown[] = []
    const compound = tool('run', {
      effect: 'execute',
      touches: ({ target }: { target: string }) => target.split(' && ').map((part) => `execute program:${part}`),
      run: (args: object) => ran.push(args),
    })
    const allowed = { allow: { resource: ['execute program:true', 'execute program:cat'] } } as const
    const policy = { rules: [allowed, { deny: { resource: 'execute program:rm' } }] }
    const gate = await openGate({ tools: [compound], policy })
    for (const [target, end] of [
      ['true && wc', 'approval_required'],
      ['wc && true', 'approval_required'],
      ['true && rm', 'permission_denied'],
      ['rm && wc && true', 'permission_denied'],
    ] as const)
      expect([target, await typeOfCall(gate, 'run', { target })]).toEqual([target, end])
    expect(ran).toEqual([])
    expect(await typeOfCall(gate, 'run', { target: 'true && cat' })).toBe('ok')
    expect(ran).toHaveLength(1)
  })

  test('L26: whoever answers for a person lifts no ceiling: not a step, a task, a place or a default that denies', async () => {
    const ran: unknown[] = []
    let asked = 0
    const policy = { steps: { review: { effects: ['read'] } }, rules: [{ ask: 'far', place: 'upstream' }] } as const
    const gate = await openGate({
      tools: ['change', 'far'].map((name) => tool(name, { effect: 'write', run: () => ran.push(name) })),
      policy,
      approvals: {
        onRequest: async () => {
          asked += 1
          return { decision: 'approve', by: 'reviewer', scope: 'session' }
        },
      },
    })
    const calls = [
      gate.session({ step: 'review' }).call({ name: 'change' }),
      gate.session({ task: { name: 'review', allow: [] } }).call({ name: 'change' }),
      gate.session().call({ name: 'far' }),
    ]
    for (const call of calls) expect(typeOf((await call) as never)).toBe('permission_denied')
    await gate.policy.reload({ ...policy, defaults: { write: 'deny' } })
    expect(await typeOfCall(gate, 'change')).toBe('permission_denied')
    expect([ran, asked]).toEqual([[], 0])
    await gate.policy.reload(policy)
    expect(await typeOfCall(gate, 'change')).toBe('ok')
    expect([ran, asked]).toEqual([['change'], 1])
  })

  test('L22: the very text that was judged is what the tool gets; nothing is expanded or spelt anew after that', async () => {
    const ran: unknown[] = []
    const run = (args: object) => {
      ran.push(args)
      expect(Object.isFrozen(args)).toBe(true)
      return 'ran'
    }
    const gate = await openGate({
      tools: [tool('cat', { run })],
      policy: { rules: [{ deny: 'cat', where: { target: '/**' } }] },
    })
    const given = { target: '$HOME/.ssh/x' }
    const outcome = gate.session().call({ name: 'cat', arguments: given })
    given.target = '/etc/passwd'
    expect(typeOf((await outcome) as never)).toBe('ok')
    expect(await typeOfCall(gate, 'cat', { target: '/etc/passwd' })).toBe('permission_denied')
    expect(ran).toEqual([{ target: '$HOME/.ssh/x' }])
  })

  test('L39: a hook that throws, answers nothing, answers late or answers something else is no', async () => {
    const hooks: readonly ((...args: never[]) => unknown)[] = [
      () => {
        throw new Error('exit 1')
      },
      () => undefined,
      () => Promise.resolve(true),
      () => 'yes',
      () => 1,
      () => false,
    ]
    const gate = await openGate({
      tools: [...hooks.map((admit, index) => tool(`h${index}`, { admit })), tool('open', { admit: () => true })],
    })
    expect(names(gate)).toEqual(['open'])
    for (const index of hooks.keys()) expect(await typeOfCall(gate, `h${index}`)).toBe('permission_denied')
    expect(await typeOfCall(gate, 'open')).toBe('ok')
  })

  test('L42: the hook of a tool is asked whatever door the call comes through, and its no is no everywhere', async () => {
    const asked: string[] = []
    const hooked = tool('hooked', {
      admit: (caller: { agent: string }) => {
        asked.push(caller.agent)
        return false
      },
    })
    const gate = await openGate({ tools: [hooked] })
    for (const entrance of ['library', 'mcp', 'admin', 'cli'] as const) {
      asked.splice(0)
      const session = gate.session({ agent: entrance }, entrance)
      expect(listed(session)).toEqual([])
      expect(typeOf((await session.call({ name: 'hooked' })) as never)).toBe('permission_denied')
      expect(asked).toContain(entrance)
    }
  })
})

describe('files', () => {
  test('own-files: what is protected later is out of reach of tools at once', async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'ws'))
    writeFileSync(join(folder, 'ws', 'rules.yaml'), 'rules: []')
    const gate = await openGate({ workspace: join(folder, 'ws'), sources: [builtinTools(['files'])] })
    expect(await typeOfCall(gate, 'read_file', { path: 'rules.yaml' })).toBe('ok')
    gate.protect([join(folder, 'ws', 'rules.yaml')])
    expect(await typeOfCall(gate, 'read_file', { path: 'rules.yaml' })).toBe('unsafe_args')
  })
})
