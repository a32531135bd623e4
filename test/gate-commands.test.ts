// Commands through a whole gate: what the policy says of files holds for programs too, an approval is for the code that runs,
// and what is stopped ends, jobs included.

import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Gate, Outcome, PolicyOptions, Session } from '../src/index.ts'
import { builtinTools } from '../src/index.ts'
import { machineAbilities } from '../src/machine/probe-machine.ts'
import type { BuiltinOptions } from '../src/sources/builtin/builtin-tools.ts'
import { newFolder, openGate } from './opened.ts'

const boxed = (await machineAbilities()).sandbox.kind === 'ready'

const READING: PolicyOptions = { rules: [{ allow: { tool: 'run_command', reads: true } }] }

class House {
  readonly workspace = realpathSync(newFolder())
  #opened: { readonly gate: Gate; readonly session: Session } | undefined

  get gate(): Gate {
    return this.#now().gate
  }

  get session(): Session {
    return this.#now().session
  }

  async open(policy: PolicyOptions, options: BuiltinOptions = {}): Promise<this> {
    const gate = await openGate({
      workspace: this.workspace,
      policy,
      sources: [builtinTools(['files', 'shell'], options)],
    })
    this.#opened = { gate, session: gate.session({ user: 'ana', agent: 'a' }) }
    return this
  }

  put(path: string, text: string): this {
    mkdirSync(dirname(join(this.workspace, path)), { recursive: true })
    writeFileSync(join(this.workspace, path), text)
    return this
  }

  run(command: string, more: object = {}): Promise<Outcome> {
    return this.session.call({ name: 'run_command', arguments: { command, ...more } })
  }

  #now(): { readonly gate: Gate; readonly session: Session } {
    if (this.#opened === undefined) throw new Error('it is not open yet')
    return this.#opened
  }
}

const typeOf = (outcome: Outcome): string => (outcome.ok ? 'ok' : outcome.error.type)
const textOf = (outcome: Outcome): string => JSON.stringify(outcome.content)

describe('what the policy says of files', () => {
  const HIDDEN: PolicyOptions = { rules: [...(READING.rules ?? []), { deny: { resource: 'read file:**/.env*' } }] }

  it('holds for every program that names them', async () => {
    const house = await new House().put('.env', 'secret').put('a.txt', 'plain').open(HIDDEN)
    for (const command of ['cat .env', 'cat ./.env a.txt', 'head -n 1 a.txt .env', 'grep x .env', 'ls -l .env'])
      expect([command, typeOf(await house.run(command))]).toEqual([command, 'permission_denied'])
    expect(typeOf(await house.run('cat a.txt'))).toBe('ok')
    expect(typeOf(await house.run('ls'))).toBe('ok')
  })

  it('holds for programs that look below a folder: hidden, or refused', async () => {
    for (const sandbox of ['preferred', 'off'] as const) {
      const house = await new House()
        .put('src/.env', 'word=secret')
        .put('src/a.txt', 'word')
        .open(HIDDEN, { shell: { sandbox } })
      const outcome = await house.run('grep -rn word .')
      if (boxed && sandbox === 'preferred') {
        expect(typeOf(outcome)).toBe('ok')
        expect(textOf(outcome)).toContain('a.txt')
      } else expect(outcome).toMatchObject({ ok: false, error: { type: 'permission_denied', effect: 'none' } })
      expect(textOf(outcome)).not.toContain('secret')
      rmSync(join(house.workspace, 'src/.env'))
      expect(typeOf(await house.run('grep -rn word .'))).toBe('ok')
    }
  })

  it('what only reads is told from the rest by a rule', async () => {
    const house = await new House()
      .put('package.json', JSON.stringify({ scripts: { probe: 'true' } }))
      .open(READING, { shell: { programs: { npm: { scripts: ['probe'] }, git: true } } })
    expect(typeOf(await house.run('npm --version'))).toBe('ok')
    expect(typeOf(await house.run('npm run probe'))).toBe('approval_required')
  })
})

