// Goal: a module in a worker can hold up neither the gate nor its call. Real threads are started; the tests wait for
// conditions, with bounds.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { startWorkerHost, type WorkerHost, type WorkerHostOptions } from './worker-host.ts'
import type { WorkerJob } from './worker-job.ts'

const MODULE = `
class ToolFailure extends Error { constructor(options) { super(options.message); this.name = 'ToolFailure'; this.options = options } }
class ToolResult { constructor(value, content) { this.value = value; this.content = content } }
let calls = 0
export const sum = ({ a, b }) => a + b
export const count = () => ++calls
export const forever = (args, context) => { context.progress({ message: 'in' }); while (true); }
export const polite = (args, { signal, progress }) => {
  progress({ message: 'in' })
  return new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}
export const cleans = (args, { signal, progress }) => {
  progress({ message: 'in' })
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve('cleaned up')))
}
export const environment = () => ({ ...process.env })
export const hog = () => { const all = []; for (;;) all.push(new Array(10000).fill(all.length)) }
export const fails = () => { throw new ToolFailure({ code: 'nope', message: 'not today' }) }
export const returnsFailure = () => new ToolFailure({ code: 'nope', message: 'not today' })
export const throws = () => { throw new Error('boom') }
export const both = () => new ToolResult({ n: 1 }, [{ type: 'text', text: 'one' }])
export const uncloneable = () => () => 1
export const leaves = () => process.exit(3)
export const prints = () => { console.log('to the output'); return 'printed' }
export const facts = (args, context) => ({ callId: context.callId, left: context.leftMs() > 0, keys: Object.keys(context).sort() })
export async function* steps() { yield { progress: 1 }; yield { progress: 2 }; return 'end' }
export const constructor = 'no function'
`

let folder: string
let module: string
const hosts: WorkerHost[] = []

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-worker-')))
  module = join(folder, 'tools.mjs')
  writeFileSync(module, MODULE)
})
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function host(name: string, options: Partial<WorkerHostOptions> = {}): WorkerHost {
  const made = startWorkerHost({ module, export: name, clock: systemClock, ...options })
  hosts.push(made)
  return made
}

const job = (more: Partial<WorkerJob> = {}): WorkerJob => ({
  args: {},
  facts: {},
  leftMs: 10_000,
  signal: new AbortController().signal,
  ...more,
})

