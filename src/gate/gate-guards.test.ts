// Goal: guards, places and rates of a whole gate: what does not hold is refused when it is made, what holds is kept and can
// be looked at. Method: gates with tools of the test's own; a machine that the test describes.

import { tmpdir } from 'node:os'
import { afterEach, describe, expect, test } from 'vitest'
import { defineTool } from '../describe/define-tool.ts'
import type { Entry } from '../describe/entry.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import { toolFailure } from '../describe/tool-failure.ts'
import { createGate } from '../gate.ts'
import type { Gate, GateOptions } from '../gate-contract.ts'
import type { MachineAbilities } from '../machine/abilities.ts'
import { builtinTools } from '../sources/builtin/builtin-tools.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { checkGuardFit } from './gate-guards.ts'

const gates: Gate[] = []
afterEach(async () => {
  await Promise.all(gates.splice(0).map((gate) => gate.close()))
})

const tool = (name: string, more: object = {}) =>
  defineTool({
    ...{ name, version: '1.0.0', description: 'A tool for tests.', input: { type: 'object' }, effect: 'read' },
    run: () => name,
    ...more,
  } as never)

async function open(options: GateOptions): Promise<Gate> {
  const gate = await createGate({ policy: { defaults: { write: 'allow' } }, artifacts: false, ...options })
  gates.push(gate)
  return gate
}

async function problemsOf(options: object): Promise<string> {
  try {
    await open(options as GateOptions)
  } catch (error) {
    if (error instanceof GateConfigError) return error.message
    throw error
  }
  return ''
}

describe('a gate is not made with guards that do not hold', () => {
  test('an unsafe order, an unknown guard, a bound past the deadline', async () => {
    const FOR = { tool: '*' }
    expect(await problemsOf({ guards: 'retry' })).toContain('`guards`: expected a list of guards')
    expect(await problemsOf({ guards: [{ guard: 'settle', for: FOR }] })).toContain('`guards[0]`')
    expect(
      await problemsOf({
        guards: [
          { guard: 'attempt', ms: 50, for: FOR },
          { guard: 'retry', times: 1, for: FOR },
        ],
      }),
    ).toContain('must stand outside `attempt`')
    const attempt = [{ guard: 'attempt', ms: 500, for: FOR }]
    expect(await problemsOf({ guards: attempt, limits: { deadlineMs: 500 } })).toContain('never comes before')
    expect(await problemsOf({ guards: attempt, limits: { deadlineMs: 501 } })).toBe('')
  })

  test('retry of a tool that must never be repeated', async () => {
    const guards = [{ guard: 'retry', times: 1, for: { tool: 'send_*' } }]
    const tools = [tool('send_mail', { effect: 'write', repeat: 'never' })]
    expect(await problemsOf({ guards, tools })).toContain('`retry` of `send_mail`, which must never be repeated')
    expect(await problemsOf({ guards, tools: [tool('send_mail', { effect: 'write', repeat: 'keyed' })] })).toBe('')
  })

  test('a guard of a family stands before its tools and before no others', async () => {
    const seen: string[] = []
    const watch = (family: string) => ({
      ...{ guard: 'own', for: { family }, name: `of-${family.length}`, bounds: 'notes what passes', at: 'call' },
      run: (call: { readonly tool: string }, next: () => Promise<unknown>) => {
        seen.push(`${family}: ${call.tool}`)
        return next()
      },
    })
    const gate = await open({
      guards: [watch('files'), watch('s*'), watch('*')] as never,
      tools: [tool('look')],
      sources: [builtinTools(['files', 'shell'], { shell: { programs: { echo: true } } })],
      workspace: tmpdir(),
      policy: { defaults: { execute: 'allow' } },
    })
    const session = gate.session()
    await session.call({ name: 'list_dir', arguments: { depth: 1 } })
    await session.call({ name: 'run_command', arguments: { program: 'echo', args: ['a'] } })
    await session.call({ name: 'look' })
    expect(seen).toEqual(['files: list_dir', '*: list_dir', 's*: run_command', '*: run_command'])
    expect(await problemsOf({ guards: [{ ...watch('files'), for: { family: [] } }] })).toContain('`for.family`')
    expect(gate.guards('look').map(({ name }) => name)).not.toContain('own of-1')
  })

  test('one that comes later is run once, and the operator is told', async () => {
    const gate = await open({ guards: [{ guard: 'retry', times: 3, backoffMs: 1, for: { tool: 'send_*' } }] })
    expect(gate.warnings()).toContainEqual(expect.stringContaining('guards[0]: no known tool matches'))
    let runs = 0
    const busy = () => {
      runs += 1
      return toolFailure({ code: 'x', message: 'y', type: 'busy', effect: 'none' })
    }
    gate.catalogue.register(tool('send_mail', { effect: 'write', repeat: 'never', run: busy }))
    await gate.session().call({ name: 'send_mail' })
    expect(runs).toBe(1)
    expect(gate.warnings()).toContainEqual(expect.stringContaining('it has no effect'))
    gate.catalogue.register(tool('send_text', { effect: 'write', run: busy }))
    await gate.session().call({ name: 'send_text' })
    expect(runs).toBe(5)
  })
})

