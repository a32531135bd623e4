// Runs tools that name a module in worker threads of the machine room. What comes out of a worker is as foreign as what
// comes from anywhere: it is settled like every other answer. The machine's part is loaded when the first such tool runs.

import type { Clock } from '../base/clock.ts'
import { readProgress } from '../describe/read-progress.ts'
import type { WorkerRun } from '../describe/tool.ts'
import { ToolFailure, toolFailure } from '../describe/tool-failure.ts'
import { ToolResult } from '../describe/tool-result.ts'
import type { WorkerHost } from '../machine/worker-host.ts'
import type { WorkerEnd } from '../machine/worker-job.ts'
import type { Job } from './guard.ts'

export class WorkerRuns {
  readonly #clock: Clock
  readonly #hosts = new Map<string, Promise<WorkerHost>>()
  #closed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What the export answered, as a tool in the gate's own process would have; throws what such a tool would have thrown. */
  async run(job: Job, run: WorkerRun): Promise<unknown> {
    const { call, entry, input, scope } = job
    const host = await this.#hostOf(run, entry.tool.limits?.memoryBytes)
    const end = await host.run({
      args: input.args,
      facts: {
        callId: call.id,
        caller: call.caller,
        idempotencyKey: scope.idempotencyKey,
        attempt: scope.attempt,
        place: scope.place,
      },
      leftMs: scope.leftMs(),
      signal: scope.signal,
      onProgress: (said) => scope.progress(readProgress(said) ?? {}),
      onLog: (message, details) => scope.log(message, { details }),
    })
    return answerOf(job, end)
  }

  async close(): Promise<void> {
    this.#closed = true
    const hosts = await Promise.allSettled(this.#hosts.values())
    await Promise.all(hosts.map((host) => (host.status === 'fulfilled' ? host.value.close() : undefined)))
  }

  #hostOf(run: WorkerRun, memoryBytes: number | undefined): Promise<WorkerHost> {
    if (this.#closed) return Promise.reject(unstarted('the gate is closing'))
    const key = JSON.stringify([run.module, run.export, memoryBytes])
    const known = this.#hosts.get(key)
    if (known !== undefined) return known
    const host = import('../machine/worker-host.ts').then(({ startWorkerHost }) =>
      startWorkerHost({ ...run, clock: this.#clock, ...(memoryBytes === undefined ? {} : { memoryBytes }) }),
    )
    this.#hosts.set(key, host)
    return host
  }
}

function answerOf(job: Job, end: WorkerEnd): unknown {
  switch (end.kind) {
    case 'answered':
      return end.content === undefined
        ? end.value
        : new ToolResult(
            end.value,
            end.content as ToolResult<unknown>['content'],
            end.display as ToolResult<unknown>['display'],
          )
    case 'failed':
      throw new ToolFailure(failureOptions(end.failure))
    case 'threw':
      throw new Error(end.reason)
    case 'unstarted':
      throw unstarted(end.reason)
    case 'stopped':
      throw end.started
        ? (job.scope.aborted ?? new Error('the worker was stopped'))
        : unstarted('it was stopped before it began')
    case 'crashed':
      throw end.limit === undefined ? new Error(end.reason) : limited(job, end.limit, end.reason)
  }
}

const failureOptions = (failure: unknown): ConstructorParameters<typeof ToolFailure>[0] =>
  (typeof failure === 'object' && failure !== null ? failure : {}) as ConstructorParameters<typeof ToolFailure>[0]

const unstarted = (help: string): ToolFailure =>
  toolFailure({
    code: 'unstarted',
    type: 'unavailable',
    message: 'the module of this tool cannot be run; tell the operator',
    effect: 'none',
    help,
  })

function limited(job: Job, limit: string, help: string): ToolFailure {
  job.scope.noteLimit(limit, 'hit')
  return toolFailure({
    code: 'limit',
    type: 'tool_crashed',
    message: `the tool was ended because it ran into its bound on ${limit}`,
    help,
    details: { limit },
  })
}
