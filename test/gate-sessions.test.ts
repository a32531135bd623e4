// What a session may see and do beyond the rules of the gate: steps, children, rules of its own, layers, activation, and a
// profile that hides what it denies. Goal: a child never has more than its parent, and what is hidden looks like nothing.

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type AnyTool, createGate, defineTool, type Session, type Source } from '../src/index.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { ScriptedSource } from '../src/testing/scripted-source.ts'
import { newFolder, openGate } from './opened.ts'

const tool = (name: string, effect = 'read', more: object = {}): AnyTool =>
  defineTool({
    name,
    version: '1.0.0',
    description: `Does ${name}.`,
    input: { type: 'object', properties: { target: { type: 'string' } }, additionalProperties: false },
    effect,
    run: () => 'ran',
    ...more,
  } as never) as AnyTool

/** Without the gate's own. */
const names = (session: Session): string[] =>
  session
    .tools()
    .map(({ name }) => name)
    .filter((name) => name !== 'read_artifact')
async function ends(session: Session, name: string, args: object = {}): Promise<string> {
  const outcome = await session.call({ name, arguments: args })
  return outcome.ok ? 'ok' : outcome.error.type
}
const ALLOWED = { read: 'allow', write: 'allow', execute: 'allow', external: 'allow' } as const
const TOOLS = [tool('git_log'), tool('look'), tool('git_push', 'external'), tool('change', 'write')]

describe('conversations without a name', () => {
  test('share neither what a person answered for a session nor what goes in circles', async () => {
    const repeats = { warn: 2, refuse: 3, paceMs: 0 }
    const gate = await openGate({ tools: TOOLS, limits: { repeats } })
    const [one, other] = [gate.session({ user: 'ana' }), gate.session({ user: 'ana' })]
    expect(one.caller.session).not.toBe(other.caller.session)
    expect(await ends(one, 'change')).toBe('approval_required')
    const [row] = await gate.approvals.list({ state: 'open' })
    await gate.approvals.decide(row?.id ?? '', { decision: 'approve', by: 'boss', scope: 'session' })
    expect([await ends(one, 'change'), await ends(one, 'change', { target: 'x' })]).toEqual(['ok', 'ok'])
    expect(await ends(other, 'change', { target: 'y' })).toBe('approval_required')
    for (let conversation = 0; conversation < 5; conversation += 1)
      expect(await ends(gate.session({ user: 'bo' }), 'look')).toBe('ok')
    const named = () => gate.session({ user: 'bo', session: 'web' })
    expect([await ends(named(), 'look'), await ends(named(), 'look'), await ends(named(), 'look')]).toEqual([
      'ok',
      'ok',
      'permission_denied',
    ])
  })
})

describe('steps', () => {
  const policy = {
    defaults: ALLOWED,
    groups: { repo: ['git_*'] },
    steps: { analyse: { effects: ['read'] }, publish: { groups: ['repo'], effects: ['external'] }, nothing: {} },
  } as const

  test('a session at a step sees and calls what the step may use, and the one before it is as it was', async () => {
    const gate = await openGate({ tools: TOOLS, policy })
    const session = gate.session()
    expect(names(session)).toEqual(['change', 'git_log', 'git_push', 'look'])
    const analysing = session.atStep('analyse')
    expect(names(analysing)).toEqual(['git_log', 'look'])
    expect(await ends(analysing, 'look')).toBe('ok')
    expect(await ends(analysing, 'change')).toBe('permission_denied')
    expect(names(analysing.atStep('publish'))).toEqual(['git_push'])
    expect(names(session)).toHaveLength(4)
  })

  test('closed: a step that nobody knows, or that names nothing, sees and calls nothing', async () => {
    const gate = await openGate({ tools: TOOLS, policy })
    for (const step of ['nothing', 'analyze', 'constructor', '__proto__']) {
      const session = gate.session().atStep(step)
      expect(names(session)).toEqual([])
      expect(await ends(session, 'look')).toBe('permission_denied')
    }
    expect(() => gate.session().atStep('')).toThrow(/step/)
    expect(() => gate.session().atStep(7 as never)).toThrow(/step/)
  })
})

