// Goal: kill -9 at any point of a keyed write never makes it happen twice, never loses it, and leaves it unknown only where
// nobody can know. Method: two processes over one database make the same calls, eight at once each, and are killed at random
// moments, until 200 calls were under way at a kill; each effect is a line in a file. The next processes find out what became
// of those calls and make them again under their keys.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../src/base/clock.ts'
import { verifyRecords } from '../src/observe/verify.ts'
import { openSqliteStore } from '../src/stores/sqlite-store.ts'

const POINTS = 200
const KEYS_A_ROUND = 120
const KILL_MS_MAX = 120

const root = mkdtempSync(join(tmpdir(), 'lockgate-crash-'))
const script = join(root, 'crash-process.js')
const folder = join(root, 'house')
const children = new Set<ChildProcess>()

beforeAll(async () => {
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  symlinkSync(fileURLToPath(new URL('../node_modules', import.meta.url)), join(root, 'node_modules'))
  mkdirSync(folder)
  for (const [name, path] of [
    ['crash-process', './crash-process.ts'],
    ['sqlite-worker', '../src/stores/sqlite-worker.ts'],
  ] as const) {
    await build({
      input: fileURLToPath(new URL(path, import.meta.url)),
      platform: 'node',
      external: (id) => !id.startsWith('.') && !isAbsolute(id),
      output: { format: 'esm', codeSplitting: false, file: join(root, `${name}.js`) },
      logLevel: 'silent',
    })
  }
}, 60_000)
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(root, { recursive: true, force: true })
})

const linesOf = (name: string): readonly string[] => {
  const file = join(folder, name)
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
}

type Running = { readonly child: ChildProcess; readonly ended: Promise<number | null> }

/** Resolves when it is about to make its calls, or has ended. */
function start(round: string, keys: number): Promise<Running> {
  const child = spawn(process.execPath, [script, folder, round, String(keys)], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.add(child)
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      children.delete(child)
      resolve(code)
    })
  })
  return new Promise((resolve) => {
    child.stdout?.once('data', () => resolve({ child, ended }))
    void ended.then(() => resolve({ child, ended }))
  })
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Calls that a process had begun and not seen the end of. */
function underWay(pid: number | undefined): readonly string[] {
  const of = linesOf('log.txt')
    .map((line) => line.split(' '))
    .filter(([, by]) => by === String(pid))
  const over = new Set(of.filter(([what]) => what === 'end').map(([, , name, key]) => `${name} ${key}`))
  return of
    .filter(([what, , name, key]) => what === 'start' && !over.has(`${name} ${key}`))
    .map(([, , name, key]) => `${name} ${key}`)
}

test('G42: killed at 200 random points, a keyed write happens once, is never lost, and is unknown only where nobody can know', async () => {
  const killed = new Set<string>()
  let points = 0
  for (let round = 0; points < POINTS; round += 1) {
    expect(round, 'too few calls were under way when their processes were killed').toBeLessThan(100)
    const both = await Promise.all([start(`r${round}`, KEYS_A_ROUND), start(`r${round}`, KEYS_A_ROUND)])
    await Promise.all(
      both.map(async ({ child, ended }) => {
        await pause(Math.random() * KILL_MS_MAX)
        child.kill('SIGKILL')
        await ended
        const calls = underWay(child.pid)
        points += calls.length
        for (const call of calls) killed.add(call)
      }),
    )
  }
  const last = await start('last', 10)
  expect(await last.ended).toBe(0)

  const ends = new Map<string, string[]>()
  for (const [what, , name, key, how = ''] of linesOf('log.txt').map((line) => line.split(' '))) {
    const call = `${name} ${key}`
    const known = ends.get(call) ?? []
    ends.set(call, what === 'end' ? [...known, how] : known)
  }
  const times = new Map<string, number>()
  for (const name of ['known', 'blind']) {
    for (const key of linesOf(`${name}.txt`)) times.set(`${name} ${key}`, (times.get(`${name} ${key}`) ?? 0) + 1)
  }
  const wrong: string[] = []
  for (const [call, hows] of ends) {
    const happened = times.get(call) ?? 0
    const isUnknown = hows.includes('outcome-unknown')
    const isSaid = hows.length > 0 && hows.every((how) => /^(ran|replayed|outcome-done|outcome-unknown)$/.test(how))
    const isRight = isUnknown
      ? // Never of a tool that can tell, and of no call whose process lived.
        call.startsWith('blind') && killed.has(call) && happened <= 1 && !hows.includes('ran')
      : happened === 1
    if (!isSaid || !isRight || hows.filter((how) => how === 'ran').length > 1)
      wrong.push(`${call}: ${hows.join()} and happened ${happened} times`)
  }
  expect(wrong).toEqual([])
  expect([...times.values()].every((count) => count === 1)).toBe(true)
  expect(ends.size).toBeGreaterThan(POINTS)

  const opened = await openSqliteStore({ file: join(folder, 'state', 'lockgate.db'), clock: systemClock })
  if (opened.kind === 'failed') throw new Error(opened.reason)
  const { store } = opened
  expect(await store.lapsedIntents()).toEqual([])
  expect(await store.journal({ state: 'running', limit: 10 })).toEqual([])
  expect(await verifyRecords(store)).toMatchObject({ kind: 'ok' })
  await store.close()
}, 120_000)
