// A failure that a tool expects and describes. Returned (or thrown) by `run`, it ends the call as `tool_error` with the
// tool's own code; every other throw ends it as `tool_crashed`, whose text stays with the operator.

import type { ContentPart, Display } from './content.ts'
import type { RetryAdvice } from './error-types.ts'
import type { EffectState } from './outcome.ts'

/** How a failure may end its call. */
export const FAILURE_TYPES = [
  'tool_error',
  'permission_denied',
  'timeout',
  'tool_crashed',
  'outcome_unknown',
  'unavailable',
  'oversized',
  'unsafe_args',
  'busy',
  'output_invalid',
] as const

export type ToolFailureOptions = {
  /** The tool's own code, e.g. `file_not_found`. */
  readonly code: string
  /** For the model: what to do next; no path outside the workspace, no stack, no secret. */
  readonly message: string
  /** Whether anything happened. Absent: `none` for a read, `unknown` for everything else. */
  readonly effect?: EffectState
  readonly retry?: RetryAdvice
  /** Replaces the message as what the model reads, e.g. an upstream's own error content. */
  readonly content?: readonly ContentPart[]
  /** What a person sees of it. */
  readonly display?: Display
  /** Ends the call as this error type instead of `tool_error`. */
  readonly type?: (typeof FAILURE_TYPES)[number]
  /** For the operator only. */
  readonly help?: string
  readonly details?: Readonly<Record<string, unknown>>
}

export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
  readonly options: ToolFailureOptions
  constructor(options: ToolFailureOptions) {
    super(options.message)
    this.options = options
  }
}

export const toolFailure = (options: ToolFailureOptions): ToolFailure => new ToolFailure(options)