describe('children', () => {
  test('L19, child-within-parent: what the parent may not do, its child may not, through rules, task and step', async () => {
    const gate = await openGate({
      tools: TOOLS,
      policy: {
        defaults: ALLOWED,
        rules: [{ deny: 'look', for: { agent: 'lead' }, where: { target: '.env' } }],
        steps: { analyse: { effects: ['read'] }, change: { effects: ['read', 'write'] } },
      },
    })
    const parent = gate.session({ agent: 'lead', task: { name: 'triage', allow: ['look', 'change'] } })
    const child = parent.child({ agent: 'reviewer', task: { name: 'review', allow: ['*'] } })
    expect(child.caller).toMatchObject({ agent: 'reviewer', parent: { agent: 'lead' } })
    expect(await ends(child, 'look', { target: '.env' })).toBe('permission_denied')
    expect(await ends(child, 'look', { target: 'README' })).toBe('ok')
    expect(names(child)).toEqual(['change', 'look'])
    expect(await ends(child, 'git_log')).toBe('permission_denied')
    const atStep = parent.atStep('analyse').child({ step: 'change' })
    expect(names(atStep)).toEqual(['look'])
    expect(await ends(atStep.atStep('change'), 'change')).toBe('permission_denied')
    expect(await ends(gate.session({ agent: 'reviewer' }), 'look', { target: '.env' })).toBe('ok')
  })

  test('child-within-parent: roles and layers can only be fewer; what is left out is the parent’s', async () => {
    const gate = await openGate({ tools: TOOLS })
    const parent = gate.session({ roles: ['dev', 'ops'], layers: ['user', 'builtin'] })
    expect(parent.child({}).caller).toMatchObject({ roles: ['dev', 'ops'], layers: ['user', 'builtin'] })
    expect(parent.child({ roles: ['dev'] }).caller.roles).toEqual(['dev'])
    expect(parent.child({ layers: ['user'] }).child({}).caller.layers).toEqual(['user'])
    for (const more of [
      { roles: ['admin'] },
      { layers: ['system'] },
      { tenant: 'other' },
      { user: 'root' },
      { parent: {} },
      null,
    ])
      expect(() => parent.child(more as never)).toThrow(/GateConfigError|child/)
    expect(() => parent.child({ roles: ['dev'] }).child({ roles: ['ops'] })).toThrow(/roles/)
    expect(() => gate.session({ parent: parent.caller } as never)).toThrow(/parent/)
  })

  test('under the profile `platform` a child has no role but those that it is given', async () => {
    const gate = await openGate({
      tools: TOOLS,
      policy: { profile: 'platform', rules: [{ allow: 'look', for: { role: 'dev' } }] },
    })
    const parent = gate.session({ roles: ['dev'] })
    expect(names(parent)).toEqual(['look'])
    expect(names(parent.child({}))).toEqual([])
    expect(names(parent.child({ roles: ['dev'] }))).toEqual(['look'])
  })

  test('records name the parent', async () => {
    const gate = await openGate({ tools: TOOLS })
    await gate.session({ agent: 'lead' }).child({ agent: 'helper' }).call({ name: 'look' })
    await gate.records.flush()
    const [end] = await gate.records.query({ limit: 10, newestFirst: true })
    expect(end?.body).toMatch(/helper.*lead|lead.*helper/)
  })

  test('callers that work for each other without end are refused', async () => {
    const gate = await openGate({ tools: TOOLS })
    let session = gate.session()
    expect(() => {
      for (let depth = 0; depth < 100; depth++) session = session.child({}) as never
    }).toThrow(/work for each other/)
  })
})

