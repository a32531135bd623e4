import { expect, test } from 'vitest'
import type { Outcome, OutcomeMeta } from '../describe/outcome.ts'
import { turnSchedule } from './turn-schedule.ts'

const outcome = (tool: string, elapsedMs: number, meta: Partial<OutcomeMeta>): Outcome => ({
  ...{ ok: true, value: 1, content: [], elapsedMs },
  meta: { callId: `call_${tool}`, runId: 'run', tool, attempts: meta.startedMs === undefined ? 0 : 1, ...meta },
})
const text = (outcomes: readonly Outcome[]) =>
  turnSchedule(outcomes).map((pieces) => pieces.map((piece) => (typeof piece === 'string' ? piece : piece[1])).join(''))

test('a turn of one call has no schedule', () => {
  expect(text([outcome('a', 10, { startedMs: 1 })])).toEqual([])
})

test('calls that ran beside each other say so, and ordered ones say after what', () => {
  const lines = text([
    outcome('read_a', 50, { startedMs: 0 }),
    outcome('read_b', 60, { startedMs: 1 }),
    outcome('write', 100, { startedMs: 61 }),
  ])
  expect(lines[0]).toMatch(/^1 {2}read_a {2}█+·+ {2}0–50 ms {2}beside 2$/)
  expect(lines[1]).toMatch(/beside 1$/)
  expect(lines[2]).toMatch(/^3 {2}write {3}·+█+ {2}61–100 ms {2}after 1, 2$/)
  const bars = lines.map((line) => line.match(/[·█]+/)?.[0].length)
  expect(new Set(bars).size).toBe(1)
})

test('calls that meet at one moment did not run beside each other', () => {
  const lines = text([outcome('a', 10, { startedMs: 0 }), outcome('b', 20, { startedMs: 10 })])
  expect(lines[1]).toMatch(/after 1$/)
  expect(lines[0]).not.toContain('beside')
})

test('a call that was not started has no time, and says where its answer came from', () => {
  const lines = text([
    outcome('a', 10, { startedMs: 0 }),
    outcome('b', 20, { replayOf: 'call_x' }),
    outcome('c', 20, { cached: 'call_y' }),
    outcome('d', 20, {}),
  ])
  expect(lines.slice(1).map((line) => line.replace(/^\d {2}\w {2}/, ''))).toEqual([
    'not started: the answer of call_x was recorded',
    'not started: the answer of call_y was kept',
    'not started',
  ])
})

test('a turn of a hundred calls keeps its lines short', () => {
  const lines = text(Array.from({ length: 100 }, (_, index) => outcome('tool', 10, { startedMs: index % 2 })))
  expect(lines[99]).toMatch(/^100 {2}tool .* beside 99 others$/)
  expect(lines.every((line) => line.length < 120)).toBe(true)
})

test('what counts is when the tools ran, on one scale: not when each call was opened, nor how long it took to record', () => {
  const lines = text([
    outcome('write', 90, { openedAtMs: 1_000, startedMs: 10, endedMs: 50 }),
    outcome('read', 60, { openedAtMs: 1_005, startedMs: 45, endedMs: 55 }),
    outcome('late', 30, { openedAtMs: 1_200, startedMs: 0, endedMs: 20 }),
  ])
  expect(lines[0]).toMatch(/10–50 ms$/)
  expect(lines[1]).toMatch(/50–60 ms {2}after 1$/)
  expect(lines[2]).toMatch(/200–220 ms {2}after 1, 2$/)
})
