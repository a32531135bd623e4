// Goal: a command in the background is nobody's but its conversation's, is bounded in every way, and ends with whatever it hangs on.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { machineAbilities } from '../../../machine/probe-machine.ts'
import { FakeClock } from '../../../testing/fake-clock.ts'
import { ANA } from '../files/file-tools.fixture.ts'
import { type JobRun, Jobs } from './jobs.ts'
import { ShellFixture } from './shell.fixture.ts'

const boxed = (await machineAbilities()).sandbox.kind === 'ready'

const ENDED = {
  kind: 'ended',
  exitCode: 0,
  endSignal: null,
  limitsHit: [],
  unenforced: [],
  stdout: { head: Buffer.alloc(0), tail: Buffer.alloc(0), totalBytes: 0 },
  stderr: { head: Buffer.alloc(0), tail: Buffer.alloc(0), totalBytes: 0 },
  elapsedMs: 1,
  leftovers: false,
} as const

const FACTS = { program: 'x', args: [], place: 'child' } as const
const BOUNDS = { perSession: 2, perGate: 3, deadlineMs: 1_000, idleMs: 600, outputBytes: 1_024 }
/** Runs until it is told to stop. */
const waits: JobRun = ({ signal }) =>
  new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve({ ...ENDED, exitCode: null, endSignal: 'SIGTERM' })),
  )

describe('the jobs of a gate', () => {
  let clock: FakeClock
  let jobs: Jobs
  beforeEach(() => {
    clock = new FakeClock()
    jobs = new Jobs(clock, BOUNDS)
  })

  const start = (caller = ANA, run: JobRun = waits, timeoutMs = 1_000) => {
    const slot = jobs.reserve(caller)
    if ('full' in slot) throw new Error(slot.full)
    return slot.start(FACTS, run, timeoutMs)
  }

  it('are bounded for a conversation, and for all together', async () => {
    start()
    const second = start()
    expect(jobs.reserve(ANA)).toHaveProperty('full')
    start({ ...ANA, session: 'other' })
    expect(jobs.reserve({ ...ANA, user: 'ben' })).toHaveProperty('full')
    second.stop('stopped')
    await second.done
    expect(jobs.reserve(ANA)).not.toHaveProperty('full')
    await jobs.close()
  })

  it('a place that is given up can be taken again, once', () => {
    const slots = [jobs.reserve(ANA), jobs.reserve(ANA)]
    expect(jobs.reserve(ANA)).toHaveProperty('full')
    for (const slot of slots) if (!('full' in slot)) for (const one of [slot, slot]) one.release()
    expect(jobs.reserve(ANA)).not.toHaveProperty('full')
  })

  it('one conversation never finds another one’s', async () => {
    const job = start()
    for (const other of [{ user: 'ben' }, { agent: 'b' }, { session: 's2' }, { tenant: 't2' }])
      expect(jobs.find({ ...ANA, ...other }, job.id)).toBeUndefined()
    expect(jobs.find(ANA, job.id)).toBe(job)
    await jobs.close()
  })

  it('end at their own deadline, or the shorter one that the call asked for', async () => {
    const [long, short] = [start(), start(ANA, waits, 100)]
    await clock.advance(101)
    await short.done
    expect(short.why).toBe('deadline')
    jobs.find(ANA, long.id)
    await clock.advance(500)
    jobs.find(ANA, long.id)
    await clock.advance(500)
    await long.done
    expect(long.why).toBe('deadline')
  })

  it('end when nobody asks about them any more', async () => {
    const job = start()
    await clock.advance(300)
    jobs.find(ANA, job.id)
    await clock.advance(599)
    expect(job.end).toBeUndefined()
    await clock.advance(2)
    await job.done
    expect(job.why).toBe('idle')
  })

  it('end with the gate, and none begins after that', async () => {
    const job = start()
    await jobs.close()
    expect(job.why).toBe('the gate closed')
    expect(jobs.reserve(ANA)).toHaveProperty('full')
  })
})

