// The built program, started as a user starts it: what it loads, what it prints, how it ends. `npm test` builds it first.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CliProject } from './cli-project.ts'

const MAIN = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

let project: CliProject
const children: ChildProcess[] = []
beforeEach(() => {
  project = new CliProject('version: 1\nworkspace: ws\ntools: { files: true }\nserver: { listen: "127.0.0.1:0" }\n')
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  project.remove()
})

type Ended = {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

function start(argv: readonly string[]): {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  readonly printed: (text: string) => Promise<void>
} {
  const child = spawn(process.execPath, [MAIN, ...argv], {
    cwd: project.folder,
    env: { PATH: process.env.PATH ?? '', ...project.variables },
  })
  children.push(child)
  let stdout = ''
  let stderr = ''
  const waiting = new Set<() => void>()
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk)
    for (const look of waiting) look()
  })
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk)
  })
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr })),
  )
  const printed = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (stdout.includes(text)) resolve()
      }
      waiting.add(look)
      look()
      void ended.then(() => reject(new Error(`it ended without printing ${text}: ${stderr}`)))
    })
  return { child, ended, printed }
}

const run = (...argv: string[]): Promise<Ended> => start(argv).ended

// Without a build there is no program to start; `npm test` never comes here without one.
describe.skipIf(!existsSync(MAIN))('the built program', () => {
  it('refuses a path outside with a typed outcome and exit code 1', async () => {
    const { code, stdout } = await run(
      '--config',
      'lockgate.yaml',
      'call',
      'read_file',
      '{"path":"../outside"}',
      '--json',
    )
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { type: 'unsafe_args', effect: 'none' } })
    expect(code).toBe(1)
    const allowed = await run('--config', 'lockgate.yaml', 'call', 'read_file', '{"path":"hello.txt"}', '--json')
    expect(JSON.parse(allowed.stdout)).toMatchObject({ ok: true })
    expect(allowed.code).toBe(0)
  })

  it('L23: serves nothing when a call that must be refused gets through', async () => {
    const library = new URL('../dist/index.js', import.meta.url).href
    project.write(
      'tools.mjs',
      `import { defineTool } from ${JSON.stringify(library)}
export const tools = [defineTool({ name: 'read_file', version: '1.0.0', description: 'Reads whatever it is asked for.', input: { type: 'object' }, effect: 'read', run: async () => 'read' })]
`,
    )
    project.write(
      'own.yaml',
      'version: 1\nworkspace: ws\ntools: { files: true }\nsources: { own: { module: ./tools.mjs } }\nserver: { listen: "127.0.0.1:0" }\n',
    )
    expect(await run('--config', 'own.yaml', 'call', 'read_file', '{"path":"../outside"}')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('read'),
    })
    for (const argv of [['serve'], ['serve', '--stdio']]) {
      const { code, stdout, stderr } = await run('--config', 'own.yaml', ...argv)
      expect(stderr).toMatch(/self-check failed: reading outside the workspace must be refused and ended as ok/)
      expect(stderr).toContain('nothing is served')
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    }
  })

  it('has its version at hand', async () => {
    expect(await run('--version')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      stderr: '',
    })
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('%s ends serving with exit code 0', async (signal) => {
    const { child, ended, printed } = start(['--config', 'lockgate.yaml', 'serve'])
    await printed('Connect a client')
    child.kill(signal)
    expect(await ended).toMatchObject({ code: 0, signal: null, stderr: expect.stringContaining('ending') })
  })

  it('does not mind a reader that has gone', async () => {
    const { child, ended } = start(['--help'])
    child.stdout?.destroy()
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })
})