describe('limits that the machine cannot keep', () => {
  const kept = { kind: 'enforced', by: 'prlimit' } as const
  const machine: MachineAbilities = {
    sandbox: { kind: 'ready', by: 'bwrap', path: '/usr/bin/bwrap' },
    limits: {
      ...{ cpuMs: kept, memoryBytes: kept, fileBytes: kept, openFiles: kept },
      processes: { kind: 'unenforced', reason: 'no control groups', mend: 'mount them' },
    },
    tree: 'group',
  }
  const check = (more: object) =>
    checkGuardFit({}, [{ tool: tool('probe', more) } as unknown as Entry], 60_000, async () => machine)

  test('enforced: are an error where the sandbox is required, with how to mend it', async () => {
    const strict = { place: 'child', sandbox: 'required', limits: { processes: 5 } }
    await expect(check(strict)).rejects.toThrow('`probe.limits.processes`: this machine cannot keep it')
    await expect(check(strict)).rejects.toThrow('mount them')
    await check({ ...strict, limits: { cpuMs: 5 } })
    await check({ ...strict, sandbox: 'preferred' })
  })

  test('a machine is not looked at where no tool needs to know', async () => {
    await checkGuardFit({}, [{ tool: tool('probe') } as unknown as Entry], 60_000, () =>
      Promise.reject(new Error('looked at')),
    )
  })
})

describe('the guards can be looked at', () => {
  test('all of them, outermost first, with the tools that each stands before', async () => {
    const gate = await open({
      tools: [tool('look'), tool('again', { retry: { times: 2 } })],
      guards: [
        {
          ...{ guard: 'own', for: { tool: 'look' }, name: 'hours', bounds: 'only in the day', at: 'call' },
          run: (_call, next) => next(),
        },
      ],
    })
    const rows = gate.guards()
    expect(rows.map(({ name }) => name)).toEqual([
      ...['deadline', 'twin', 'lane', 'cache', 'breaker', 'own hours', 'retry', 'attempt', 'place', 'settle'],
    ])
    expect(rows.find(({ name }) => name === 'deadline')?.tools).toBe('all')
    expect(rows.find(({ name }) => name === 'retry')?.tools).toEqual(['again'])
    expect(rows.find(({ name }) => name === 'own hours')).toEqual({
      name: 'own hours',
      bounds: 'only in the day',
      tools: ['look'],
    })
  })

  test('those of one tool, and none of a tool that is not there', async () => {
    const gate = await open({ tools: [tool('look'), tool('again', { retry: { times: 2 } })] })
    expect(gate.guards('look').map(({ name }) => name)).toEqual(['deadline', 'lane', 'place', 'settle'])
    expect(gate.guards('again').map(({ name }) => name)).toContain('retry')
    expect(gate.guards('absent')).toEqual([])
    expect(gate.guards('constructor')).toEqual([])
  })
})

