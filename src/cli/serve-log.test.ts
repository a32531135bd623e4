import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { LogOptions } from '../server/config/observe-shape.ts'
import { serveLog } from './serve-log.ts'
import { Terminal } from './terminal.ts'

async function logged(options: LogOptions): Promise<{ readonly out: string; readonly lines: readonly string[] }> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const io = { argv: [], stdin, stdout, stderr, variables: {}, cwd: '/', signal: new AbortController().signal }
  const terminal = new Terminal(io, { json: false })
  const log = await serveLog(io, terminal, options)
  log({ level: 'info', message: 'three', details: { level: 'fatal', time: 0 } })
  log({ level: 'warning', message: 'a line\nof two' })
  log({ level: 'error', message: 'broken', details: { reason: 'disk' } })
  terminal.note(['yellow', 'warning: '], 'a note')
  terminal.note('an announcement')
  const text = String(stderr.read() ?? '')
  return { out: String(stdout.read() ?? ''), lines: text.split('\n').filter((line) => line !== '') }
}

test('as JSON every line is one object with a time, its level and its message; details cannot pose as them', async () => {
  const { out, lines } = await logged({ format: 'json', level: 'info' })
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(out).toBe('')
  expect(entries.map(({ level, message }) => [level, message])).toEqual([
    ['info', 'three'],
    ['warning', 'a line\nof two'],
    ['error', 'broken'],
    ['warning', 'warning: a note'],
    ['info', 'an announcement'],
  ])
  expect(entries[0]).toMatchObject({ name: 'lockgate', details: { level: 'fatal', time: 0 } })
  expect(Date.parse(String(entries[0]?.time))).not.toBeNaN()
})

test('the level holds in both forms', async () => {
  const json = await logged({ format: 'json', level: 'error' })
  expect(json.lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['broken'])
  const text = await logged({ level: 'error' })
  expect(text.lines).toEqual(['error: broken {"reason":"disk"}', 'an announcement'])
  const byDefault = await logged({})
  expect(byDefault.lines.some((line) => line.includes('three'))).toBe(false)
  expect(byDefault.lines.some((line) => line.includes('a note'))).toBe(true)
})