describe('an approval', () => {
  it('is for the script that it was given for, and void once that is another one', async () => {
    const house = await new House()
      .put('package.json', JSON.stringify({ scripts: { probe: 'echo one' } }))
      .open({}, { shell: { programs: { npm: { scripts: ['probe'] } } } })
    const asked = await house.run('npm run probe')
    expect(typeOf(asked)).toBe('approval_required')
    const [row] = await house.gate.approvals.list()
    await house.gate.approvals.decide(row?.id ?? '', { decision: 'approve', by: 'ana' })
    house.put('package.json', JSON.stringify({ scripts: { probe: 'echo two' } }))
    expect(typeOf(await house.run('npm run probe'))).toBe('approval_required')
    house.put('package.json', JSON.stringify({ scripts: { probe: 'echo one' } }))
    const ran = await house.run('npm run probe')
    expect([typeOf(ran), textOf(ran).includes('one')]).toEqual(['ok', true])
  })

  it('is what code of the workspace needs where there is no sandbox, and a rule that allows is none', async () => {
    const open = (policy: PolicyOptions): Promise<House> =>
      new House()
        .put('package.json', JSON.stringify({ scripts: { probe: 'echo one' } }))
        .open(policy, { shell: { sandbox: 'off', programs: { npm: { scripts: ['probe'] } } } })
    const allowed = await open({ rules: [{ allow: 'run_command' }] })
    expect(await allowed.run('npm run probe')).toMatchObject({
      ok: false,
      error: { type: 'permission_denied', effect: 'none' },
    })
    const asking = await open({})
    await asking.run('npm run probe')
    const [row] = await asking.gate.approvals.list()
    await asking.gate.approvals.decide(row?.id ?? '', { decision: 'approve', by: 'ana' })
    expect(typeOf(await asking.run('npm run probe'))).toBe('ok')
  })
})

describe('the end of a job', () => {
  const JOBS: BuiltinOptions = { shell: { programs: { sleep: true } } }
  const RUNNING: PolicyOptions = { rules: [{ allow: ['run_command', 'job_output', 'job_stop'] }] }

  const started = async (house: House): Promise<string> => {
    const outcome = await house.run('sleep 60', { background: true })
    return (outcome.ok ? (outcome.value as { readonly job: string }) : { job: textOf(outcome) }).job
  }
  const stateOf = async (house: House, job: string): Promise<unknown> => {
    for (let tries = 0; tries < 300; tries++) {
      const outcome = await house.session.call({ name: 'job_output', arguments: { job } })
      if (!outcome.ok || (outcome.value as { readonly state: string }).state === 'ended')
        return outcome.ok ? outcome.value : outcome.error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return 'still running'
  }

  it('comes with the stop of its tool', async () => {
    const house = await new House().open(RUNNING, JOBS)
    const job = await started(house)
    const stop = await house.gate.stop({ tool: 'run_command' })
    expect(await stateOf(house, job)).toMatchObject({ state: 'ended', ended: expect.stringContaining('not allowed') })
    expect(await house.gate.lift(stop.id)).toBe(true)
  })

  it('comes with rules that would not let it run', async () => {
    const house = await new House().open(RUNNING, JOBS)
    const job = await started(house)
    await house.gate.policy.reload({ rules: [{ allow: 'job_output' }, { deny: 'run_command' }] })
    expect(await stateOf(house, job)).toMatchObject({ state: 'ended', ended: expect.stringContaining('not allowed') })
  })

  it('comes with its session, and with that of whoever it worked for; not with another one', async () => {
    const house = await new House().open(RUNNING, JOBS)
    const child = house.session.child({ agent: 'reviewer', session: 'aside' })
    const background = { name: 'run_command', arguments: { program: 'sleep', args: ['60'], background: true } }
    const made = await Promise.all([house.session.call(background), child.call({ ...background, id: 'second' })])
    expect(made.map(typeOf)).toEqual(['ok', 'ok'])
    const [own, childs] = made.map((outcome) => (outcome.ok ? (outcome.value as { readonly job: string }).job : ''))
    house.gate.session({ ...house.session.caller, session: 'another' }).end()
    const running = await child.call({ name: 'job_output', arguments: { job: childs } })
    expect(running).toMatchObject({ ok: true, value: { state: 'running' } })
    house.session.end()
    expect(await stateOf(house, own ?? '')).toMatchObject({ ended: expect.stringContaining('session ended') })
    const asked = await child.call({ name: 'job_output', arguments: { job: childs } })
    expect(asked).toMatchObject({ ok: true, value: { ended: expect.stringContaining('session ended') } })
  })

  it('comes with the gate', async () => {
    const house = await new House().open(RUNNING, JOBS)
    expect(await started(house)).toMatch(/^job_/)
    const beginning = Date.now()
    await house.gate.close()
    expect(Date.now() - beginning).toBeLessThan(20_000)
  })
})

it('programs that only read run side by side, also where two callers ask for the very same', async () => {
  const house = await new House().put('a.txt', 'plain').open(READING)
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => house.run('cat a.txt')))
  expect(outcomes.map(typeOf)).toEqual(['ok', 'ok', 'ok', 'ok'])
  const turn = await house.session.turn(
    ['cat a.txt', 'cat absent.txt', 'grep plain a.txt'].map((command) => ({
      name: 'run_command',
      arguments: { command },
    })),
  )
  expect(turn.map(typeOf)).toEqual(['ok', 'tool_error', 'ok'])
})

it('place and limits stand in the outcome', async () => {
  const house = await new House().put('a.txt', 'plain').open(READING, { shell: { sandbox: 'off' } })
  const outcome = await house.run('cat a.txt')
  expect(outcome.meta).toMatchObject({ place: 'child', attempts: 1, effect: 'execute' })
})
