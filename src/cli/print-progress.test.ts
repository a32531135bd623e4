// Goal: whoever waits at a terminal sees how far a call is, and no tool can flood the terminal.

import { expect, test } from 'vitest'
import { Emitter } from '../base/emitter.ts'
import type { GateEvents } from '../gate-contract.ts'
import { followProgress, progressLine } from './print-progress.ts'

const caller = { tenant: 't', user: 'u', agent: 'a', roles: [], session: 's' }

test.each([
  [{ message: 'half', progress: 1, total: 2 }, 'half 1/2'],
  [{ progress: 3 }, '3'],
  [{ message: 'first\nlast\n\n' }, 'last'],
  [{ message: '  \n' }, ''],
  [{ message: 'x'.repeat(500) }, 'x'.repeat(200)],
])('%j is one line: `%s`', (progress, line) => {
  expect(progressLine(progress)).toBe(line)
})

test('a flood is shown as its first and its last word, before the call ends and never after it', () => {
  const events = new Emitter<GateEvents>(() => {})
  const shown: string[] = []
  const note = (...pieces: readonly unknown[]): void => void shown.push(JSON.stringify(pieces))
  const stop = followProgress({ on: (name, listener) => events.on(name, listener) }, { note })
  const say = (message: string): void =>
    events.emit('call-progress', { callId: 'call_1', tool: 'build', caller, progress: { message } })
  for (let step = 1; step <= 1_000; step++) say(`step ${step}`)
  expect(shown).toEqual([JSON.stringify([['dim', '… build: step 1']])])
  const meta = { callId: 'call_1', runId: 'run_1', tool: 'build', attempts: 1 }
  events.emit('call-closed', { ok: true, value: 1, content: [], elapsedMs: 1, meta })
  expect(shown.at(-1)).toContain('step 1000')
  stop()
  say('after')
  expect(shown).toHaveLength(2)
})
