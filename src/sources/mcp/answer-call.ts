// Turns the end of an upstream's call into the answer of a tool. What the server says goes to the model whole; what went
// wrong between us goes to the operator, and the model is told what it can do. An effect that nobody saw is unknown.

import type { RunAnswer } from '../../describe/tool.ts'
import { type ToolFailureOptions, toolFailure } from '../../describe/tool-failure.ts'
import { ToolResult } from '../../describe/tool-result.ts'
import type { UpstreamTool } from './offer-tools.ts'
import { readResult } from './read-result.ts'
import { type CallEnd, MESSAGE_BYTES_MAX } from './upstream-connection.ts'

export function answerCall(tool: UpstreamTool, end: CallEnd): RunAnswer<unknown> {
  switch (end.kind) {
    case 'result':
      return answerResult(tool, end.result)
    case 'refused':
      return refused(tool, end)
    case 'malformed':
      return broken(tool, 'upstream_malformed', 'the upstream server answered something that is no result', end.reason)
    case 'oversized':
      return toolFailure({
        type: 'oversized',
        code: 'upstream_oversized',
        message: `the answer of the upstream server is larger than ${MESSAGE_BYTES_MAX} bytes and was not taken; ask for less`,
        ...effectOf(tool),
      })
    case 'needs-input':
      return toolFailure({
        code: 'input_required',
        message: 'the upstream server wants to ask the user something first, which it cannot do here',
        retry: 'never',
        ...effectOf(tool),
      })
    case 'unsent':
      return toolFailure({
        type: 'unavailable',
        code: 'upstream_unreachable',
        message: 'the upstream server cannot be reached now; nothing was done',
        effect: 'none',
        retry: 'later',
        help: end.reason,
      })
    case 'lost':
      return end.limits === undefined
        ? lost(tool, 'the contact to the upstream server was lost before it answered', end.reason)
        : lost(
            tool,
            `the upstream server was ended because it ran into its limit of ${end.limits.join(' and ')}`,
            end.reason,
            end.limits[0],
          )
    case 'left':
      return lost(tool, 'nobody waited for the upstream server any more, and it was told to stop', 'the call was over')
  }
}

function answerResult(tool: UpstreamTool, given: unknown): RunAnswer<unknown> {
  const result = readResult(given)
  if (result.kind === 'malformed')
    return broken(tool, 'upstream_malformed', 'the upstream server answered something that is no result', result.reason)
  const { content, structured, isError } = result
  if (isError) {
    const message = 'the upstream tool reports a failure of its own'
    return toolFailure({
      code: 'upstream_error',
      message,
      ...effectOf(tool),
      ...(content.length === 0 ? {} : { content }),
    })
  }
  // With an output schema the structured part is the value, and one that is missing does not fit the schema.
  const value = tool.hasOutputSchema
    ? structured
    : { content, ...(structured === undefined ? {} : { structuredContent: structured }) }
  // Where only the structured part says anything, what the model reads is made of the value once that is clean.
  return content.length === 0 && structured !== undefined ? value : new ToolResult(value, content)
}

/** The request is at fault, by JSON-RPC 2.0: invalid, no such method, invalid parameters. */
const OF_THE_REQUEST = new Set([-32600, -32601, -32602])

/** A server that blames the request is not broken, and is not left alone for it. What it says stays from the model. */
function refused(tool: UpstreamTool, { code, reason }: CallEnd & { kind: 'refused' }): RunAnswer<unknown> {
  return toolFailure({
    type: OF_THE_REQUEST.has(code) ? 'tool_error' : 'tool_crashed',
    code: 'upstream_refused',
    message: `the upstream server answered with a protocol error (${code})`,
    help: reason,
    ...effectOf(tool),
  })
}

const broken = (tool: UpstreamTool, code: string, message: string, help: string): RunAnswer<unknown> =>
  toolFailure({ type: 'tool_crashed', code, message, help, ...effectOf(tool) })

function lost(tool: UpstreamTool, message: string, help: string, limit?: string): RunAnswer<unknown> {
  const details = limit === undefined ? {} : { details: { limit } }
  if (tool.reads)
    return toolFailure({
      type: 'tool_crashed',
      code: 'upstream_lost',
      message: `${message}; it only reads, so it can be asked again`,
      help,
      effect: 'none',
      retry: 'safe',
      ...details,
    })
  return toolFailure({
    type: 'outcome_unknown',
    code: 'upstream_lost',
    message: `${message}; it may have acted, so look before you try again`,
    help,
    effect: 'unknown',
    retry: 'never',
    ...details,
  })
}

// INVARIANT honest-effect: whatever the server reports, a tool that does more than read may have done it.
const effectOf = (tool: UpstreamTool): Pick<ToolFailureOptions, 'effect'> => ({
  effect: tool.reads ? 'none' : 'unknown',
})
