// Goal: a tool in a worker can neither outlive its deadline nor fill the gate's memory, and its answers are settled like all
// others. Method: real workers, a module that the test writes, and an executor on the real clock.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { errorOf, type SetUpOptions, setUp } from './executor.fixture.ts'
import type { Executor } from './executor.ts'

let folder: string
const executors: Executor[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockgate-workers-'))
  writeFileSync(
    join(folder, 'tools.mjs'),
    `
    export const echo = (args, context) => ({ args, callId: context.callId, key: context.idempotencyKey, place: context.place.place })
    export const forever = () => { while (true); }
    export const hoard = () => { const all = []; while (true) all.push(new Array(100_000).fill({})) }
    export const fail = () => { throw new Error('/root/secret') }
    export async function* steps() { yield { message: 'half' }; return 'whole' }
    export const nonsense = () => ({ n: 'text' })
    `,
  )
})

afterAll(async () => {
  await Promise.all(executors.map((executor) => executor.close()))
  rmSync(folder, { recursive: true, force: true })
})

async function run(name: string, options: SetUpOptions = {}) {
  const setup = setUp(
    { module: join(folder, 'tools.mjs'), export: name },
    {
      ...options,
      executor: { clock: systemClock, deadlineMs: 20_000, ...options.executor },
      tool: { place: 'worker', ...options.tool },
    },
  )
  executors.push(setup.executor)
  const progress: unknown[] = []
  const call = { ...setup.newCall(), openedMonotonicMs: systemClock.monotonic() }
  Object.assign(call.request, { onProgress: (said: unknown) => progress.push(said) })
  return { ...setup, call, progress, ending: await setup.start(call) }
}

test('it gets the checked arguments and is told its call, its key and its place', async () => {
  const { ending, call } = await run('echo')
  expect(ending).toEqual({ kind: 'value', value: { args: {}, callId: call.id, key: call.id, place: 'worker' } })
  expect(call.trail).toMatchObject({ attempts: 1, place: { place: 'worker' } })
})

test('one that never lets go of its thread ends at its deadline, and the gate goes on meanwhile', async () => {
  let ticks = 0
  const timer = setInterval(() => (ticks += 1), 20)
  const { ending } = await run('forever', { tool: { deadlineMs: 400 } })
  clearInterval(timer)
  expect(errorOf(ending)).toMatchObject({ type: 'timeout', effect: 'unknown' })
  expect(ticks).toBeGreaterThan(0)
})

test('one that fills its heap is ended, and the bound is named for the model and in the outcome', async () => {
  const { ending, call } = await run('hoard', { tool: { limits: { memoryBytes: 32 * 1024 * 1024 } } })
  expect(errorOf(ending)).toMatchObject({ type: 'tool_crashed', effect: 'unknown', details: { limit: 'memoryBytes' } })
  expect(errorOf(ending)?.message).toContain('memoryBytes')
  expect(call.trail.limitsHit).toEqual(['memoryBytes'])
})

test('what it throws stays with the operator', async () => {
  const { ending, crashes } = await run('fail')
  expect(errorOf(ending)).toMatchObject({ type: 'tool_crashed', effect: 'unknown', help: 'stack' })
  expect(errorOf(ending)?.message).not.toContain('secret')
  expect(crashes).toHaveLength(1)
})

test('its yields are progress, and its answer is held against the output schema', async () => {
  const steps = await run('steps')
  expect(steps.ending).toEqual({ kind: 'value', value: 'whole' })
  expect(steps.progress).toEqual([{ message: 'half' }])
  const output = { type: 'object', properties: { n: { type: 'integer' } } }
  const { ending } = await run('nonsense', { output })
  expect(errorOf(ending)).toMatchObject({ type: 'output_invalid', effect: 'done' })
})

test('a module or export that is not there runs nothing and says so', async () => {
  const { ending } = await run('absent')
  expect(errorOf(ending)).toMatchObject({ type: 'unavailable', effect: 'none' })
  expect(errorOf(ending)?.message).not.toContain(folder)
})

test('after it is closed nothing runs any more', async () => {
  const setup = setUp({ module: join(folder, 'tools.mjs'), export: 'echo' }, { tool: { place: 'worker' } })
  await setup.executor.close()
  expect(errorOf(await setup.start())).toMatchObject({ type: 'unavailable', effect: 'none' })
})