describe('rules of a session', () => {
  test('hold for it and its children at every step, together with all others, and for nobody else', async () => {
    const gate = await openGate({
      tools: TOOLS,
      policy: { defaults: ALLOWED, steps: { all: { effects: ['read', 'write'] } } },
    })
    const session = gate.session({ rules: [{ deny: 'change', where: { target: 'x' } }, { deny: 'git_log' }] })
    for (const one of [
      session,
      session.child({ agent: 'sub' }),
      session.atStep('all'),
      session.child({}).atStep('all'),
    ]) {
      expect(names(one)).not.toContain('git_log')
      expect(await ends(one, 'git_log')).toBe('permission_denied')
      expect(await ends(one, 'change', { target: 'x' })).toBe('permission_denied')
      expect(await ends(one, 'change', { target: 'y' })).toBe('ok')
    }
    expect(await ends(gate.session(), 'change', { target: 'x' })).toBe('ok')
    await gate.policy.reload({ defaults: ALLOWED, rules: [{ deny: 'look' }] })
    expect(names(session)).toEqual(['change', 'git_push'])
    expect(await ends(session, 'change', { target: 'x' })).toBe('permission_denied')
  })

  test('child-within-parent: an allow that only the child has opens nothing that its parent would be asked or denied', async () => {
    const gate = await openGate({ tools: TOOLS, policy: { rules: [{ deny: 'git_log' }] } })
    const parent = gate.session()
    const child = parent.child({ rules: [{ allow: 'change' }, { allow: 'git_log' }] })
    expect(await ends(child, 'change')).toBe('approval_required')
    expect(await ends(child, 'git_log')).toBe('permission_denied')
    expect(await ends(gate.session({ rules: [{ allow: 'change' }] }), 'change')).toBe('ok')
    const drops = { tools: [tool('drop', 'destructive')] }
    const other = await openGate(drops)
    expect(names(other.session().child({ rules: [{ allow: 'drop' }] }))).toEqual([])
    expect(names(other.session({ rules: [{ allow: 'drop' }] }))).toEqual(['drop'])
  })

  test('child-within-parent: a grant of the one that a child is does not answer for another one that it works for', async () => {
    const gate = await openGate({ tools: [tool('look')], policy: { rules: [{ ask: 'look' }] } })
    const helper = gate.session({ agent: 'helper', session: 's1' })
    const asked = await helper.call({ name: 'look', arguments: { target: 'x' } })
    const id = asked.ok ? '' : String(asked.error.details?.approvalId)
    await gate.approvals.decide(id, { decision: 'approve', by: 'boss', scope: 'pattern' })
    for (let times = 0; times < 2; times += 1) expect(await ends(helper, 'look', { target: 'x' })).toBe('ok')
    expect(await ends(helper.child({ session: 's2' }), 'look', { target: 'x' })).toBe('ok')
    const other = gate.session({ agent: 'other', session: 's1' })
    expect(await ends(other, 'look', { target: 'x' })).toBe('approval_required')
    for (const rules of [[], [{ deny: 'nothing' }]])
      expect(await ends(other.child({ agent: 'helper', rules }), 'look', { target: 'x' })).toBe('approval_required')
  })

  test('rules that do not hold, or do not fit a tool, make no session', async () => {
    const gate = await openGate({ tools: TOOLS })
    expect(() => gate.session({ rules: [{ denny: 'look' } as never] })).toThrow(/denny/)
    expect(() => gate.session({ rules: [{ deny: 'look', where: { traget: 'x' } }] })).toThrow(/traget/)
    expect(() => gate.session().child({ rules: 'none' as never })).toThrow()
  })

  test('what the host does with its list afterwards changes nothing, also when the gate takes other rules', async () => {
    const gate = await openGate({ tools: TOOLS })
    const rule = { deny: 'look' }
    const session = gate.session({ rules: [rule] })
    rule.deny = 'nothing'
    await gate.policy.reload({ defaults: { write: 'deny' } })
    expect(await ends(session, 'look')).toBe('permission_denied')
    expect(await ends(session, 'git_log')).toBe('ok')
  })

  test('closed: a session whose rules do not hold under new rules of the gate calls nothing', async () => {
    const gate = await openGate({ tools: TOOLS, policy: { groups: { repo: ['git_*'] } } })
    const session = gate.session({ rules: [{ deny: { group: 'repo' } }] })
    expect(names(session)).toEqual(['change', 'look'])
    await gate.policy.reload({})
    expect(names(session)).toEqual([])
    expect(await ends(session, 'look')).toBe('permission_denied')
    expect(names(gate.session())).toHaveLength(4)
  })
})

