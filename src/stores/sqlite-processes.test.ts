// The SQLite store among several processes. Goal: what dies is reported once, what lives is left alone, and nothing that was
// promised is lost however a process ends. Method: the store is built as it is shipped, the worker beside the code that
// starts it, and run by children that are killed or let go.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ApprovalRow } from '../observe/store.ts'
import { verifyRecords } from '../observe/verify.ts'
import { StoreFiles } from './conformance-files.ts'

const files = new StoreFiles()
const { root } = files
const script = join(root, 'conformance-process.js')
const children = new Set<ChildProcess>()

beforeAll(async () => {
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  // For the optional driver, which a bundle leaves out.
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(root, 'node_modules'))
  for (const name of ['conformance-process', 'sqlite-worker']) {
    await build({
      input: fileURLToPath(new URL(`./${name}.ts`, import.meta.url)),
      platform: 'node',
      external: [/^node:/, 'libsql'],
      output: { format: 'esm', codeSplitting: false, file: join(root, `${name}.js`) },
    })
  }
})
afterEach(async () => {
  await Promise.all([...children].map((child) => ended(child, () => child.kill('SIGKILL'))))
})

type Started = { readonly child: ChildProcess; readonly result: unknown }

/** Resolves once the child says that it is ready. */
function start(what: string, name = 'x', count = 1, command: readonly string[] = []): Promise<Started> {
  const [program = process.execPath, ...rest] = [
    ...command,
    process.execPath,
    script,
    files.file,
    what,
    name,
    String(count),
  ]
  const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'pipe'] })
  children.add(child)
  child.once('close', () => children.delete(child))
  return new Promise((resolve, reject) => {
    let output = ''
    let errors = ''
    child.stderr?.on('data', (text) => {
      errors += text
    })
    child.stdout?.on('data', (text) => {
      output += text
      const line = /^ready (.*)\n/m.exec(output)
      if (line !== null) resolve({ child, result: line[1] === undefined ? undefined : JSON.parse(line[1]) })
    })
    child.once('close', (code) => reject(new Error(`the child ended with ${code}: ${errors}`)))
  })
}

/** Does what ends the child, and resolves with its exit code when it has ended and was collected. */
function ended(child: ChildProcess, end: () => void): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => {
    child.once('close', resolve)
    end()
  })
}

describe('open intents', () => {
  test('of a process killed in the middle, the next start is told once; of one that lives, nobody is told', async () => {
    const killed = await start('intend', 'killed')
    const living = await start('intend', 'living')
    expect([killed.result, living.result]).toEqual([{ kind: 'recorded' }, { kind: 'recorded' }])
    const beside = await files.open()
    expect(await beside.lapsedIntents()).toEqual([])

    await ended(killed.child, () => killed.child.kill('SIGKILL'))
    expect(await beside.lapsedIntents()).toMatchObject([{ callId: 'killed', argumentsText: '{"path":"a"}' }])
    expect(await beside.lapsedIntents()).toEqual([])
    expect((await start('lapsed')).result).toEqual([])
    expect(await verifyRecords(beside)).toMatchObject({ kind: 'ok', rows: 2, chains: 2 })
    await beside.close()
  })

  test.runIf(process.platform === 'linux')(
    'of a process that is only stopped, nobody is told, however long ago its lease lapsed',
    async () => {
      const { child, result } = await start('intend', 'stopped')
      expect(result).toEqual({ kind: 'recorded' })
      child.kill('SIGSTOP')
      const beside = await files.open()
      const database = await files.connect()
      database.exec('UPDATE owners SET lease_until = 0, lease_uptime = 0')
      database.close()
      expect(await beside.lapsedIntents()).toEqual([])
      await ended(child, () => child.kill('SIGKILL'))
      expect(await beside.lapsedIntents()).toMatchObject([{ callId: 'stopped' }])
      await beside.close()
    },
  )

  test('of a process that closed with an intent open, the next start is told', async () => {
    const closed = await start('intend', 'closed')
    expect(await ended(closed.child, () => closed.child.stdin?.end())).toBe(0)
    expect((await start('lapsed')).result).toMatchObject([{ callId: 'closed' }])
  })

  test('of who took over and was killed as well, the next is told', async () => {
    const first = await start('intend', 'call-1')
    await ended(first.child, () => first.child.kill('SIGKILL'))
    const taker = await start('lapsed')
    expect(taker.result).toMatchObject([{ callId: 'call-1' }])
    expect((await start('lapsed')).result).toEqual([])
    await ended(taker.child, () => taker.child.kill('SIGKILL'))
    expect((await start('lapsed')).result).toMatchObject([{ callId: 'call-1' }])
  })
})

test('an approval is redeemed once among processes', async () => {
  const store = await files.open()
  const open1: ApprovalRow = {
    ...{ id: 'a1', digest: 'digest-1', state: 'open', tenant: 't', user: 'u', agent: 'a', session: 's', tool: 'w' },
    ...{ fingerprint: 'f', effect: 'write', policyVersion: 'p', reason: 'r', shown: 's', openedAt: Date.now() },
    ...{ workspace: 'main=/ws', askedBy: ['default write'], offers: [{ reach: 'once', shown: 'this one call' }] },
    expiresAt: Date.now() + 600_000,
  }
  const record = { kind: 'intent', at: 1, callId: 'call-0', body: '{}' } as const
  const draft = { callId: 'call-0', tool: 'w', effect: 'write', argumentsText: '{}', record }
  await store.intend({ ...draft, ask: { open: open1 } })
  await store.answer('a1', { decision: 'approve', by: 'boss', at: 1 }, { ...record, kind: 'approval' })
  const redeemers = await Promise.all([1, 2, 3].map(() => start('redeem', 'a1', 25)))
  const ends = redeemers.flatMap(({ result }) => (Array.isArray(result) ? result : []))
  expect(ends.sort()).toEqual(['recorded', ...Array<string>(74).fill('used')])
  expect(await store.records({ kind: 'intent', limit: 100 })).toHaveLength(1)
  await store.close()
})

describe('rows of a process that does not close its store', () => {
  test.each(['forget', 'exit'])('are all written when it ends by itself: %s', async (what) => {
    const { child, result } = await start(what, 'call', 3_000)
    expect(result).toBe('appended')
    expect(await ended(child, () => undefined)).toBe(0)
    const store = await files.open()
    expect(await store.records({ limit: 10_000 })).toHaveLength(3_000)
    expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 3_000 })
    await store.close()
  })

  test.each(['forget', 'forget-watching'])('an open store alone does not keep a process up: %s', async (what) => {
    const { child } = await start(what, 'call', 0)
    expect(await ended(child, () => undefined)).toBe(0)
  })
})

const limitsFiles = (() => {
  try {
    return execFileSync('prlimit', ['--version'], { encoding: 'utf8' }).length > 0
  } catch {
    return false
  }
})()

test.runIf(limitsFiles)(
  'closed: a full disk sets the failure, intents fail, and what was written before stays whole',
  async () => {
    const { child, result } = await start('fill', 'call', 1, ['prlimit', '--fsize=1000000'])
    expect(result).toMatchObject({ failure: expect.stringMatching(/cannot be written/), intended: { kind: 'failed' } })
    await ended(child, () => child.kill('SIGKILL'))
    const store = await files.open()
    const verified = await verifyRecords(store)
    expect(verified.kind === 'ok' && verified.rows).toBeGreaterThan(100)
    expect(await store.records({ callId: 'call-last', limit: 1 })).toEqual([])
    await store.close()
  },
)
