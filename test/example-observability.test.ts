// Goal: what docs/observability.md shows can be copied and works, and its table of metrics is the one that there is. Method:
// run the example, and hold the text of the document against it.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { numbers, spans } from '../examples/observability/observability.ts'
import { createGate } from '../src/index.ts'

type Print = (line: string) => void

async function printed(example: (print: Print) => Promise<void>): Promise<readonly string[]> {
  const lines: string[] = []
  await example((line) => lines.push(line))
  return lines
}

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')

test('a call is a span below the trace of its caller, with its stages', async () => {
  expect(await printed(spans)).toEqual([
    'trace 0af7651916cd43dd8448eb211c80319c',
    'decision allow',
    'stages discover, admit, validate, decide, execute, shape',
  ])
})

test('numbers and health need no SDK', async () => {
  expect(await printed(numbers)).toEqual([
    'lockgate_calls_total{tool="stock",type="ok",decision="allow"} 1',
    'lockgate_calls_total{tool="stock",type="invalid_args",decision="none"} 1',
    'ready',
  ])
})

test('the document shows the example as it stands, and names every metric and no other', async () => {
  const page = read('../docs/observability.md')
  for (const [, block = ''] of page.matchAll(/```ts\n(.*?)```/gs))
    expect(read('../examples/observability/observability.ts')).toContain(block)
  const gate = await createGate()
  const there = [...gate.metrics().matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  await gate.close()
  const named = new Set([...page.matchAll(/`(lockgate_[a-z_]+)`/g)].map(([, name]) => name))
  // Of tools and sources there are none in this gate.
  for (const name of there) expect(named).toContain(name)
  expect([...named].filter((name) => !there.includes(name)).sort()).toEqual([
    'lockgate_breaker_open',
    'lockgate_call_seconds_total',
    'lockgate_calls_total',
    'lockgate_source_ready',
  ])
})
