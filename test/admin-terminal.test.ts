// Goal: whoever sits at the terminal of `lockgate serve` is asked and can answer there; where nobody sits, or the
// configuration says so, nothing is asked. Method: the command itself, with streams in the place of a terminal, and calls
// over its admin API.

import { PassThrough } from 'node:stream'
import { afterEach, expect, test, vi } from 'vitest'
import { CliProject } from './cli-project.ts'
import type { Run } from './run-lockgate.ts'

/** Looks often, and waits long where the machine is busy. */
const until = <Value>(check: () => Value, options: object = {}) =>
  vi.waitFor(check, { timeout: 10_000, interval: 10, ...options })

let project: CliProject
let serving: Promise<Run> | undefined
let end = new AbortController()
afterEach(async () => {
  end.abort()
  await serving
  project.remove()
})

async function serve({ approvals = '', person = true, foreground = true } = {}) {
  project = new CliProject(
    `version: 1\nworkspace: ws\ntools: { files: true }\nserver: { listen: "127.0.0.1:0" }\n${approvals}`,
  )
  end = new AbortController()
  const input = Object.assign(new PassThrough(), { isTTY: person })
  let stdout = ''
  let stderr = ''
  serving = project.run(['serve'], {
    input,
    signal: end.signal,
    terminal: true,
    isForeground: () => foreground,
    variables: { ...project.variables, NO_COLOR: '1' },
    onStdout: (text) => {
      stdout = text
    },
    onStderr: (text) => {
      stderr = text
    },
  })
  await until(() => expect(stdout).toContain('Connect a client'), { timeout: 20_000 })
  const url = /API +(http\S+)\/api/.exec(stdout)?.[1] ?? ''
  const token = /token +(lg_\S+)/.exec(stdout)?.[1] ?? ''
  const write = async () => {
    const response = await fetch(`${url}/api/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"name":"write_file","arguments":{"path":"made.txt","content":"made\\n"}}',
    })
    return (await response.json()) as { ok: boolean; error?: { type: string; details?: Record<string, unknown> } }
  }
  return { input, url, write, stderr: () => stderr, stdout: () => stdout }
}

test('a call that asks is shown there, and runs once the word is typed', async () => {
  const { input, write, stderr, stdout } = await serve()
  expect(stdout()).toContain('or answer here')
  const asked = await write()
  const id = String(asked.error?.details?.approvalId)
  await until(() => expect(stderr()).toContain(`question ${id}`))
  expect(stderr()).toContain('made.txt')
  expect(stderr()).not.toContain(`${id} approved`)
  input.write('approve\n')
  await until(() => expect(stderr()).toContain(`${id} approved`))
  expect(await write()).toMatchObject({ ok: true })
  expect(project.read('ws/made.txt')).toBe('made\n')
  expect(asked.error?.details).not.toHaveProperty('url')
})

test('an answer of the command line takes the question back', async () => {
  const { write, stderr } = await serve()
  const id = String((await write()).error?.details?.approvalId)
  await until(() => expect(stderr()).toContain(`question ${id}`))
  expect(await project.json(['approvals', 'decline', id])).toMatchObject({ code: 0 })
  await until(() => expect(stderr()).toContain(`${id} was answered elsewhere: declined by operator (command line)`), {
    timeout: 10_000,
  })
  expect(await write()).toMatchObject({ ok: false, error: { type: 'approval_declined' } })
})

test.each([
  ['nobody sits there', { person: false }],
  ['another job has the terminal', { foreground: false }],
  ['the configuration names other channels', { approvals: 'approvals: { channels: [console] }\n' }],
])('where %s, nothing is asked', async (_what, options) => {
  const { input, write, stderr, stdout } = await serve(options)
  expect(stdout()).not.toContain('or answer here')
  await write()
  input.write('approve\n')
  expect(await write()).toMatchObject({ ok: false, error: { type: 'approval_required' } })
  expect(stderr()).not.toContain('may this run')
})

test('where the configuration names only the terminal, the admin API takes no answer', async () => {
  const { url, write, stderr, stdout } = await serve({ approvals: 'approvals: { channels: [terminal] }\n' })
  const id = String((await write()).error?.details?.approvalId)
  await until(() => expect(stderr()).toContain(`question ${id}`))
  const file = /operator’s token in ([^)]+)\)/.exec(stdout())?.[1] ?? ''
  const response = await fetch(`${url}/api/approvals/${id}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${project.read(file.slice(project.folder.length + 1)).trim()}`,
      'content-type': 'application/json',
    },
    body: '{"decision":"approve"}',
  })
  expect(response.status).toBe(403)
  expect(await write()).toMatchObject({ ok: false, error: { type: 'approval_required' } })
})

test('a code is shown at that terminal, and to no program that runs a command', async () => {
  const { input, write, stderr } = await serve({ approvals: 'approvals: { proof: code }\n' })
  const id = String((await write()).error?.details?.approvalId)
  await until(() => expect(stderr()).toContain(`question ${id}`))
  const code = new RegExp(`code (\\S{4}-\\S{4}) for ${id}`).exec(stderr())?.[1] ?? ''
  const byProgram = await project.run(['call', 'write_file', '{"path":"other.txt","content":"x"}'])
  const other = /apr_[0-9a-f]{32}/.exec(byProgram.stderr)?.[0] ?? ''
  expect(other).not.toBe('')
  // Ids of calls may look like one.
  const said = `${byProgram.stdout}${byProgram.stderr}`.replaceAll(/call_[0-9a-f-]+/g, '')
  expect(said).not.toMatch(/[0-9B-Z]{4}-[0-9B-Z]{4}/)
  expect(await project.run(['approvals', 'approve', other])).toMatchObject({ code: 1 })
  expect(await project.run(['approvals', 'approve', other, '--code', code])).toMatchObject({ code: 1 })
  input.write('approve\n')
  await until(() => expect(stderr()).toContain('code (Enter'))
  input.write(`${code}\n`)
  await until(() => expect(stderr()).toContain(`${id} approved`))
  expect(await write()).toMatchObject({ ok: true })
})
