// What runs inside a worker thread of `worker-host.ts`, as the text of a script: a text needs no file of its own, neither in
// the sources nor in the package. It loads one module, calls one export for each job, and speaks in plain messages. It
// refuses to know the gate: what it has of a call is what was posted to it.

import type { WorkerFacts } from './worker-job.ts'

/** From the gate to the worker. */
export type ToWorker =
  | { readonly kind: 'run'; readonly args: unknown; readonly facts: WorkerFacts; readonly leftMs: number }
  | { readonly kind: 'abort'; readonly reason: string }

/** From the worker to the gate. `answered` carries the two faces of a value where the export gave both. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'unloadable'; readonly reason: string }
  | { readonly kind: 'progress'; readonly progress: unknown }
  | { readonly kind: 'log'; readonly message: string; readonly details: unknown }
  | { readonly kind: 'answered'; readonly value: unknown; readonly content?: unknown; readonly display?: unknown }
  | { readonly kind: 'failed'; readonly failure: unknown }
  | { readonly kind: 'threw'; readonly reason: string }

export const WORKER_CODE = `'use strict'
const { parentPort, workerData } = require('node:worker_threads')
const say = (message) => {
  try {
    parentPort.postMessage(message)
    return true
  } catch (error) {
    if (message.kind !== 'progress' && message.kind !== 'log')
      parentPort.postMessage({ kind: 'threw', reason: 'its answer cannot leave the worker: ' + textOf(error) })
    return false
  }
}
const textOf = (error) => {
  try {
    return error instanceof Error ? String(error.stack ?? error.message) : String(error)
  } catch {
    return 'it threw something that has no text'
  }
}
let controller
const answer = (value) => {
  if (isFailure(value)) return say({ kind: 'failed', failure: value.options })
  if (value instanceof Object && value.constructor && value.constructor.name === 'ToolResult')
    return say({ kind: 'answered', value: value.value, content: value.content, display: value.display })
  say({ kind: 'answered', value })
}
const isFailure = (value) =>
  value instanceof Error && value.name === 'ToolFailure' && typeof value.options === 'object' && value.options !== null
const isGenerator = (value) =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value && typeof value.next === 'function'
const drive = async (generated, signal) => {
  for (;;) {
    const step = await generated.next()
    await new Promise((resolve) => setImmediate(resolve))
    if (step.done) return step.value
    say({ kind: 'progress', progress: step.value })
    if (signal.aborted) {
      await generated.return(undefined)
      throw signal.reason
    }
  }
}
const run = async (tool, { args, facts, leftMs }) => {
  const mine = (controller = new AbortController())
  const { signal } = mine
  const endsMs = performance.now() + leftMs
  const context = Object.freeze({
    ...facts,
    signal,
    leftMs: () => Math.max(0, endsMs - performance.now()),
    progress: (progress) => void (controller === mine && say({ kind: 'progress', progress })),
    log: (message, details) => void (controller === mine && say({ kind: 'log', message: String(message), details })),
  })
  try {
    const given = tool(args, context)
    const value = isGenerator(given) ? await drive(given, signal) : await given
    controller = undefined
    answer(value)
  } catch (error) {
    controller = undefined
    if (isFailure(error)) say({ kind: 'failed', failure: error.options })
    else say({ kind: 'threw', reason: textOf(error) })
  }
}
const start = async () => {
  const loaded = await import(workerData.module)
  const tool = Object.hasOwn(loaded, workerData.name) ? loaded[workerData.name] : undefined
  if (typeof tool !== 'function') throw new Error('it has no function \`' + workerData.name + '\`')
  parentPort.on('message', (message) => {
    if (message.kind === 'abort') controller?.abort(new Error(message.reason))
    else run(tool, message)
  })
  say({ kind: 'ready' })
}
start().catch((error) => say({ kind: 'unloadable', reason: textOf(error) }))
`
