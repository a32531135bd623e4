// Goal: what opens while `serve` runs is asked at its terminal, one question at a time, and what somebody else answers is
// taken back; nothing that is typed outside a question, and no end of `serve`, is an answer. Method: a gate whose one tool
// asks, and streams in the place of a terminal.

import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Clock, systemClock } from '../base/clock.ts'
import { defineTool } from '../describe/define-tool.ts'
import { createGate } from '../gate.ts'
import type { AnyTool, Gate, GateOptions } from '../gate-contract.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { Terminal } from './terminal.ts'
import { answerAtTerminal } from './terminal-channel.ts'

/** Looks often, and waits long where the machine is busy. */
const until = <Value>(check: () => Value, options: object = {}) =>
  vi.waitFor(check, { timeout: 10_000, interval: 10, ...options })

const runs: string[] = []
const note = defineTool({
  name: 'note',
  version: '1.0.0',
  description: 'Notes what it is run with.',
  input: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  } as const,
  effect: 'write',
  run: (args) => {
    runs.push(String((args as { text: string }).text))
    return 'noted'
  },
}) as unknown as AnyTool

let gate: Gate
let stdin: PassThrough & { isTTY: boolean }
let stderr: PassThrough & { isTTY: boolean }
let shown = ''
let end = new AbortController()
let asking: Promise<void> | undefined

beforeEach(() => {
  runs.length = 0
  shown = ''
  end = new AbortController()
  stdin = Object.assign(new PassThrough(), { isTTY: true })
  stderr = Object.assign(new PassThrough(), { isTTY: true })
  stderr.on('data', (chunk: Buffer) => {
    shown += chunk.toString('utf8')
  })
})
afterEach(async () => {
  end.abort()
  await asking
  await gate.close()
})

async function open(options: GateOptions = {}) {
  gate = await createGate({ tools: [note], ...options })
}

function begin(clock: Clock = systemClock) {
  const io = { argv: [], stdin, stdout: new PassThrough(), stderr, variables: {}, cwd: '/', signal: end.signal }
  const terminal = new Terminal(io, { json: false })
  asking = answerAtTerminal({ gate, io, terminal, clock, signal: end.signal })
}

async function ask(text: string): Promise<string> {
  const outcome = await gate.session({ session: 'one' }).call({ name: 'note', arguments: { text } })
  return outcome.ok ? '' : String(outcome.error.details?.approvalId)
}
const call = (text: string) => gate.session({ session: 'one' }).call({ name: 'note', arguments: { text } })
const seen = (text: string) => until(() => expect(shown).toContain(text))
const state = async (id: string) => (await gate.approvals.show(id))?.state

test('a question that opens is shown, answered with a word, and its call then runs once', async () => {
  await open()
  begin()
  const id = await ask('one')
  await seen(`question ${id}`)
  expect(shown).toContain('| ')
  stdin.write('approve\n')
  await seen(`${id} approved`)
  expect(await call('one')).toMatchObject({ ok: true })
  expect(await call('one')).toMatchObject({ ok: false })
  expect(runs).toEqual(['one'])
  expect(await gate.approvals.show(id)).toMatchObject({ answeredBy: 'operator (terminal)' })
})

test('an empty line declines', async () => {
  await open()
  begin()
  const id = await ask('one')
  await seen(`question ${id}`)
  stdin.write('\n')
  await seen(`${id} declined`)
  expect(await call('one')).toMatchObject({ ok: false, error: { type: 'approval_declined' } })
  expect(runs).toEqual([])
})

test('questions come one at a time, in their order; a line for one is no answer to the next', async () => {
  await open()
  begin()
  const [one, two] = [await ask('one'), await ask('two')]
  await seen(`question ${one}`)
  expect(shown).not.toContain(`question ${two}`)
  stdin.write('approve\napprove\n')
  await seen(`question ${two}`)
  expect([await state(one), await state(two)]).toEqual(['approved', 'open'])
  stdin.write('decline\n')
  await seen(`${two} declined`)
})

test('what was open before is asked oldest first, and a question of now goes before it', async () => {
  await open()
  const [one, two] = [await ask('one'), await ask('two')]
  begin()
  await seen(`question ${one}`)
  const now = await ask('now')
  stdin.write('\n')
  await seen(`question ${now}`)
  expect(shown).not.toContain(`question ${two}`)
  stdin.write('\n')
  await seen(`question ${two}`)
  stdin.write('\n')
  await seen(`${two} declined`)
})

