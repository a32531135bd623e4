// Goal: whatever a local server does, ending it leaves nobody behind, and nothing of ours reaches it unasked. Real
// processes are started; the tests wait for conditions, with bounds.

import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { NotRunning, PipedProcess, type PipedProcessOptions } from './piped-process.ts'
import { machineAbilities } from './probe-machine.ts'

const started: PipedProcess[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((process) => process.close()))
})

async function run(script: string, options: Partial<PipedProcessOptions> = {}) {
  const lines: string[] = []
  const exits: string[] = []
  const child = await PipedProcess.start({
    command: process.execPath,
    args: ['-e', script],
    env: {},
    cwd: undefined,
    lineBytesMax: 1_000,
    discardBytesMax: 10_000,
    clock: systemClock,
    onLine: (line) => lines.push(line.toString('utf8')),
    onOversized: ({ bytes }) => lines.push(`oversized ${bytes}`),
    onExit: (reason) => exits.push(reason),
    ...options,
  })
  started.push(child)
  return { child, lines, exits }
}

/** A process that has ended and that nobody has collected yet does nothing any more. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' && process.platform !== 'linux'
  }
}

describe('a child process spoken to in lines', () => {
  test('its environment is built from empty: a secret of the gate is not in it, what is given is', async () => {
    process.env.GATE_SECRET_FOR_TEST = 'do not pass on'
    const { lines } = await run('console.log(JSON.stringify(process.env))', { env: { GIVEN: 'yes' } })
    await vi.waitFor(() => expect(lines).toHaveLength(1))
    delete process.env.GATE_SECRET_FOR_TEST
    const environment: unknown = JSON.parse(lines[0] ?? '')
    expect(environment).toMatchObject({ GIVEN: 'yes' })
    expect(environment).not.toHaveProperty('GATE_SECRET_FOR_TEST')
  })

  test('closing ends the whole group, also helpers that hold its output', async () => {
    const { child, lines } = await run(
      "const c = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: ['ignore', 'inherit', 'ignore'] }); console.log(c.pid); process.stdin.resume(); process.stdin.on('end', () => process.exit(0))",
    )
    await vi.waitFor(() => expect(lines).toHaveLength(1))
    const helper = Number(lines[0])
    expect(isAlive(helper)).toBe(true)
    await child.close()
    await vi.waitFor(() => expect(isAlive(helper)).toBe(false))
  })

  test('one that ignores a closed input and SIGTERM is ended all the same', async () => {
    const { child, lines, exits } = await run(
      "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('ready')",
    )
    await vi.waitFor(() => expect(lines).toEqual(['ready']))
    await child.close()
    expect(exits).toEqual(['it was closed'])
    expect(isAlive(child.pid ?? 0)).toBe(false)
  })

  test('when it dies, its helpers end with it and the reason is told once', async () => {
    const { lines, exits } = await run(
      "const c = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: ['ignore', 'inherit', 'ignore'] }); console.log(c.pid); setTimeout(() => process.exit(7), 50)",
    )
    await vi.waitFor(() => expect(exits).toEqual(['it ended with status 7']))
    await vi.waitFor(() => expect(isAlive(Number(lines[0]))).toBe(false))
  })

  test('a line without an end costs it its life', async () => {
    const { exits } = await run(
      "const w = () => { while (process.stdout.write('x'.repeat(5000))); process.stdout.once('drain', w) }; w()",
    )
    await vi.waitFor(() => expect(exits).toEqual(['it sent a line of more than 11000 bytes']))
  })

  test('of standard error the newest 64 KiB are kept', async () => {
    const { child, exits } = await run("process.stderr.write('a'.repeat(200000) + 'the end', () => process.exit(0))")
    await vi.waitFor(() => expect(exits).toHaveLength(1))
    expect(child.stderr()).toHaveLength(64 * 1024)
    expect(child.stderr().endsWith('the end')).toBe(true)
  })

  test('a program that is not there is named, and nothing was started', async () => {
    await expect(run('', { command: 'no-such-program-of-ours' })).rejects.toThrow(
      '`no-such-program-of-ours` is not on this machine',
    )
  })

  test('a command is no shell text: what a shell would run is one name of a program that does not exist', async () => {
    await expect(run('', { command: 'node -e 1 && id', args: [] })).rejects.toThrow('is not on this machine')
  })

  test('writing to one that has ended is refused before a byte has left', async () => {
    const { child, exits } = await run('process.exit(0)')
    await vi.waitFor(() => expect(exits).toHaveLength(1))
    await expect(child.write('x\n')).rejects.toBeInstanceOf(NotRunning)
  })
})

describe('a child process with bounds of its own', async () => {
  const abilities = await machineAbilities()
  const isSandboxed = abilities.sandbox.kind === 'ready' && abilities.sandbox.by === 'bwrap'

  test('it is found by its name, speaks, and ends with its helpers', async () => {
    const script =
      "const c = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true }); console.log(c.pid); process.stdin.resume()"
    const bounds = { limits: { processes: 100, openFiles: 128 }, abilities }
    const { child, lines, exits } = await run(script, { command: 'node', bounds })
    await vi.waitFor(() => expect(lines).toHaveLength(1))
    const helper = Number(lines[0])
    expect(isAlive(helper)).toBe(true)
    await child.close()
    expect(exits).toEqual(['it was closed'])
    // It has a session of its own, which only a control group reaches.
    if (abilities.tree === 'cgroup') await vi.waitFor(() => expect(isAlive(helper)).toBe(false))
    else process.kill(helper, 'SIGKILL')
  })

  test('a program that is not there is named, and nothing was started', async () => {
    const bounds = { limits: {}, abilities }
    await expect(run('', { command: 'no-such-program-of-ours', bounds })).rejects.toThrow('is not on this machine')
  })

  test.skipIf(!isSandboxed)(
    'in a sandbox it sees what is named and lives until it is closed, with all its helpers',
    async () => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-piped-')))
      writeFileSync(join(folder, 'secret'), 'secret')
      const sandbox = { readable: [], writable: [folder], frozen: [], masked: [join(folder, 'secret')], network: false }
      const script = `
      const fs = require('fs')
      require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit', detached: true })
      fs.writeFileSync('made', 'made')
      console.log(JSON.stringify([fs.readFileSync('secret', 'utf8'), fs.existsSync('/etc/passwd'), fs.existsSync('/proc/${process.pid}/exe'), process.env.GIVEN]))
      process.stdin.on('data', (line) => process.stdout.write(line))
    `
      const { child, lines, exits } = await run(script, {
        cwd: folder,
        env: { GIVEN: 'yes' },
        bounds: { limits: {}, sandbox, abilities },
      })
      await vi.waitFor(() => expect(lines).toEqual(['["",false,false,"yes"]']), 10_000)
      await child.write('again\n')
      await vi.waitFor(() => expect(lines).toHaveLength(2))
      await child.close()
      expect(exits).toEqual(['it was closed'])
      expect(readFileSync(join(folder, 'made'), 'utf8')).toBe('made')
      rmSync(folder, { recursive: true })
    },
  )

  test.skipIf(!isSandboxed)('a sandbox that cannot be made is told as the reason', async () => {
    const sandbox = { readable: ['/no/such/folder'], writable: [], frozen: [], masked: [], network: false }
    const { exits } = await run('', { bounds: { limits: {}, sandbox, abilities } })
    await vi.waitFor(() => expect(exits[0]).toMatch(/^it could not be started: bwrap: .*no\/such\/folder/))
  })

  test.skipIf(abilities.limits.memoryBytes.kind === 'unenforced' || abilities.limits.memoryBytes.by === 'prlimit')(
    'a limit that ended it is told as the reason',
    async () => {
      const script = 'const all = []; for (;;) all.push(Buffer.alloc(4_000_000, 1))'
      const { exits } = await run(script, { bounds: { limits: { memoryBytes: 150_000_000 }, abilities } })
      await vi.waitFor(() => expect(exits[0]).toMatch(/at its limit of memoryBytes$/), 15_000)
    },
  )
})