const withActivation = (source: ScriptedSource, activation: Source['activation']): Source => ({
  name: source.name,
  layer: source.layer,
  identity: source.identity,
  foreign: source.foreign,
  ...(activation === undefined ? {} : { activation }),
  start: (host) => source.start(host),
  close: () => source.close(),
})

describe('layers and activation', () => {
  test('a tool whose layer is not in force is not listed, and missing in the same words as one that never was', async () => {
    const gate = await openGate({
      tools: [tool('mine')],
      sources: [new ScriptedSource({ name: 'far', layer: 'domain', tools: [tool('theirs')] })],
    })
    const all = gate.session()
    expect(names(all)).toEqual(['mine', 'theirs'])
    const session = gate.session({ layers: ['domain'] })
    expect(names(session)).toEqual(['theirs'])
    const [hidden, missing] = [await session.call({ name: 'mine' }), await session.call({ name: 'nobody' })]
    expect(publicPart(hidden)).toEqual({ ...publicPart(missing), meta: expect.anything() })
    expect(names(gate.session({ layers: [] }))).toEqual([])
    expect(() => gate.session({ layers: ['stronger'] as never })).toThrow(/layers/)
  })

  test('a family of an admin is there only for an admin; a child without the role does not see it', async () => {
    const source = withActivation(new ScriptedSource({ name: 'db', tools: [tool('drop')] }), { roles: ['admin'] })
    const gate = await openGate({ sources: [source] })
    expect(names(gate.session())).toEqual([])
    expect(await ends(gate.session(), 'drop')).toBe('not_found')
    const admin = gate.session({ roles: ['admin'] })
    expect(names(admin)).toEqual(['drop'])
    expect(await ends(admin, 'drop')).toBe('ok')
    expect(await ends(admin.child({ roles: [] }), 'drop')).toBe('not_found')
  })

  test('a family of a repository is there while the workspace is one', async () => {
    const folder = newFolder()
    const clock = new FakeClock()
    const source = withActivation(new ScriptedSource({ name: 'git', tools: [tool('log')] }), {
      workspace: ['.hg', '.git'],
    })
    const gate = await openGate({ workspace: folder, sources: [source], clock })
    const session = gate.session()
    expect(names(session)).toEqual([])
    expect(await ends(session, 'log')).toBe('not_found')
    mkdirSync(join(folder, '.git'))
    await clock.advance(5_000)
    expect(names(session)).toEqual(['log'])
    expect(await ends(session, 'log')).toBe('ok')
    rmSync(join(folder, '.git'), { recursive: true })
    await clock.advance(5_000)
    expect(names(session)).toEqual([])
  })

  test('closed: an activation that says nothing or looks outside the workspace is refused', async () => {
    for (const activation of [{}, { workspace: ['../.git'] }, { workspace: ['/etc'] }, { roles: [''] }]) {
      const source = withActivation(new ScriptedSource({ name: 'git', tools: [] }), activation)
      await expect(createGate({ sources: [source] })).rejects.toThrow(/activation/)
    }
  })
})

/** What anybody but the operator gets of an outcome. */
const publicPart = (outcome: Awaited<ReturnType<Session['call']>>) => {
  if (outcome.ok) throw new Error('expected a failure')
  const { help: _, ...error } = outcome.error
  const { callId: __, runId: ___, tool: ____, ...meta } = outcome.meta
  return { error, content: outcome.content, meta }
}

