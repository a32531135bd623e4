// What a command's end means to the caller: a value where the exit code is an answer, a failure with the output in its content
// otherwise. A bound that it ran into is named; what was cut says so.

import { plainTerminalText } from '../../../base/terminal-text.ts'
import { type Display, textPart } from '../../../describe/content.ts'
import type { EffectState } from '../../../describe/outcome.ts'
import type { Place } from '../../../describe/place.ts'
import type { Presentation } from '../../../describe/tool.ts'
import { type ToolFailure, type ToolFailureOptions, toolFailure } from '../../../describe/tool-failure.ts'
import { ToolResult } from '../../../describe/tool-result.ts'
import type { CapturedOutput, ProcessEnd } from '../../../machine/process-plan.ts'

export type CommandValue = {
  readonly program: string
  readonly args: readonly string[]
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** What was left out of the output, in words. */
  readonly cut?: string
  readonly place: Place
}

/** The command as the caller knows it, and what of it decides how its end is read. */
export type AnsweredCommand = {
  readonly program: string
  readonly args: readonly string[]
  readonly place: Place
  readonly reads: boolean
  readonly benign: readonly number[]
}

type Ended = ProcessEnd & { readonly kind: 'ended' }

export type CommandAnswer = CommandValue | ToolResult<CommandValue> | ToolFailure

/** @param timedOutMs Milliseconds after which it was ended, where its own time was up. */
export function answerOf(command: AnsweredCommand, end: ProcessEnd, timedOutMs?: number): CommandAnswer {
  if (end.kind === 'unstarted') return unstarted(command, end)
  const coloured = outputOf(command, end)
  const hasColours = coloured.stdout.includes(ESCAPE) || coloured.stderr.includes(ESCAPE)
  // A value goes to programs, and is looked at for secrets: neither shall meet a text with sequences of a terminal in it.
  const output = hasColours ? withoutColours(coloured) : coloured
  const isAnswer = end.exitCode !== null && (end.exitCode === 0 || command.benign.includes(end.exitCode))
  const problem = endedEarly(end, isAnswer, timedOutMs) ?? (isAnswer ? undefined : endedBadly(end))
  if (problem === undefined)
    return hasColours ? new ToolResult(output, presentCommand(output).content, terminalOf(coloured)) : output
  // INVARIANT honest-effect: one that was ended midway may have done a part, and nobody knows which.
  const effect: EffectState = command.reads ? 'none' : problem.isWhole ? 'done' : 'unknown'
  const message = `\`${command.program}\` ${problem.what}`
  const content = [textPart(plainTerminalText([message, ...linesOf(output)].join('\n')))]
  return toolFailure({ ...problem.options, effect, message, content, display: terminalOf(coloured) })
}

type Problem = {
  /** What is said of the program. */
  readonly what: string
  /** It came to its own end. */
  readonly isWhole: boolean
  readonly options: Pick<ToolFailureOptions, 'type' | 'code' | 'retry' | 'details'>
}

/** What was ended, or ran into a bound. */
function endedEarly(end: Ended, isAnswer: boolean, timedOutMs: number | undefined): Problem | undefined {
  const early = (what: string, options: Problem['options']): Problem => ({ what, isWhole: false, options })
  if (timedOutMs !== undefined)
    return early(`did not end within ${timedOutMs} ms and was ended`, {
      ...{ type: 'timeout', code: 'timeout', details: { timeoutMs: timedOutMs } },
    })
  if (end.stopped === 'aborted') return early('was ended', { code: 'ended', type: 'tool_crashed' })
  if (end.stopped === 'flood')
    return early('printed more than can be kept and was ended; ask for less', {
      ...{ type: 'oversized', code: 'too_much_output', details: { limit: 'outputBytes' } },
    })
  const hit = end.limitsHit.filter((limit) => limit !== 'outputBytes')
  if (end.stopped === undefined && (hit.length === 0 || isAnswer)) return undefined
  const limit = hit[0] ?? end.stopped ?? 'limit'
  return early(`ran into its limit of ${limit} and was ended`, {
    ...{ type: 'tool_crashed', code: 'limit', details: { limit, exitCode: end.exitCode } },
  })
}