describe('a function tool in a worker', () => {
  test('a loop without an end is terminated when its signal aborts, and the gate stays awake meanwhile', async () => {
    const controller = new AbortController()
    const onProgress = vi.fn()
    const looping = host('forever')
    const end = looping.run(job({ signal: controller.signal, onProgress }))
    await vi.waitFor(() => expect(onProgress).toHaveBeenCalledWith({ message: 'in' }), 10_000)
    controller.abort(new Error('the deadline passed'))
    expect(await end).toEqual({ kind: 'stopped', started: true, terminated: true })
  })

  test('after a termination the next job gets a thread of its own', async () => {
    const controller = new AbortController()
    const looping = host('forever')
    const onProgress = vi.fn(() => controller.abort())
    await looping.run(job({ signal: controller.signal, onProgress }))
    const again = new AbortController()
    expect(await looping.run(job({ signal: again.signal, onProgress: () => again.abort() }))).toEqual({
      kind: 'stopped',
      started: true,
      terminated: true,
    })
  })

  test('one that listens to its signal ends by itself, and what it answers then is its end', async () => {
    const stop = (name: string) => {
      const controller = new AbortController()
      return host(name).run(job({ signal: controller.signal, onProgress: () => controller.abort(new Error('enough')) }))
    }
    expect(await stop('polite')).toEqual({ kind: 'stopped', started: true, terminated: false })
    expect(await stop('cleans')).toEqual({ kind: 'answered', value: 'cleaned up' })
  })

  test('one whose signal has aborted before is never started', async () => {
    expect(await host('sum').run(job({ signal: AbortSignal.abort() }))).toEqual({
      kind: 'stopped',
      started: false,
      terminated: false,
    })
  })

  test('a heap over its bound costs the thread its life, and the limit is named; the host goes on', async () => {
    const hogging = host('hog', { memoryBytes: 32 * 1_048_576 })
    expect(await hogging.run(job())).toMatchObject({ kind: 'crashed', limit: 'memoryBytes' })
    expect(await hogging.run(job())).toMatchObject({ kind: 'crashed', limit: 'memoryBytes' })
  })

  test('its environment is empty', async () => {
    process.env.GATE_SECRET_FOR_TEST = 'do not pass on'
    const end = await host('environment').run(job())
    delete process.env.GATE_SECRET_FOR_TEST
    expect(end).toEqual({ kind: 'answered', value: {} })
  })

  test('an answer, an answer with content, a described failure and a throw are told apart', async () => {
    expect(await host('sum').run(job({ args: { a: 1, b: 2 } }))).toEqual({ kind: 'answered', value: 3 })
    expect(await host('both').run(job())).toEqual({
      kind: 'answered',
      value: { n: 1 },
      content: [{ type: 'text', text: 'one' }],
      display: undefined,
    })
    const failure = { kind: 'failed', failure: { code: 'nope', message: 'not today' } }
    expect(await host('fails').run(job())).toEqual(failure)
    expect(await host('returnsFailure').run(job())).toEqual(failure)
    expect(await host('throws').run(job())).toMatchObject({ kind: 'threw', reason: expect.stringContaining('boom') })
    expect(await host('uncloneable').run(job())).toMatchObject({ kind: 'threw' })
    expect(await host('leaves').run(job())).toEqual({ kind: 'crashed', reason: 'its thread ended with status 3' })
  })

  test('a missing module, a missing export and one that is no function are unstarted, not crashed', async () => {
    expect(await host('nowhere').run(job())).toMatchObject({ kind: 'unstarted' })
    expect(await host('constructor').run(job())).toMatchObject({ kind: 'unstarted' })
    expect(await host('toString').run(job())).toMatchObject({ kind: 'unstarted' })
    expect(await host('sum', { module: join(folder, 'absent.mjs') }).run(job())).toMatchObject({ kind: 'unstarted' })
    expect(await host('sum').run(job({ args: { no: () => 1 } }))).toMatchObject({ kind: 'unstarted' })
  })

  test('yields of a generator are progress, its return is the answer', async () => {
    const seen: unknown[] = []
    const end = await host('steps').run(job({ onProgress: (progress) => seen.push(progress) }))
    expect(seen).toEqual([{ progress: 1 }, { progress: 2 }])
    expect(end).toEqual({ kind: 'answered', value: 'end' })
  })

  test('it is told its facts, and holds nothing else of the gate', async () => {
    expect(await host('facts').run(job({ facts: { callId: 'c1' } }))).toEqual({
      kind: 'answered',
      value: { callId: 'c1', left: true, keys: ['callId', 'leftMs', 'log', 'progress', 'signal'] },
    })
  })

  test('a thread serves one job at a time and is used again; further jobs wait for one', async () => {
    const counting = host('count', { workersMax: 1 })
    const ends = await Promise.all([counting.run(job()), counting.run(job()), counting.run(job())])
    expect(ends.map((end) => end.kind === 'answered' && end.value)).toEqual([1, 2, 3])
  })

  test('a job that waits for a thread can be stopped, and was not started', async () => {
    const controller = new AbortController()
    const waiting = new AbortController()
    const looping = host('forever', { workersMax: 1 })
    const first = looping.run(job({ signal: controller.signal }))
    const second = looping.run(job({ signal: waiting.signal }))
    waiting.abort()
    expect(await second).toEqual({ kind: 'stopped', started: false, terminated: false })
    controller.abort()
    await first
  })

  test('closing ends what runs', async () => {
    const onProgress = vi.fn()
    const looping = host('forever')
    const end = looping.run(job({ onProgress }))
    await vi.waitFor(() => expect(onProgress).toHaveBeenCalled(), 10_000)
    await looping.close()
    expect(await end).toMatchObject({ kind: 'crashed' })
    expect(await looping.run(job())).toMatchObject({ kind: 'unstarted' })
  })
})
