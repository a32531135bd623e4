// `job_output` and `job_stop`: what a command in the background says, and its end. Only the conversation that started a job
// finds it.

import type { JsonObject } from '../../../base/json-value.ts'
import { plainTerminalText } from '../../../base/terminal-text.ts'
import { textPart } from '../../../describe/content.ts'
import { defineTool } from '../../../describe/define-tool.ts'
import type { Presentation, Tool } from '../../../describe/tool.ts'
import { type ToolFailure, toolFailure } from '../../../describe/tool-failure.ts'
import type { Job, Jobs } from './jobs.ts'

export type JobState = {
  readonly job: string
  readonly program: string
  readonly args: readonly string[]
  readonly state: 'running' | 'ended'
  /** How it ended, in words. */
  readonly ended?: string
  readonly exitCode?: number
  /** Offset of the first byte of `text`, and of the next one to ask for. */
  readonly from: number
  readonly next: number
  /** Bytes that were asked for and are not kept any more. */
  readonly missed: number
  readonly text: string
}

const READ_BYTES_MAX = 32_768

export const jobTools = (jobs: Jobs): readonly Tool[] => [jobOutputTool(jobs), jobStopTool(jobs)]

const JOB_FIELD: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  description: 'Id of the job, from run_command.',
}
const EXAMPLE = { job: 'job_00000000-0000-4000-8000-000000000000' }

function jobOutputTool(jobs: Jobs): Tool {
  return defineTool({
    name: 'job_output',
    version: '1.0.0',
    title: 'Read what a job prints',
    description: 'Read what a command in the background has printed, standard output and standard error in one.',
    returns: 'The text from an offset on, whether the job still runs, how it ended, and where to go on.',
    guidance: { limits: `${READ_BYTES_MAX} bytes at a time; of a job that prints much only the newest part is kept` },
    input: {
      type: 'object',
      properties: {
        job: JOB_FIELD,
        from: {
          type: 'integer',
          minimum: 0,
          description: 'Offset in bytes to read from: `next` of the last answer; the start where it is left out.',
        },
      },
      required: ['job'],
      additionalProperties: false,
    },
    examples: [EXAMPLE, { ...EXAMPLE, from: 4_096 }],
    effect: 'read',
    repeat: 'safe',
    touches: ({ job }) => [`read job:${job}`],
    run: ({ job, from = 0 }, { caller }) => {
      const found = jobs.find(caller, String(job))
      return found === undefined ? noSuchJob() : stateOf(found, Number(from))
    },
    present: (value) => present(value as JobState),
  })
}

function jobStopTool(jobs: Jobs): Tool {
  return defineTool({
    name: 'job_stop',
    version: '1.0.0',
    title: 'End a job',
    description: 'End a command in the background and everything that it started.',
    returns: 'How it ended, and the last of its output.',
    input: { type: 'object', properties: { job: JOB_FIELD }, required: ['job'], additionalProperties: false },
    examples: [EXAMPLE],
    effect: 'execute',
    repeat: 'safe',
    lane: 'touches',
    touches: ({ job }) => [`write job:${job}`],
    run: async ({ job }, { caller }) => {
      const found = jobs.find(caller, String(job))
      if (found === undefined) return noSuchJob()
      found.stop('stopped')
      await found.done
      return stateOf(found, Math.max(0, found.ring.total - READ_BYTES_MAX))
    },
    present: (value) => present(value as JobState),
  })
}

function stateOf(job: Job, from: number): JobState {
  const { id, facts, end } = job
  const read = job.ring.read(from, READ_BYTES_MAX, end === undefined)
  const exitCode = end?.kind === 'ended' ? end.exitCode : null
  return {
    ...{ job: id, program: facts.program, args: facts.args, state: end === undefined ? 'running' : 'ended' },
    ...(end === undefined
      ? {}
      : { ended: [endingOf(job), end.problem].filter((part) => part !== undefined).join('; ') }),
    ...(exitCode === null ? {} : { exitCode }),
    ...{ ...read, missed: Math.max(0, read.from - Math.min(from, job.ring.total)) },
    // Looked at for secrets as it is shown: sequences of a terminal could stand in the middle of one.
    text: plainTerminalText(read.text),
  }
}

function endingOf({ end, why }: Job): string {
  if (end?.kind === 'unstarted') return 'it could not be started on this machine'
  if (why !== undefined) return `it was ended: ${why}`
  const [limit] = end?.limitsHit ?? []
  if (end?.stopped !== undefined || (limit !== undefined && end?.exitCode !== 0))
    return `it was ended: limit of ${limit ?? end?.stopped}`
  return end?.exitCode === null ? `ended by ${end.endSignal}` : `exit code ${end?.exitCode}`
}

function shown({ program, state, ended, text, next, missed }: JobState): string {
  const how = state === 'running' ? 'runs' : `has ended: ${ended}`
  const lost = missed > 0 ? [`[${missed} bytes before this are not kept any more]`] : []
  return [`\`${program}\` ${how}; go on from ${next}`, ...lost, text.replace(/\n$/, '')].join('\n')
}

function present(state: JobState): Presentation {
  const { exitCode, text } = state
  const display = { kind: 'terminal', text, ...(exitCode === undefined ? {} : { exitCode }) } as const
  return { content: [textPart(plainTerminalText(shown(state)))], display }
}

const noSuchJob = (): ToolFailure =>
  toolFailure({
    ...{ code: 'no_such_job', effect: 'none', retry: 'fix_args' },
    message: 'there is no such job of yours: it is unknown, or ended so long ago that nothing of it is kept',
  })