/** What came to an end of its own that is no answer. */
function endedBadly({ exitCode, endSignal }: Ended): Problem {
  const details = { exitCode, signal: endSignal }
  return exitCode === null
    ? {
        what: `ended by ${endSignal ?? 'a signal'}`,
        isWhole: false,
        options: { code: 'ended_by_signal', retry: 'fix_args', details },
      }
    : {
        what: `ended with exit code ${exitCode}`,
        isWhole: true,
        options: { code: 'exit_code', retry: 'fix_args', details },
      }
}

const ESCAPE = '\u001b'

const withoutColours = (value: CommandValue): CommandValue => ({
  ...value,
  ...{ stdout: plainTerminalText(value.stdout), stderr: plainTerminalText(value.stderr) },
})

/** What a person sees: both streams as they were printed. */
function terminalOf(value: CommandValue): Display {
  const { exitCode } = value
  return { kind: 'terminal', text: linesOf(value).join('\n'), ...(exitCode < 0 ? {} : { exitCode }) }
}

/** What a model reads of a command that gave an answer, and what a person sees of it. */
export function presentCommand(value: CommandValue): Presentation {
  const exit = value.exitCode === 0 ? [] : [`[exit code ${value.exitCode}]`]
  const lines = [...linesOf(value), ...exit]
  const text = lines.length === 0 ? '[no output]' : plainTerminalText(lines.join('\n'))
  return { content: [textPart(text)], display: terminalOf(value) }
}

function unstarted({ program }: AnsweredCommand, { why, reason }: ProcessEnd & { kind: 'unstarted' }): ToolFailure {
  return toolFailure({
    ...{ type: 'unavailable', code: why === 'missing' ? 'missing' : 'not_started', effect: 'none', help: reason },
    message: `\`${program}\` could not be started on this machine; nothing was done`,
  })
}

function outputOf({ program, args, place }: AnsweredCommand, end: Ended): CommandValue {
  const cut = [cutOf('stdout', end.stdout), cutOf('stderr', end.stderr)].filter((one) => one !== undefined)
  return {
    ...{ program, args, exitCode: end.exitCode ?? -1 },
    stdout: textOf(end.stdout),
    stderr: textOf(end.stderr),
    ...(cut.length === 0 ? {} : { cut: cut.join('; ') }),
    place,
  }
}

function linesOf({ stdout, stderr, cut }: CommandValue): readonly string[] {
  const plain = (text: string): string => text.replace(/\n$/, '')
  return [
    ...(stdout === '' ? [] : [plain(stdout)]),
    ...(stderr === '' ? [] : ['[stderr]', plain(stderr)]),
    ...(cut === undefined ? [] : [`[${cut}]`]),
  ]
}

function cutOf(stream: string, { head, tail, totalBytes }: CapturedOutput): string | undefined {
  const kept = head.length + tail.length
  return kept >= totalBytes
    ? undefined
    : `${stream}: ${totalBytes - kept} of ${totalBytes} bytes in the middle were left out`
}

/** Bytes that are no UTF-8 become U+FFFD; a character that was cut in two is left out. */
function textOf({ head, tail, totalBytes }: CapturedOutput): string {
  const left = totalBytes - head.length - tail.length
  if (left <= 0) return Buffer.concat([head, tail]).toString('utf8')
  return `${wholeEnd(head).toString('utf8')}\n[... ${left} bytes left out ...]\n${wholeStart(tail).toString('utf8')}`
}

/** Without the start of a character that goes on after it. */
export function wholeEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needs > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** Without the rest of a character that began before it. */
export function wholeStart(bytes: Buffer): Buffer {
  let start = 0
  while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return bytes.subarray(start)
}
