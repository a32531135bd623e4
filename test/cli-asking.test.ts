// Goal: the configuration says whether the client of `serve --stdio` may be asked, and for how long its calls are held.
// Method: the command itself, spoken to in lines by a client that says yes to every form.

import { existsSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, test } from 'vitest'
import { CliProject } from './cli-project.ts'

let project: CliProject
afterEach(() => project.remove())

type Message = {
  readonly id?: number
  readonly method?: string
  readonly result?: { readonly isError?: boolean; readonly _meta?: Readonly<Record<string, unknown>> }
}

/** Has the client write a file, and answers with what came of it and every form that was shown. */
async function writes(approvals: string) {
  project = new CliProject(`version: 1\nworkspace: ws\ntools: { files: true }\napprovals: ${approvals}\n`)
  const input = new PassThrough()
  const forms: Message[] = []
  let ended: Message | undefined
  let read = 0
  const say = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const hear = (message: Message): void => {
    if (message.method === 'elicitation/create') {
      forms.push(message)
      say({ id: message.id, result: { action: 'accept', content: { decision: 'approve' } } })
    }
    if (message.id !== 1 || message.result === undefined) return
    ended = message
    input.end()
  }
  say({
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: { form: {} } },
      clientInfo: { name: 'test', version: '1' },
    },
  })
  say({ method: 'notifications/initialized' })
  const call = { name: 'write_file', arguments: { path: 'made.txt', content: 'x' } }
  // An id of ours may be one of the server's own; each counts its own.
  say({ id: 1, method: 'tools/call', params: call })
  const { code } = await project.run(['serve', '--stdio'], {
    input,
    onStdout: (text) => {
      const lines = text.split('\n').slice(0, -1)
      for (const line of lines.slice(read)) hear(JSON.parse(line) as Message)
      read = lines.length
    },
  })
  expect(code).toBe(0)
  return {
    forms,
    error: ended?.result?._meta?.['dev.lockgate/error'],
    written: existsSync(project.path('ws/made.txt')),
  }
}

describe('`approvals` for the client of `lockgate serve --stdio`', () => {
  test('`channels` with `elicitation` lets a person answer through the client', async () => {
    const { forms, error, written } = await writes('{ channels: [terminal, elicitation] }')
    expect([forms.length, error, written]).toEqual([1, undefined, true])
  })

  test.each(['{ hold: 0s }', '{ channels: [terminal, console], hold: 0s }'])(
    'without it (%s) the client is not asked, and what it says is not heard',
    async (approvals) => {
      const { forms, error, written } = await writes(approvals)
      expect(forms).toEqual([])
      expect(error).toMatchObject({ type: 'approval_required', details: { reason: 'waiting' } })
      expect(written).toBe(false)
    },
  )

  test('`hold` says for how long a call is held', async () => {
    const { error } = await writes('{ hold: 50ms }')
    expect(error).toMatchObject({ type: 'approval_required', details: { reason: 'held' } })
  })
})
