// Starts a command that goes on after its call. From here on it answers to the jobs, and to whoever may still forbid it.

import type { Place } from '../../../describe/place.ts'
import { SessionEnded } from '../../../describe/session-ended.ts'
import type { RunContext } from '../../../describe/tool.ts'
import type { CommandRunner, ReadyCommand } from './command-runner.ts'
import type { JobSlot } from './jobs.ts'
import type { KeptLimits } from './read-shell-options.ts'

export type StartedJob = {
  readonly program: string
  readonly args: readonly string[]
  /** What job_output and job_stop take. */
  readonly job: string
  readonly place: Place
}

export type JobStart = {
  readonly runner: CommandRunner
  readonly ready: ReadyCommand
  readonly slot: JobSlot
  readonly context: RunContext
  readonly limits: KeptLimits
  readonly timeoutMs: number
}

/** Bytes after which a job is ended for talking too much; only the newest of them are kept. */
const FLOOD_BYTES = 268_435_456

export function startJob({ runner, ready, slot, context, limits, timeoutMs }: JobStart): StartedJob {
  const { program, args } = ready.command
  const facts = { program: program.name, args, place: ready.place }
  const job = slot.start(
    facts,
    async ({ signal, onBytes }) => {
      const end = await runner.run(ready, { signal, onBytes, limits: { ...limits, floodBytes: FLOOD_BYTES } })
      const changed = end.kind === 'ended' ? await ready.finish() : ready.discard()
      return changed === undefined ? end : { ...end, problem: changed.message }
    },
    timeoutMs,
  )
  const unwatch = context.goesOn((reason) =>
    job.stop(reason instanceof SessionEnded ? 'its session ended' : 'not allowed any more'),
  )
  void job.done.then((end) => {
    unwatch()
    if (end.problem !== undefined) context.log(end.problem)
    if (end.kind === 'ended')
      for (const limit of end.unenforced) context.log(`the limit of ${limit} was not kept: this machine cannot`)
  })
  for (const [limit, ability] of Object.entries(ready.abilities.limits))
    if (ability.kind === 'unenforced' && Object.hasOwn(limits, limit)) context.noteLimit(limit, 'unenforced')
  return { ...facts, job: job.id }
}
