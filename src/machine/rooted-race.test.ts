// Goal: nobody who swaps folders and files for links while the gate works gets a read or a write out of the root. Method: a
// second thread renames a real folder (and a real file) away and a link to the outside into its place, and back, without
// pause; this thread tries as often as the title says, half of the tries with the path judged just before. That the attacker
// is fast enough is shown by the method that most file servers use, which must escape at least once.

import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRootedFolder } from './rooted-folder.ts'

const ATTACKER = `
  const { lstatSync, renameSync } = require('node:fs')
  const { workerData } = require('node:worker_threads')
  const stop = new Int32Array(workerData.stop)
  const attempt = (action) => { try { action(); return true } catch { return false } }
  let made = 0
  const swap = (real, link, aside) => {
    if (!attempt(() => lstatSync(link))) attempt(() => renameSync(real, link))
    // A folder that the other side made in the gap goes out of the way, so that the swapping goes on.
    if (!attempt(() => renameSync(real, aside))) attempt(() => renameSync(real, aside + '-' + made++))
    attempt(() => renameSync(link, real))
    if (lstatSync(real).isSymbolicLink()) Atomics.add(stop, 1, 1)
    attempt(() => renameSync(real, link))
    attempt(() => renameSync(aside, real))
  }
  while (Atomics.load(stop, 0) === 0) for (const [real, link, aside] of workerData.pairs) attempt(() => swap(real, link, aside))
`

let base: string
let attacker: Worker
let stop: Int32Array

beforeEach(async () => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'race-')))
  for (const [path, text] of [
    ['ws/deep/swap/in.txt', 'INSIDE'],
    ['ws/file.txt', 'INSIDE'],
    ['outside/in.txt', 'OUTSIDE'],
  ] as const) {
    fs.mkdirSync(join(base, path, '..'), { recursive: true })
    fs.writeFileSync(join(base, path), text)
  }
  fs.symlinkSync(join(base, 'outside'), join(base, 'ws/deep/link'))
  fs.symlinkSync(join(base, 'outside/in.txt'), join(base, 'ws/link.txt'))
  const shared = new SharedArrayBuffer(8)
  stop = new Int32Array(shared)
  const pairs = [
    ['ws/deep/swap', 'ws/deep/link', 'ws/deep/aside'],
    ['ws/file.txt', 'ws/link.txt', 'ws/aside.txt'],
  ].map((names) => names.map((name) => join(base, name)))
  attacker = new Worker(ATTACKER, { eval: true, workerData: { stop: shared, pairs } })
  await new Promise((resolve) => attacker.once('online', resolve))
  while (Atomics.load(stop, 1) === 0) await new Promise((resolve) => setImmediate(resolve))
})
afterEach(async () => {
  Atomics.store(stop, 0, 1)
  await new Promise((resolve) => attacker.once('exit', resolve))
  fs.rmSync(base, { recursive: true, force: true })
})

const PATHS = ['deep/swap/in.txt', 'file.txt']

it('0 escapes in 20,000 tries under a racing symlink swap', async () => {
  const folder = openRootedFolder(join(base, 'ws'))
  const seen = new Map<string, number>()
  for (let tries = 0; tries < 20_000; tries++) {
    const path = PATHS[tries % 2] ?? ''
    const canonical = tries % 4 < 2 ? folder.canonical(path) : { kind: 'ok' as const, relative: path }
    const read = canonical.kind === 'ok' ? await folder.read(canonical.relative, 100) : canonical
    const result = read.kind === 'ok' ? read.bytes.toString() : read.kind
    seen.set(result, (seen.get(result) ?? 0) + 1)
  }
  expect(seen.get('OUTSIDE') ?? 0).toBe(0)
  expect(
    [...seen.keys()].filter((key) => !['INSIDE', 'missing', 'swapped', 'not-a-directory', 'refused'].includes(key)),
  ).toEqual([])
  expect(seen.get('INSIDE')).toBeGreaterThan(100)
  expect(seen.get('swapped')).toBeGreaterThan(10)
}, 120_000)

it('0 escapes in 2,100 writes and moves under a racing symlink swap', async () => {
  const folder = openRootedFolder(join(base, 'ws'))
  const swaps = Atomics.load(stop, 1)
  let done = 0
  for (let tries = 0; tries < 700; tries++) {
    const results = [
      await folder.write(`deep/swap/new-${tries}.txt`, Buffer.from('WRITTEN'), { expectHash: null }),
      await folder.write(PATHS[tries % 2] ?? '', Buffer.from('INSIDE')),
      folder.move(`deep/swap/new-${tries}.txt`, `deep/swap/moved-${tries}.txt`),
    ]
    done += results.filter((result) => result.kind === 'ok').length
  }
  expect(fs.readdirSync(join(base, 'outside'))).toEqual(['in.txt'])
  expect(fs.readFileSync(join(base, 'outside/in.txt'), 'utf8')).toBe('OUTSIDE')
  expect(Atomics.load(stop, 1) - swaps).toBeGreaterThan(1_000)
  expect(done).toBeGreaterThan(50)
}, 180_000)

it('the attacker is fast enough: checking a path and then opening it escapes', () => {
  const root = join(base, 'ws')
  let escaped = false
  for (let tries = 0; tries < 200_000 && !escaped; tries++) {
    const path = join(root, PATHS[0] ?? '')
    try {
      if (fs.realpathSync.native(path).startsWith(`${root}/`)) escaped = fs.readFileSync(path, 'utf8') === 'OUTSIDE'
    } catch {
      // Swapped away at this moment.
    }
  }
  expect(escaped).toBe(true)
}, 120_000)
