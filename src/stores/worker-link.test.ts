// What the caller's thread does when the worker's does not do its part. Method: workers of a few lines that die in each way.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { WorkerLink } from './worker-link.ts'

const root = mkdtempSync(join(tmpdir(), 'lockgate-link-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let workers = 0
const OPENED = `
  import { workerData } from 'node:worker_threads'
  const { port, reports } = workerData
  port.postMessage({ kind: 'opened' })
`

function open(code: string) {
  const file = join(root, `worker-${++workers}.mjs`)
  writeFileSync(file, code)
  return WorkerLink.open(pathToFileURL(file), { file: 'unused', chain: 'chain' }, () => 1)
}

async function opened(code: string): Promise<WorkerLink> {
  const answer = await open(code)
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
    const missing = pathToFileURL(join(root, 'nothing.mjs'))
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

test('a worker that takes no rows away: past the bound the caller is held once, then the failure is set', async () => {
  const idle = `port.on('message', ({ requests }) => requests.some((one) => one.request.kind === 'close') && process.exit(0))`
  const link = await opened(OPENED + idle)
  for (let number = 0; number < 50_100; number += 1) link.append(row, undefined)
  expect(link.failure()).toMatch(/100 records were lost/)
  await expect(link.close()).rejects.toThrow(/worker/)
})
