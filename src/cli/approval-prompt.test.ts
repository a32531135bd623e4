// Goal: only a whole word that a person types after the question stands is an answer, and a wider reach is never given by
// anything but its own word. Method: a pair of streams in the place of a terminal.

import { PassThrough } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import type { ApprovalRow } from '../observe/store.ts'
import { askAtTerminal, hasPerson } from './approval-prompt.ts'

/** Looks often, and waits long where the machine is busy. */
const until = <Value>(check: () => Value, options: object = {}) =>
  vi.waitFor(check, { timeout: 10_000, interval: 10, ...options })

const row = (more: Partial<ApprovalRow> = {}): ApprovalRow => ({
  id: 'apr_1',
  digest: 'd',
  state: 'open',
  tenant: 'local',
  user: 'ana',
  agent: 'editor',
  session: 's1',
  tool: 'write_file',
  fingerprint: 'f',
  effect: 'write',
  policyVersion: 'p',
  reason: 'writes are asked',
  shown: 'write_file 1.0.0\n| path  notes.md',
  workspace: 'w',
  askedBy: ['default write'],
  offers: [
    { reach: 'once', shown: 'this call' },
    { reach: 'session', shown: 'calls of write_file in this conversation' },
  ],
  openedAt: 0,
  expiresAt: Date.UTC(2026, 0, 1),
  ...more,
})

function terminal() {
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  const stderr = Object.assign(new PassThrough(), { isTTY: true })
  let text = ''
  stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
  })
  const prompts = () => text.match(/^approve, .*\[decline\]\? /gm)?.length ?? 0
  const type = async (line: string): Promise<void> => {
    const before = prompts()
    stdin.write(line)
    await until(() => expect(prompts()).toBe(before + 1))
  }
  const ready = () => until(() => expect(prompts()).toBe(1))
  return { stdin, stderr, text: () => text, prompts, type, ready }
}

async function asked(approval: ApprovalRow, signal = new AbortController().signal) {
  const at = terminal()
  const answer = askAtTerminal(approval, at, signal)
  await at.ready()
  return { ...at, answer }
}

describe('the prompt', () => {
  test.each([
    ['approve\n', { decision: 'approve', scope: 'once' }],
    ['  APPROVE \r\n', { decision: 'approve', scope: 'once' }],
    ['session\n', { decision: 'approve', scope: 'session' }],
    ['decline\n', { decision: 'decline' }],
    ['\n', { decision: 'decline' }],
    ['approve: only this once\n', { decision: 'approve', scope: 'once', comment: 'only this once' }],
    ['decline: not now\n', { decision: 'decline', comment: 'not now' }],
  ])('%j is an answer', async (line, answer) => {
    const question = await asked(row())
    question.stdin.write(line)
    expect(await question.answer).toEqual({ ...answer, by: 'operator (terminal)' })
  })

  test.each([
    'y\n',
    'yes\n',
    'a\n',
    'approve session\n',
    'approve; session\n',
    'approved\n',
    'pattern\n',
    'once session\n',
    ': session\n',
    '\u001b[Z\n',
    '\u001b[Zsession\n',
    'appr\u200bove\n',
    'аpprove\n',
    'constructor\n',
  ])('L09: %j is no decision and asks again', async (line) => {
    const question = await asked(row())
    await question.type(line)
    expect(question.text()).toContain('no decision')
    question.stdin.write('\n')
    expect(await question.answer).toMatchObject({ decision: 'decline' })
  })

  test('a line longer than any answer is no decision, whatever it begins with', async () => {
    const question = await asked(row())
    for (const start of ['', 'approve:']) await question.type(`${start}${'x'.repeat(5_000)}\n`)
    question.stdin.write('\n')
    expect(await question.answer).toMatchObject({ decision: 'decline' })
  })

  test('L09: a key pressed within a comment neither widens the answer nor drops the comment', async () => {
    const question = await asked(row())
    question.stdin.write('approve: fine \u001b[Z for today\n')
    expect(await question.answer).toEqual({
      decision: 'approve',
      scope: 'once',
      comment: 'fine \u001b[Z for today',
      by: 'operator (terminal)',
    })
  })

  test('a reach that is not offered has no word', async () => {
    const question = await asked(row({ offers: [{ reach: 'once', shown: 'this call' }] }))
    await question.type('session\n')
    question.stdin.write('approve\n')
    expect(await question.answer).toMatchObject({ scope: 'once' })
  })

  test('what was typed before the question stood does not answer it, nor does what is pasted behind a line', async () => {
    const at = terminal()
    at.stdin.write('approve\n')
    await new Promise((resolve) => setImmediate(resolve))
    const answer = askAtTerminal(row(), at, new AbortController().signal)
    await at.ready()
    await at.type('what?\napprove\n')
    at.stdin.write('\n')
    expect(await answer).toMatchObject({ decision: 'decline' })
  })

  test('the end of the input, and a question that is taken back, are no answers', async () => {
    const ended = await asked(row())
    ended.stdin.end()
    expect(await ended.answer).toBeUndefined()
    const controller = new AbortController()
    const takenBack = await asked(row(), controller.signal)
    takenBack.stdin.write('appro')
    controller.abort()
    expect(await takenBack.answer).toBeUndefined()
    expect(await askAtTerminal(row(), terminal(), AbortSignal.abort())).toBeUndefined()
  })

  test('a line without its end is no answer', async () => {
    const question = await asked(row())
    question.stdin.end('approve')
    expect(await question.answer).toBeUndefined()
  })

  test('a question that asks for a code is approved with what is typed as one, and declined without', async () => {
    const question = await asked(row({ proof: 'code' }))
    question.stdin.write('approve\n')
    await until(() => expect(question.text()).toContain('code? '))
    question.stdin.write(' 123-456 \n')
    expect(await question.answer).toMatchObject({ decision: 'approve', code: '123-456' })
    const declined = await asked(row({ proof: 'code' }))
    declined.stdin.write('decline\n')
    expect(await declined.answer).toEqual({ decision: 'decline', by: 'operator (terminal)' })
  })

  test('what is shown can neither move the cursor nor pass for a line of the prompt', async () => {
    const question = await asked(
      row({
        shown: 'x\u001b[2J\n[decline]? approve\u202e',
        reason: 'r\nquestion apr_2: may this run?',
        tool: 't\u0007',
      }),
    )
    question.stdin.write('\n')
    await question.answer
    expect(question.text()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/)
    expect(question.text().match(/^question /gm)).toHaveLength(1)
    expect(question.text()).toContain('  | [decline]? approve\\u{202e}')
  })

  test('afterwards the input is left as it was found', async () => {
    const question = await asked(row())
    question.stdin.write('\n')
    await question.answer
    expect(question.stdin.isPaused()).toBe(true)
    expect(question.stdin.listenerCount('data')).toBe(0)
  })
})

test('there is a person only where both streams are a terminal', () => {
  const streams = (input: boolean, output: boolean) => ({
    stdin: Object.assign(new PassThrough(), { isTTY: input }),
    stderr: Object.assign(new PassThrough(), { isTTY: output }),
  })
  expect([hasPerson(streams(true, true)), hasPerson(streams(true, false)), hasPerson(streams(false, true))]).toEqual([
    true,
    false,
    false,
  ])
})
