// When a gate signs its records, with which key, and where copies go. The refusals come first: a key or a copy in reach of tools,
// or of others, is none.

import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { defineTool } from '../describe/define-tool.ts'
import { createGate } from '../gate.ts'
import type { AuditOptions, Gate, GateOptions, LogEntry } from '../gate-contract.ts'
import { readNotes } from '../observe/checkpoints/read-notes.ts'
import { FakeClock } from '../testing/fake-clock.ts'

let root = ''
let databases = 0
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'lockgate-checkpoints-'))
  mkdirSync(join(root, 'workspace'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const look = defineTool({
  name: 'look',
  version: '1.0.0',
  description: 'Looks.',
  input: { type: 'object' },
  effect: 'read',
  run: async () => 'seen',
})

const database = (): string => join(root, `gate-${++databases}.db`)
const open = (sqlite: string, audit: AuditOptions = {}, more: Partial<GateOptions> = {}): Promise<Gate> =>
  createGate({ tools: [look], store: { sqlite }, workspace: join(root, 'workspace'), audit, ...more })

async function calls(gate: Gate, count: number): Promise<void> {
  const session = gate.session({ user: 'ana' })
  for (let made = 0; made < count; made += 1) await session.call({ name: 'look', arguments: { made } })
}
const checkpoints = (gate: Gate) => gate.records.query({ kind: 'checkpoint', limit: 1_000 })
const pem = (type: 'ed25519' | 'x25519' = 'ed25519'): string => {
  const { privateKey } = type === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('x25519')
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

describe('own-files: a key that is not safe is refused, and left as it is', () => {
  const refused = (audit: AuditOptions) => expect(open(database(), audit)).rejects
  test('one in the workspace, also by way of a link', async () => {
    await refused({ signingKey: { file: join(root, 'workspace', 'key.pem') } }).toThrow(
      /signingKey.*inside the workspace/,
    )
    symlinkSync(join(root, 'workspace'), join(root, 'way-in'))
    await refused({ signingKey: { file: join(root, 'way-in', 'key.pem') } }).toThrow(/inside the workspace/)
  })

  test('one that others can read, that is a link, or that is another kind of key', async () => {
    const file = join(root, 'weak.pem')
    writeFileSync(file, pem(), { mode: 0o600 })
    symlinkSync(file, join(root, 'link.pem'))
    await refused({ signingKey: { file: join(root, 'link.pem') } }).toThrow(/no regular file/)
    chmodSync(file, 0o644)
    if (process.getuid !== undefined) await refused({ signingKey: { file } }).toThrow(/others can get at/)
    await refused({ signingKey: { pem: pem('x25519') } }).toThrow(/Ed25519/)
    await refused({ signingKey: { pem: 'no key' } }).toThrow(/Ed25519/)
  })

  test('copies in the workspace, or where nothing can be written', async () => {
    await refused({ checkpointTo: [{ file: join(root, 'workspace', 'notes') }] }).toThrow(
      /checkpointTo\[0\].*workspace/,
    )
    await refused({ checkpointTo: ['stderr', { file: join(root, 'nowhere', 'notes') }] }).toThrow(/checkpointTo\[1\]/)
  })
})

describe('chain: when a gate signs', () => {
  test('nothing where there is nothing new, and once on demand where there is', async () => {
    const notes: string[] = []
    const gate = await open(database(), { checkpointTo: [(note) => void notes.push(note)] })
    await calls(gate, 1)
    const note = await gate.records.checkpoint()
    expect(note).toMatch(/^lockgate\/[0-9a-f]{16}\ncheckpoint 1 of /)
    expect(await gate.records.checkpoint()).toBeUndefined()
    expect(notes).toEqual([note])
    await gate.close()
    // The last one covered everything.
    expect(notes).toHaveLength(1)
  })

  test('after so many rows', async () => {
    const gate = await open(database(), { checkpointEvery: 5 })
    await calls(gate, 4)
    expect(await checkpoints(gate)).toHaveLength(0)
    await calls(gate, 1)
    await vi.waitFor(async () => expect(await checkpoints(gate)).toHaveLength(1))
    await gate.close()
  })

  test('after a while with rows that none covers, and not again without any', async () => {
    const gate = await open(database(), { checkpointMs: 20 })
    await calls(gate, 1)
    await vi.waitFor(async () => expect(await checkpoints(gate)).toHaveLength(1))
    const looked = vi.fn()
    await vi.waitFor(() => {
      looked()
      expect(looked.mock.calls.length).toBeGreaterThan(3)
    })
    expect(await checkpoints(gate)).toHaveLength(1)
    await gate.close()
  })

  test('at the end, and at the start for what a gate has left that ended without', async () => {
    const file = database()
    const heard: string[] = []
    const gate = await open(file)
    gate.on('checkpoint-made', ({ note }) => void heard.push(note))
    await calls(gate, 2)
    await gate.close()
    expect(heard).toHaveLength(1)
    const again = await open(file)
    expect(await checkpoints(again)).toHaveLength(1)
    expect(await again.records.publicKey()).toContain('BEGIN PUBLIC KEY')
    await calls(again, 1)
    await again.close()
    const { openSqliteStore } = await import('../stores/sqlite-store.ts')
    const { systemClock } = await import('../base/clock.ts')
    const opened = await openSqliteStore({ file, clock: systemClock })
    if (opened.kind !== 'ok') throw new Error(opened.reason)
    opened.store.append({ kind: 'end', at: 1, callId: 'left', body: '{}' })
    await opened.store.close()
    const last = await open(file)
    await vi.waitFor(async () => expect(await checkpoints(last)).toHaveLength(3))
    expect(await last.records.verify({ notes: heard })).toMatchObject({ kind: 'ok', checkpoints: 3 })
    await last.close()
  })

  test('a closed gate and its successor need no key made anew, and it is its owner’s alone', async () => {
    const file = database()
    const first = await open(file)
    const key = await first.records.publicKey()
    await first.close()
    expect(statSync(`${file}.signing-key.pem`).mode & 0o777).toBe(0o600)
    const second = await open(file)
    expect(await second.records.publicKey()).toBe(key)
    await second.close()
  })

  test('records in memory are signed where a key is given, and not without', async () => {
    const without = await createGate({ tools: [look] })
    await expect(without.records.checkpoint()).rejects.toThrow(/signingKey/)
    await expect(without.records.publicKey()).rejects.toThrow(/signingKey/)
    await without.close()
    const gate = await createGate({ tools: [look], audit: { signingKey: { pem: pem() } } })
    await calls(gate, 3)
    expect(await gate.records.checkpoint()).toContain('checkpoint 1 of')
    expect(await gate.records.verify()).toMatchObject({ kind: 'ok', checkpoints: 1 })
    await gate.close()
  })
})

describe('chain: copies', () => {
  test('a file gets each note as it is, also behind one that was cut off', async () => {
    const file = join(root, 'notes.txt')
    writeFileSync(file, 'lockgate/00\ncheckpoint 1 of')
    const gate = await open(database(), { checkpointTo: [{ file }] })
    const made: (string | undefined)[] = []
    for (let round = 0; round < 3; round += 1) {
      await calls(gate, 1)
      made.push(await gate.records.checkpoint())
    }
    const notes = readNotes(readFileSync(file, 'utf8'))
    expect(notes).toEqual(made)
    expect(await gate.records.verify({ notes })).toMatchObject({ kind: 'ok', checkpoints: 3 })
    await gate.close()
  })

  test('a place that fails is said once, holds nothing up, and gets what it missed with the next', async () => {
    const entries: LogEntry[] = []
    const got: string[] = []
    let works = false
    const place = async (note: string): Promise<void> => {
      if (!works) throw new Error('not reachable')
      got.push(note)
    }
    const gate = await open(database(), { checkpointTo: [place] }, { log: (entry) => void entries.push(entry) })
    const made: (string | undefined)[] = []
    for (let round = 0; round < 3; round += 1) {
      works = round === 2
      await calls(gate, 1)
      made.push(await gate.records.checkpoint())
      expect(gate.troubles()).toEqual(works ? [] : [`${round + 1} checkpoints have not reached function 1`])
    }
    expect(got).toEqual(made)
    expect(entries.filter(({ message }) => message.includes('copy'))).toHaveLength(1)
    await gate.close()
  })
})

test('chain: dropping what is old, and erasing a person, leave records that verify against all copies', async () => {
  const clock = new FakeClock()
  const notes: string[] = []
  const file = database()
  const audit = { keepMs: 10_000, checkpointTo: [(note: string) => void notes.push(note)] }
  for (let opening = 0; opening < 3; opening += 1) {
    const gate = await open(file, audit, { clock })
    await calls(gate, 3)
    await gate.records.checkpoint()
    await clock.advance(8_000)
    await calls(gate, 2)
    await gate.records.retain()
    if (opening === 1) await gate.records.erase({ tenant: 'local', user: 'ana' }, 'ops')
    expect(await gate.records.verify({ notes })).toMatchObject({ kind: 'ok' })
    await gate.close()
  }
  const gate = await open(file, audit, { clock })
  expect(await gate.records.query({ kind: 'retention', limit: 10 })).not.toHaveLength(0)
  expect(await gate.records.verify({ notes })).toMatchObject({ kind: 'ok' })
  await gate.close()
})
