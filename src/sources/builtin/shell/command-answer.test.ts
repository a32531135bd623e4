import { describe, expect, it } from 'vitest'
import { ToolFailure } from '../../../describe/tool-failure.ts'
import type { ProcessEnd } from '../../../machine/process-plan.ts'
import { type AnsweredCommand, answerOf, presentCommand } from './command-answer.ts'

const captured = (head: string | Buffer, tail: string | Buffer = '', totalBytes?: number) => {
  const [first, last] = [Buffer.from(head), Buffer.from(tail)]
  return { head: first, tail: last, totalBytes: totalBytes ?? first.length + last.length }
}
type Ended = Extract<ProcessEnd, { kind: 'ended' }>
const end = (more: Partial<Ended> = {}): Ended => ({
  ...{ kind: 'ended', exitCode: 0, endSignal: null, limitsHit: [], unenforced: [], elapsedMs: 1, leftovers: false },
  ...{ stdout: captured(''), stderr: captured('') },
  ...more,
})
const WRITES: AnsweredCommand = { program: 'x', args: [], place: 'sandbox', reads: false, benign: [1] }
const READS: AnsweredCommand = { ...WRITES, reads: true }

const optionsOf = (command: AnsweredCommand, given: ProcessEnd, timedOutMs?: number) => {
  const answer = answerOf(command, given, timedOutMs)
  return answer instanceof ToolFailure ? { type: 'tool_error', ...answer.options } : { value: answer }
}

describe('an exit code', () => {
  it('that is an answer makes a value, another one a failure that did all that it could', () => {
    expect(optionsOf(WRITES, end({ exitCode: 1 }))).toMatchObject({ value: { exitCode: 1 } })
    expect(optionsOf(WRITES, end({ exitCode: 2 }))).toMatchObject({
      type: 'tool_error',
      code: 'exit_code',
      effect: 'done',
    })
    expect(optionsOf(READS, end({ exitCode: 2 }))).toMatchObject({ effect: 'none', details: { exitCode: 2 } })
  })

  it('honest-effect: one that was ended midway may have done a part, unless it only reads', () => {
    const killed = end({ exitCode: null, endSignal: 'SIGKILL' })
    expect(optionsOf(WRITES, killed)).toMatchObject({ code: 'ended_by_signal', effect: 'unknown' })
    expect(optionsOf(WRITES, { ...killed, stopped: 'aborted' }, 100)).toMatchObject({
      type: 'timeout',
      effect: 'unknown',
    })
    expect(optionsOf(READS, { ...killed, stopped: 'aborted' }, 100)).toMatchObject({ type: 'timeout', effect: 'none' })
  })

  it('what never started did nothing', () => {
    expect(optionsOf(WRITES, { kind: 'unstarted', why: 'missing', reason: '/secret/path is gone' })).toMatchObject({
      ...{ type: 'unavailable', effect: 'none', help: '/secret/path is gone' },
      message: expect.not.stringContaining('/secret'),
    })
  })
})

describe('a limit', () => {
  it.each(['cpuMs', 'memoryBytes', 'processes', 'fileBytes'] as const)('of %s that fired is named', (limit) => {
    expect(optionsOf(WRITES, end({ exitCode: 137, limitsHit: [limit] }))).toMatchObject({
      type: 'tool_crashed',
      details: { limit },
    })
    expect(optionsOf(WRITES, end({ exitCode: 0, limitsHit: [limit] }))).toHaveProperty('value')
  })

  it('a flood is ended and says so', () => {
    expect(
      optionsOf(WRITES, end({ exitCode: null, endSignal: 'SIGKILL', stopped: 'flood', limitsHit: ['outputBytes'] })),
    ).toMatchObject({
      ...{ type: 'oversized', details: { limit: 'outputBytes' } },
    })
  })
})

describe('said-cut', () => {
  it('what is left out of the middle is counted, and no character is cut in two', () => {
    const euro = Buffer.from('€')
    const answer = answerOf(
      READS,
      end({
        stdout: captured(
          Buffer.concat([Buffer.from('a'), euro.subarray(0, 2)]),
          Buffer.concat([euro.subarray(2), Buffer.from('b')]),
          100,
        ),
      }),
    )
    expect(answer).toMatchObject({
      stdout: 'a\n[... 95 bytes left out ...]\nb',
      cut: 'stdout: 95 of 100 bytes in the middle were left out',
    })
  })

  it('whole output is given whole', () => {
    expect(answerOf(READS, end({ stdout: captured('a', 'b') }))).toEqual({
      ...{ program: 'x', args: [], exitCode: 0, stdout: 'ab', stderr: '', place: 'sandbox' },
    })
  })
})

it('what a model reads: both streams told apart, and an exit code that is none', () => {
  const text = (value: Parameters<typeof presentCommand>[0]): unknown => presentCommand(value).content[0]
  const value = { program: 'x', args: [], exitCode: 1, stdout: 'out\n', stderr: 'err\n', place: 'child' } as const
  expect(text(value)).toEqual({ type: 'text', text: 'out\n[stderr]\nerr\n[exit code 1]' })
  expect(text({ ...value, exitCode: 0, stdout: '', stderr: '' })).toEqual({ type: 'text', text: '[no output]' })
})

describe('output with colours', () => {
  const coloured = '\u001b[31mgh\u001b[0mp_token 10%\r\u001b[Kdone\n'

  it('is plain in the value and for the model, and coloured for a person', () => {
    const answer = answerOf(READS, end({ stdout: captured(`\u001b[31mgh\u001b[0mp_token\n`) }))
    expect(answer).toMatchObject({
      value: { stdout: 'ghp_token\n', exitCode: 0 },
      content: [{ type: 'text', text: 'ghp_token' }],
      display: { kind: 'terminal', text: '\u001b[31mgh\u001b[0mp_token', exitCode: 0 },
    })
  })

  it('of a failure is shown to a person too', () => {
    const failure = optionsOf(READS, end({ exitCode: 2, stderr: captured(coloured) }))
    expect(failure).toMatchObject({ display: { kind: 'terminal', exitCode: 2 } })
    expect(failure).toMatchObject({ content: [{ type: 'text', text: '`x` ended with exit code 2\n[stderr]\ndone' }] })
  })

  it('is not looked for where there is none', () => {
    const value = answerOf(READS, end({ stdout: captured('a\r\nb') }))
    expect(value).toMatchObject({ stdout: 'a\r\nb' })
    expect(presentCommand(value as never)).toMatchObject({ content: [{ text: 'a\nb' }], display: { kind: 'terminal' } })
  })
})