test('what is typed while nothing is asked answers nothing', async () => {
  await open()
  begin()
  stdin.write('approve\napprove\n')
  await new Promise((resolve) => setImmediate(resolve))
  const id = await ask('one')
  await seen(`question ${id}`)
  expect(await state(id)).toBe('open')
})

test('an answer given elsewhere takes the question back, and a half-typed word with it', async () => {
  await open()
  begin()
  const one = await ask('one')
  await seen(`question ${one}`)
  stdin.write('appro')
  await gate.approvals.decide(one, { decision: 'decline', by: 'somebody else' })
  await seen(`${one} was answered elsewhere: declined by somebody else`)
  const two = await ask('two')
  await seen(`question ${two}`)
  stdin.write('ve\n')
  await seen('no decision')
  expect([await state(one), await state(two)]).toEqual(['declined', 'open'])
})

test('a line begun for a question that was taken back, and sent whole under the next one, does not answer that', async () => {
  await open()
  begin()
  const [one, two] = [await ask('one'), await ask('two')]
  await seen(`question ${one}`)
  await gate.approvals.decide(one, { decision: 'decline', by: 'somebody else' })
  await seen(`question ${two}`)
  stdin.write('approve\n')
  await seen('may have been typed for the question before')
  expect([await state(one), await state(two)]).toEqual(['declined', 'open'])
  stdin.write('approve\n')
  await seen(`${two} approved`)
  const three = await ask('three')
  await seen(`question ${three}`)
  stdin.write('approve\n')
  await seen(`${three} approved`)
})

test('a question that runs out of time is taken back, and nobody is said to have declined', async () => {
  const clock = new FakeClock()
  await open({ clock, approvals: { expiresMs: 10_000 } })
  begin(clock)
  const id = await ask('one')
  await seen(`question ${id}`)
  await clock.advance(10_000)
  await seen(`${id} is no longer open: nobody answered in time`)
  expect(await state(id)).toBe('open')
  expect(shown).not.toContain('declined')
})

test('the end of `serve` answers nothing', async () => {
  await open()
  begin()
  const id = await ask('one')
  await seen(`question ${id}`)
  stdin.write('appro')
  end.abort()
  await asking
  expect(await state(id)).toBe('open')
  expect(stdin.listenerCount('data')).toBe(0)
})

test('the end of the input answers nothing, and is said', async () => {
  await open()
  begin()
  const id = await ask('one')
  await seen(`question ${id}`)
  stdin.end('approve')
  await asking
  await seen('the input has ended')
  expect(await state(id)).toBe('open')
})

test('a wider reach is given by its own word, where it is offered', async () => {
  await open()
  begin()
  const id = await ask('one')
  await seen(`question ${id}`)
  stdin.write('session\n')
  await seen(`${id} approved, and a grant until `)
  expect(await call('other')).toMatchObject({ ok: true })
})

test('a question that asks for a code takes it here; a wrong one asks again', async () => {
  const codes = new Map<string, string>()
  await open({ approvals: { proof: 'code', showCode: (code, { id }) => void codes.set(id, code) } })
  begin()
  const id = await ask('one')
  const prompts = () => shown.match(/code \(Enter shows a new one\)\? /g)?.length ?? 0
  await seen(`question ${id}`)
  stdin.write('approve\n')
  await until(() => expect(prompts()).toBe(1))
  stdin.write('WRONG\n')
  await seen('that is not the code')
  await until(() => expect(shown.match(new RegExp(`question ${id}`, 'g'))).toHaveLength(2))
  stdin.write('approve\n')
  await until(() => expect(prompts()).toBe(2))
  const first = codes.get(id)
  stdin.write('\n')
  await until(() => expect(codes.get(id)).not.toBe(first))
  await until(() => expect(prompts()).toBe(3))
  stdin.write(`${codes.get(id)}\n`)
  await seen(`${id} approved`)
})

test('codes of questions that another process opened are made anew, so that this terminal shows them', async () => {
  const codes: string[] = []
  await open({ approvals: { proof: 'code', showCode: (code) => void codes.push(code) } })
  const id = await ask('one')
  begin()
  await seen(`question ${id}`)
  expect(new Set(codes).size).toBe(2)
  expect(await gate.approvals.decide(id, { decision: 'approve', by: 'x', code: codes[0] ?? '' })).toMatchObject({
    kind: 'refused',
  })
  expect(await gate.approvals.decide(id, { decision: 'approve', by: 'x', code: codes[1] ?? '' })).toMatchObject({
    kind: 'answered',
  })
})
