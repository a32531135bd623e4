// The input schema of `run_command`. Nothing of it reaches the environment, the sandbox or a shell.

import type { JsonObject } from '../../../base/json-value.ts'
import type { ShellSettings } from './read-shell-options.ts'

export type CommandInputParts = {
  readonly settings: ShellSettings
  /** Names of the roots of the workspace. */
  readonly roots: readonly string[]
  readonly hasJobs: boolean
}

const ARGS: JsonObject = {
  type: 'array',
  maxItems: 1_000,
  items: { type: 'string', maxLength: 131_071, pattern: '^[^\\x00]*$' },
  description: 'Its arguments, each passed on as it is. Only with `program`.',
}

const COMMAND: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 65_536,
  description:
    'Instead of `program` and `args`: both as one line. Only quotes and backslashes have a meaning; everything else that a shell would act on is refused outside of quotes.',
}

const BACKGROUND: JsonObject = {
  type: 'boolean',
  description: 'Let it go on after the call; read its output with job_output.',
}

export function commandInput({ settings, roots, hasJobs }: CommandInputParts): JsonObject {
  const { deadlineMs, jobs } = settings
  return {
    type: 'object',
    properties: {
      program: { type: 'string', minLength: 1, maxLength: 128, description: 'Bare name of the program.' },
      args: ARGS,
      command: COMMAND,
      cwd: {
        type: 'string',
        description: 'Folder to run in, relative to the root of the workspace; the root where it is left out.',
      },
      stdin: {
        type: 'string',
        maxLength: 1_000_000,
        description: 'Text for its standard input; none where it is left out.',
      },
      timeoutMs: {
        type: 'integer',
        minimum: 1,
        description: `Milliseconds after which it is ended; at most ${deadlineMs}${hasJobs ? `, in the background ${jobs.deadlineMs}` : ''}.`,
      },
      ...(hasJobs ? { background: BACKGROUND } : {}),
      ...(roots.length < 2 ? {} : { root: rootField(roots) }),
    },
    required: [],
    additionalProperties: false,
  }
}

const rootField = (roots: readonly string[]): JsonObject => ({
  type: 'string',
  enum: [...roots],
  description: 'Root folder that `cwd` is relative to.',
})