describe('run_command in the background', () => {
  let shell: ShellFixture
  beforeEach(async () => {
    shell = await new ShellFixture().start({
      shell: { programs: { sleep: true, npm: { scripts: ['talk'] } }, jobs: { perSession: 1 } },
    })
  })
  afterEach(() => shell.close())

  const job = async (program: string, ...args: readonly string[]): Promise<string> => {
    const ran = await shell.call('run_command', { program, args, background: true })
    if (ran.kind !== 'value') throw new Error(JSON.stringify(ran))
    return String(ran.value.job)
  }
  const ended = async (id: string) => {
    for (let tries = 0; tries < 500; tries++) {
      const ran = await shell.call('job_output', { job: id })
      if (ran.kind !== 'value' || ran.value.state === 'ended') return ran
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error('it does not end')
  }

  it('answers with a job, whose end and output can be asked for', async () => {
    const id = await job('sleep', '0.05')
    expect(await ended(id)).toMatchObject({
      value: { state: 'ended', exitCode: 0, ended: 'exit code 0', program: 'sleep' },
    })
  })

  it.runIf(boxed)('its output is read from an offset on', async () => {
    shell.put('package.json', JSON.stringify({ scripts: { talk: 'echo one; echo two >&2' } }))
    const id = await job('npm', 'run', 'talk')
    const ran = await ended(id)
    expect(ran).toMatchObject({ value: { text: expect.stringMatching(/one[\s\S]*two/), missed: 0 } })
    const next = ran.kind === 'value' ? Number(ran.value.next) : 0
    expect(await shell.call('job_output', { job: id, from: next })).toMatchObject({ value: { text: '', from: next } })
  })

  it('only so many at a time, and stopping one makes room', async () => {
    const id = await job('sleep', '30')
    expect(await shell.call('run_command', { program: 'sleep', args: ['1'], background: true })).toMatchObject({
      kind: 'failure',
      type: 'busy',
      effect: 'none',
    })
    expect(await shell.call('job_stop', { job: id })).toMatchObject({
      value: { state: 'ended', ended: 'it was ended: stopped' },
    })
    await shell.call('job_stop', { job: await job('sleep', '30') })
  })

  it('a job of somebody else is as unknown as one that does not exist', async () => {
    const id = await job('sleep', '30')
    shell.caller = { ...ANA, user: 'ben' }
    for (const tool of ['job_output', 'job_stop']) {
      const ran = await shell.call(tool, { job: id })
      expect(ran).toMatchObject({ kind: 'failure', code: 'no_such_job', effect: 'none' })
      expect(ran).toEqual(await shell.call(tool, { job: 'job_none' }))
    }
  })

  it('ends when its call would not be allowed any more', async () => {
    const id = await job('sleep', '30')
    expect(shell.ends).toHaveLength(1)
    shell.ends[0]?.(new Error('stopped'))
    expect(await ended(id)).toMatchObject({ value: { ended: 'it was ended: not allowed any more' } })
    expect(shell.ends).toHaveLength(0)
  })

  it('ends with the source', async () => {
    const id = await job('sleep', '30')
    const tool = shell.tool('job_output')
    await shell.close()
    expect(tool.name).toBe('job_output')
    expect(shell.ends).toHaveLength(0)
    expect(id).toMatch(/^job_/)
  })

  it('takes no more time than jobs may have', async () => {
    const given = { program: 'sleep', args: ['1'], background: true }
    expect(await shell.call('run_command', { ...given, timeoutMs: 1_800_001 })).toMatchObject({
      kind: 'refused',
      code: 'invalid_args',
    })
    await shell.call('job_stop', { job: await job('sleep', '30') })
  })

  it('where none are allowed there is no such field and no such tool', async () => {
    await shell.close()
    shell = await new ShellFixture().start({ shell: { jobs: { perSession: 0 } } })
    expect(shell.tools.map(({ name }) => name)).toEqual(['run_command'])
    expect(await shell.call('run_command', { program: 'ls', background: true })).toMatchObject({ kind: 'refused' })
  })
})
