// What the caller's thread does when the worker's does not do its part. Method: workers of a few lines that die in each way.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { rowOf, StoreFiles, until } from './conformance-files.ts'
import { RowBuffer } from './row-buffer.ts'
import { workerFile } from './worker-file.ts'
import { WorkerLink } from './worker-link.ts'

const files = new StoreFiles()

let workers = 0
const OPENED = `
  import { workerData } from 'node:worker_threads'
  const { port, reports } = workerData
  port.postMessage({ kind: 'opened' })
`

function open(code: string, rows?: RowBuffer) {
  const file = join(files.root, `worker-${++workers}.mjs`)
  writeFileSync(file, code)
  return WorkerLink.open(pathToFileURL(file), { file: 'unused', chain: 'chain' }, () => 1, rows)
}

async function opened(code: string, rows?: RowBuffer): Promise<WorkerLink> {
  const answer = await open(code, rows)
  if (answer.kind === 'failed') throw new Error(answer.reason)
  return answer.link
}

const row = { kind: 'end', at: 1, callId: 'call-1', body: '{}' } as const
const draft = {
  ...{ callId: 'call-1', tool: 'w', effect: 'write', argumentsText: '{}' },
  record: { ...row, kind: 'intent' },
} as const

describe('a worker that does not start', () => {
  test.each([
    ['it throws', `throw new Error('no such luck')`, /no such luck/],
    ['it does not parse', 'const = 1', /Unexpected token/],
    ['it ends without a word', 'process.exit(0)', /has ended/],
    ['it does not find a module', `import 'no-such-module'`, /no-such-module/],
  ])('%s: the opening fails with a reason', async (_name, code, reason) => {
    expect(await open(code)).toEqual({ kind: 'failed', reason: expect.stringMatching(reason) })
  })

  test('a file that is not there: the opening fails with a reason', async () => {
    const missing = pathToFileURL(join(files.root, 'nothing.mjs'))
    const answer = await WorkerLink.open(missing, { file: 'unused', chain: 'chain' }, () => 1)
    expect(answer).toEqual({ kind: 'failed', reason: expect.stringMatching(/nothing\.mjs/) })
  })
})

describe('a worker that dies while it is asked', () => {
  const ways = [
    ['by an error', `port.on('message', () => { throw new Error('broken') })`],
    ['by an exit', `port.on('message', () => process.exit(1))`],
    ['by a rejection', `port.on('message', async () => { throw new Error('broken') })`],
  ] as const

  test.each(ways)(
    '%s: intents fail, everything else rejects, nothing hangs, and the failure stays',
    async (_name, code) => {
      const link = await opened(OPENED + code)
      expect(link.failure()).toBeUndefined()
      link.append(row, undefined)
      const intended = link.ask<'intend'>({ kind: 'intend', draft, now: 1 })
      const flushed = link.ask<'flush'>({ kind: 'flush' })
      const read = link.ask<'chains'>({ kind: 'chains' })
      await expect(flushed).rejects.toThrow(/worker/)
      await expect(read).rejects.toThrow(/worker/)
      expect(await intended).toEqual({ kind: 'failed', reason: expect.stringMatching(/worker/) })
      expect(link.failure()).toMatch(/worker/)
      await expect(link.ask<'chains'>({ kind: 'chains' })).rejects.toThrow(/worker/)
      expect(() => link.append(row, undefined)).not.toThrow()
      await expect(link.close()).rejects.toThrow('1 records were not written')
    },
  )

  test('in the middle of a close: the close rejects', async () => {
    const link = await opened(`${OPENED} port.on('message', () => process.exit(1))`)
    await expect(link.close()).rejects.toThrow(/worker/)
  })
})

describe('a worker that was closed', () => {
  const ANSWERS = `
    import { writeFileSync } from 'node:fs'
    const answer = ({ requests }) => {
      const replies = requests.map(({ id }) => ({ id, kind: 'done', value: undefined }))
      port.postMessage({ kind: 'progress', rowsDone: 0, charsDone: 0, failure: undefined, replies })
    }
  `

  test('is let come to its own end: nothing that it is still at is cut off', async () => {
    const file = join(files.root, 'ended')
    const link = await opened(`${OPENED}${ANSWERS}
      port.on('message', (batch) => {
        answer(batch)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150)
        writeFileSync(${JSON.stringify(file)}, 'ended')
        port.close()
      })
    `)
    await link.close()
    expect(readFileSync(file, 'utf8')).toBe('ended')
  })

  test('is ended where it does not end', async () => {
    const link = await opened(`${OPENED}${ANSWERS} port.on('message', answer); setInterval(() => {}, 1_000)`)
    await link.close()
    expect(link.failure()).toBe('the store is closed')
  })
})

describe('rows past the bound', () => {
  const ENDS_WHEN_CLOSED = `
    port.on('message', ({ requests }) => requests.some((one) => one.request.kind === 'close') && process.exit(0))
  `

  test('where the worker takes none away, the caller is held once, then rows are counted as lost', async () => {
    for (const rows of [new RowBuffer(100), new RowBuffer(1_000_000, 200)]) {
      const link = await opened(OPENED + ENDS_WHEN_CLOSED, rows)
      for (let number = 0; number < 110; number += 1) link.append(row, undefined)
      expect(link.failure()).toMatch(/^10 records were lost/)
      await expect(link.close()).rejects.toThrow(/worker/)
    }
  })

  test('a body larger than the bound is kept where nothing else waits', async () => {
    const rows = new RowBuffer(100, 10)
    expect(rows.hasRoom(1_000)).toBe(true)
    rows.push({ ...row, body: 'x'.repeat(1_000) }, undefined)
    expect(rows.hasRoom(0)).toBe(false)
  })

  test('chain: once the disk takes rows again, a row says how many were lost, and the failure ends with it', async () => {
    const code = await workerFile()
    if (code === undefined) throw new Error('no worker')
    const what = { file: files.file, chain: 'chain' }
    const answer = await WorkerLink.open(code, what, () => 77, new RowBuffer(100))
    if (answer.kind === 'failed') throw new Error(answer.reason)
    const { link } = answer
    const database = await files.connect()
    database.exec(`CREATE TRIGGER full BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
    link.append(row, undefined)
    await until(() => link.failure() !== undefined)
    for (let number = 1; number <= 110; number += 1) link.append(rowOf(`call-${number}`), undefined)
    expect(link.failure()).toMatch(/^11 records were lost: the disk is full/)
    database.exec('DROP TRIGGER full')
    await until(() => link.failure() === undefined)
    const last = database.prepare('SELECT kind, at, body, seq FROM records ORDER BY id DESC LIMIT 1').all([])
    expect(last).toMatchObject([{ kind: 'gate', at: 77, body: '{"event":"records-lost","count":11}', seq: 101 }])
    database.close()
    await link.close()
  })
})