describe('what is denied', () => {
  test('L68, G34: a source that is denied is in no listing, whoever lists; it is still said to be denied', async () => {
    const far = new ScriptedSource({ name: 'far', tools: [tool('one'), tool('two')] })
    const gate = await openGate({
      tools: [tool('mine')],
      sources: [far],
      policy: { rules: [{ deny: { source: 'far' } }] },
    })
    for (const entrance of ['library', 'mcp', 'admin', 'cli'] as const)
      expect(names(gate.session({}, entrance) as Session)).toEqual(['mine'])
    expect(await ends(gate.session(), 'one')).toBe('permission_denied')
    far.offer([tool('one'), tool('three')])
    expect(names(gate.session())).toEqual(['mine'])
  })

  test('G23: under `platform` what was never granted looks like nothing, by name as by definition, held or not', async () => {
    const secret = tool('secret')
    const gate = await openGate({
      tools: [secret, tool('look')],
      sources: [
        new ScriptedSource({
          name: 'far',
          tools: [tool('broken', 'read', { input: { type: 'object', properties: { a: { $ref: '#/x' } } } })],
        }),
      ],
      policy: { profile: 'platform', rules: [{ allow: 'look' }, { deny: 'look', where: { target: 'x' } }] },
    })
    const session = gate.session()
    expect(names(session)).toEqual(['look'])
    const missing = publicPart(await session.call({ name: 'nobody', arguments: {} }))
    expect(missing.error.type).toBe('not_found')
    expect(publicPart(await session.call({ name: 'secret', arguments: {} }))).toEqual(missing)
    expect(publicPart(await session.call(secret, {} as never))).toEqual(missing)
    expect(publicPart(await session.call({ name: 'broken', arguments: {} }))).toEqual(missing)
    expect(await session.decide({ name: 'secret' })).toEqual(await session.decide({ name: 'nobody' }))
    const denied = await session.call({ name: 'secret' })
    expect(denied.ok ? '' : denied.error.help).toContain('secret')
    expect(await ends(session, 'look', { target: 'x' })).toBe('permission_denied')
    expect(await ends(session, 'look', { target: 'y' })).toBe('ok')
    const held = await openGate({ tools: [secret], policy: { profile: 'platform', groups: { some: ['look'] } } })
    const own = held.session({ rules: [{ deny: { group: 'some' } }] })
    await held.policy.reload({ profile: 'platform' })
    expect(publicPart(await own.call({ name: 'secret', arguments: {} }))).toEqual(missing)
    const said = await openGate({ tools: [secret], policy: { profile: 'strict', rules: [{ deny: 'secret' }] } })
    expect(await ends(said.session(), 'secret')).toBe('permission_denied')
  })

  test('G19: names match exactly: no other case, no look-alike and no space makes it another tool', async () => {
    const gate = await openGate({ tools: [tool('look')], policy: { rules: [{ deny: 'look' }] } })
    for (const name of ['look', 'Look', 'LOOK', ' look', 'look ', 'lооk', 'look\u200b'])
      expect(['permission_denied', 'not_found']).toContain(await ends(gate.session(), name))
    const open_ = await openGate({ tools: [tool('look')] })
    expect(await ends(open_.session(), 'look')).toBe('ok')
    expect(await ends(open_.session(), 'Look')).toBe('not_found')
  })

  test('L14: an empty list of a task allows nothing; a task without a list narrows nothing', async () => {
    const gate = await openGate({ tools: TOOLS })
    expect(names(gate.session({ task: { name: 't', allow: [] } }))).toEqual([])
    expect(await ends(gate.session({ task: { name: 't', allow: [] } }), 'look')).toBe('permission_denied')
    expect(names(gate.session({ task: { name: 't' } }))).toHaveLength(4)
    expect(await ends(gate.session({ task: { name: 't' } }), 'look')).toBe('ok')
  })

  test('`explain view` says of every tool whether it is seen, and why', async () => {
    const gate = await openGate({
      tools: TOOLS,
      policy: { rules: [{ deny: 'look', because: 'not here' }], steps: { analyse: { effects: ['read'] } } },
    })
    const rows = gate.policy.view({ step: 'analyse', layers: ['user'] })
    expect(rows.filter(({ seen }) => seen).map((row) => row.tool)).toEqual(['git_log'])
    expect(rows.find((row) => row.tool === 'look')?.why).toContain('deny look')
    expect(rows.find((row) => row.tool === 'change')?.why).toMatch(/step/)
    for (const { why } of rows) expect(why).not.toBe('')
  })
})
