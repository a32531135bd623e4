// How far running calls are, on standard error: a line for each word of a tool, a few times a second at most, and none after its
// call has ended. Results stay alone on standard output.

import { systemClock } from '../base/clock.ts'
import { Steady } from '../base/steady.ts'
import type { Progress } from '../describe/tool.ts'
import type { Gate } from '../gate-contract.ts'
import type { Terminal } from './terminal.ts'

const GAP_MS = 200
const LINE_CHARACTERS_MAX = 200

/** Until the answer is called. */
export function followProgress(gate: Pick<Gate, 'on'>, terminal: Pick<Terminal, 'note'>): () => void {
  const calls = new Map<string, Steady<string>>()
  const end = (callId: string): void => {
    calls.get(callId)?.end()
    calls.delete(callId)
  }
  const stops = [
    gate.on('call-progress', ({ callId, tool, progress }) => {
      const line = progressLine(progress)
      if (line === '') return
      const steady =
        calls.get(callId) ??
        new Steady<string>(GAP_MS, systemClock, (text) => terminal.note(['dim', `… ${tool}: ${text}`]))
      calls.set(callId, steady)
      steady.push(line)
    }),
    gate.on('call-closed', ({ meta }) => end(meta.callId)),
  ]
  return () => {
    for (const stop of stops) stop()
    for (const callId of [...calls.keys()]) end(callId)
  }
}

/** The newest line of what a tool says, and how far it is. */
export function progressLine({ message = '', progress, total }: Progress): string {
  const words =
    message
      .split(/[\r\n]+/)
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .at(-1) ?? ''
  const count = progress === undefined ? '' : total === undefined ? `${progress}` : `${progress}/${total}`
  return [words.slice(0, LINE_CHARACTERS_MAX), count].filter((part) => part !== '').join(' ')
}