describe('rates', () => {
  test('a caller that calls too often is told when to come again, and comes through then', async () => {
    const clock = new FakeClock()
    const gate = await open({ tools: [tool('look')], limits: { perMinute: 2 }, clock })
    const session = gate.session({ user: 'ana' })
    const look = () => session.call({ name: 'look', arguments: {} })
    expect([(await look()).ok, (await look()).ok]).toEqual([true, true])
    expect(await look()).toMatchObject({
      error: { type: 'rate_limited', effect: 'none', retry: { advice: 'later', afterMs: 30_000 } },
      meta: { attempts: 0 },
    })
    // Another conversation is no way around it, another user is not held up by it.
    expect(await gate.session({ user: 'ana' }).call({ name: 'look' })).toMatchObject({ ok: false })
    expect((await gate.session({ user: 'ben' }).call({ name: 'look' })).ok).toBe(true)
    await clock.advance(30_000)
    expect((await look()).ok).toBe(true)
  })

  test('looking takes nothing: listings, decisions and explanations', async () => {
    const gate = await open({ tools: [tool('look')], limits: { perMinute: { caller: 1 } }, clock: new FakeClock() })
    const session = gate.session({ user: 'ana' })
    for (let index = 0; index < 3; index++) {
      expect(session.tools()).toHaveLength(1)
      expect(await session.decide({ name: 'look', arguments: {} })).toMatchObject({ kind: 'decided' })
      expect(await gate.policy.explain({ user: 'ana' }, { name: 'look', arguments: {} })).toMatchObject({
        kind: 'decided',
      })
    }
    expect((await session.call({ name: 'look' })).ok).toBe(true)
    expect(await session.call({ name: 'look' })).toMatchObject({ error: { type: 'rate_limited' } })
    expect(session.tools()).toHaveLength(1)
  })

  test('what is denied says so, and takes nothing', async () => {
    const gate = await open({
      ...{ tools: [tool('look'), tool('shut')], limits: { perMinute: 1 }, clock: new FakeClock() },
      policy: { rules: [{ deny: 'shut' }] },
    })
    const session = gate.session({ user: 'ana' })
    for (let index = 0; index < 3; index++)
      expect(await session.call({ name: 'shut' })).toMatchObject({ error: { type: 'permission_denied' } })
    expect((await session.call({ name: 'look' })).ok).toBe(true)
  })

  test('tools and tenants have bounds of their own', async () => {
    const gate = await open({
      tools: [tool('look'), tool('send_mail')],
      limits: { perMinute: { tenant: 3, tools: { 'send_*': 1 } } },
      clock: new FakeClock(),
    })
    const ana = gate.session({ user: 'ana', tenant: 'one' })
    const ben = gate.session({ user: 'ben', tenant: 'one' })
    const types = []
    for (const [session, name] of [
      [ana, 'send_mail'],
      [ben, 'send_mail'],
      [ben, 'look'],
      [ana, 'look'],
      [ana, 'look'],
    ] as const) {
      const outcome = await session.call({ name })
      types.push(outcome.ok ? 'ok' : outcome.error.type)
    }
    expect(types).toEqual(['ok', 'rate_limited', 'ok', 'ok', 'rate_limited'])
  })

  test('enforced: a rate that does not hold is refused', async () => {
    for (const perMinute of [
      0,
      -1,
      1.5,
      '60',
      null,
      { caller: 0 },
      { user: 5 },
      { tools: { '[': 5 } },
      { tools: { x: 0 } },
      [],
    ])
      expect(await problemsOf({ limits: { perMinute } })).toContain('limits.perMinute')
    expect(await problemsOf({ limits: { parallel: 0 } })).toContain('limits.parallel')
  })
})
