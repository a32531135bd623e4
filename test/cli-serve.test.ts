// `lockgate serve`: it says where it is and how to get in, keeps the two kinds of credentials apart, serves nothing when a
// canary call gets through, and ends when it is told to.

import { createServer } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CliProject } from './cli-project.ts'
import type { Run } from './run-lockgate.ts'

type Announced = {
  readonly mcp: string
  readonly api: string
  readonly consoleLink: string
  readonly callToken: string
  readonly operatorTokenFile: string
  readonly selfCheck: readonly { readonly expected: string; readonly held: boolean }[]
}

let project: CliProject
const ends: AbortController[] = []
beforeEach(() => {
  project = new CliProject('version: 1\nworkspace: ws\ntools: { files: true }\nserver: { listen: "127.0.0.1:0" }\n')
})
afterEach(() => {
  for (const end of ends.splice(0)) end.abort()
  project.remove()
})

/** Starts serving and resolves once it has said where. */
async function serve(): Promise<{
  readonly announced: Announced
  readonly run: Promise<Run>
  readonly end: AbortController
}> {
  const end = new AbortController()
  ends.push(end)
  let run: Promise<Run> | undefined
  const announced = new Promise<Announced>((resolve, reject) => {
    run = project.run(['serve', '--json'], {
      signal: end.signal,
      onStdout: (text) => resolve(JSON.parse(text) as Announced),
    })
    run.then(({ stderr }) => reject(new Error(stderr)), reject)
  })
  return { announced: await announced, run: run as unknown as Promise<Run>, end }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' })

describe('lockgate serve', () => {
  it('tells where it is and how to get in, and keeps calling and answering apart', async () => {
    const { announced, run, end } = await serve()
    const operatorToken = project.read(announced.operatorTokenFile.slice(project.folder.length + 1)).trim()
    const callBody = JSON.stringify({ name: 'read_file', arguments: { path: 'hello.txt' } })
    const post = (path: string, token: string, body: string) =>
      fetch(`${announced.api}${path}`, { method: 'POST', headers: bearer(token), body })

    expect((await fetch(announced.mcp, { method: 'POST', body: '{}' })).status).toBe(401)
    expect((await post('/calls', 'lg_wrong', callBody)).status).toBe(401)
    expect((await post('/calls', operatorToken, callBody)).status).toBe(403)
    expect(await (await post('/calls', announced.callToken, callBody)).json()).toMatchObject({ ok: true })

    expect((await fetch(announced.consoleLink)).status).toBe(200)
    expect((await fetch(announced.consoleLink)).status).toBe(403)
    end.abort()
    expect(await run).toMatchObject({ code: 0 })
    await expect(fetch(announced.mcp)).rejects.toThrow()
  })

  it('L23: tries before it serves that what must be refused is refused, and records it', async () => {
    const { announced, run, end } = await serve()
    expect(announced.selfCheck.filter(({ expected }) => expected === 'refused').length).toBeGreaterThanOrEqual(6)
    expect(announced.selfCheck.filter(({ expected }) => expected === 'allowed')).toHaveLength(1)
    expect(announced.selfCheck.every(({ held }) => held)).toBe(true)
    end.abort()
    await run
    const { value } = await project.json(['audit', 'tail', '-n', '50'])
    expect(value).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          body: expect.objectContaining({
            agent: 'lockgate-self-check',
            error: expect.objectContaining({ type: 'unsafe_args' }),
          }),
        }),
      ]),
    )
    expect((await project.json(['approvals', 'list', '--all'])).value).toEqual([])
  })

  it('an address that is taken, or is none, is exit code 2', async () => {
    const other = createServer()
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => {
        const address = other.address()
        resolve(typeof address === 'object' && address !== null ? address.port : 0)
      })
    })
    try {
      expect(await project.run(['serve', '--listen', `127.0.0.1:${port}`])).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(new RegExp(`cannot listen on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE`)),
      })
      expect(await project.run(['serve', '--listen', '7420'])).toMatchObject({ code: 2 })
    } finally {
      other.close()
    }
  })

  it('a source that cannot be started takes nothing else down', async () => {
    project.write(
      'lockgate.yaml',
      'version: 1\nworkspace: ws\ntools: { files: true }\nsources: { gone: { command: ./no-such-program } }\nserver: { listen: "127.0.0.1:0" }\n',
    )
    const { announced, run, end } = await serve()
    const answer = await fetch(`${announced.api}/calls`, {
      method: 'POST',
      headers: bearer(announced.callToken),
      body: '{"name":"list_dir","arguments":{}}',
    })
    expect(await answer.json()).toMatchObject({ ok: true })
    end.abort()
    expect(await run).toMatchObject({ code: 0 })
    expect(await project.json(['tools', '--all'])).toMatchObject({
      code: 0,
      value: {
        sources: expect.arrayContaining([
          expect.objectContaining({ name: 'gone', state: { kind: 'failed', reason: expect.any(String) } }),
        ]),
      },
    })
  })
})

describe('lockgate serve --stdio', () => {
  it('speaks MCP and nothing else on stdout, and ends when stdin closes', async () => {
    const input = new PassThrough()
    const asked = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    }
    input.write(`${JSON.stringify(asked)}\n`)
    const { code, stdout, stderr } = await project.run(['serve', '--stdio'], { input, onStdout: () => input.end() })
    expect(code).toBe(0)
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toMatchObject([{ jsonrpc: '2.0', id: 1, result: { serverInfo: { name: 'lockgate' } } }])
    expect(stderr).toContain('self-check')
  })

  it('goes with no option that would need stdout', async () => {
    expect(await project.run(['serve', '--stdio', '--listen', '127.0.0.1:0'])).toMatchObject({ code: 2 })
    expect(await project.run(['serve', '--stdio', '--json'])).toMatchObject({ code: 2 })
  })
})
