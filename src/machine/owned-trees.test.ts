// L46: what a host has started ends with it, however it leaves. Goal: no orphan, no group, no placeholder is left. Method: a
// host of its own runs a command with a grandchild, and is told to exit, throws, or is sent a signal.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { sweepGroups } from './control-group.ts'
import { sweepPlaceholders } from './placeholders.ts'
import { machineAbilities } from './probe-machine.ts'

const abilities = await machineAbilities()
const isSandboxed = abilities.sandbox.kind === 'ready' && abilities.sandbox.by === 'bwrap'
const hosts = new Set<ChildProcess>()
let root: string
let folder: string

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-host-')))
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  await build({
    input: fileURLToPath(new URL('./conformance-host.ts', import.meta.url)),
    platform: 'node',
    external: [/^node:/],
    output: { format: 'esm', codeSplitting: false, file: join(root, 'conformance-host.js') },
  })
})
beforeEach(() => {
  folder = mkdtempSync(join(root, 'folder-'))
})
afterEach(() => {
  for (const host of hosts) host.kill('SIGKILL')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

type Left = {
  readonly pid: number
  readonly code: number | null
  readonly signal: string | null
  readonly mark: string
}

/** Starts a host that runs a command, has it leave, and tells how it left. */
async function leave(place: 'plain' | 'sandbox' | 'ungrouped', way: string, signal?: NodeJS.Signals): Promise<Left> {
  const mark = `mark-${Math.random().toString(36).slice(2)}`
  const script = `: ${mark}; sh -c ': ${mark}; while :; do sleep 1; done' & echo in > started; while :; do sleep 1; done`
  const host = spawn(process.execPath, [join(root, 'conformance-host.js'), folder, script, place, way], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  hosts.add(host)
  host.stdout?.once('data', () => {
    if (signal === undefined) return
    expect(running(mark, host.pid).length).toBeGreaterThan(1)
    host.kill(signal)
  })
  const [code, endSignal] = await new Promise<[number | null, string | null]>((resolve) => {
    host.once('exit', (...end) => resolve(end))
  })
  hosts.delete(host)
  return { pid: host.pid ?? 0, code, signal: endSignal, mark }
}

/** Processes that carry this text in their command line, besides the host. */
function running(mark: string, host?: number): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === host) return []
    try {
      const isThere = readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark)
      return isThere && !/\) [ZX] /.test(readFileSync(`/proc/${name}/stat`, 'utf8')) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

const groupsOf = (pid: number): readonly string[] =>
  (abilities.groups ?? []).flatMap(({ folder }) => readdirSync(folder).filter((name) => name.includes(`-${pid}-`)))

async function nobodyIsLeft({ mark, pid }: Left): Promise<void> {
  await vi.waitFor(() => expect(running(mark)).toEqual([]), 5_000)
  // What was still on its way out when the host left is swept by the next host.
  await vi.waitFor(() => {
    sweepGroups(abilities.groups ?? [])
    expect(groupsOf(pid)).toEqual([])
  }, 5_000)
}

describe.skipIf(process.platform !== 'linux')('the host leaves', () => {
  for (const place of ['plain', 'ungrouped'] as const) {
    test(`L46: a command ends with a host that exits (${place})`, async () => {
      const left = await leave(place, 'exit')
      expect(left.code).toBe(3)
      await nobodyIsLeft(left)
    })

    test(`L46: a command ends with a host that throws (${place})`, async () => {
      const left = await leave(place, 'throw')
      expect(left.code).toBe(1)
      await nobodyIsLeft(left)
    })

    test(`L46: a command ends with a host that a signal ends, and the signal ends the host (${place})`, async () => {
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
        rmSync(join(folder, 'started'), { force: true })
        const left = await leave(place, 'wait', signal)
        expect(left).toMatchObject({ code: null, signal })
        await nobodyIsLeft(left)
      }
    })
  }

  test('L46: a host that handles the signal decides itself how it leaves', async () => {
    const left = await leave('plain', 'handled', 'SIGTERM')
    expect(left.code).toBe(5)
    await nobodyIsLeft(left)
  })

  test.skipIf(!isSandboxed)('L46: a command in a sandbox ends with its host, whatever ends it', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      rmSync(join(folder, 'started'), { force: true })
      const left = await leave('sandbox', 'wait', signal)
      expect(left.signal).toBe(signal)
      await nobodyIsLeft(left)
    }
  })

  test.skipIf(!isSandboxed)('a host that exits takes its placeholders along', async () => {
    const left = await leave('sandbox', 'exit')
    await nobodyIsLeft(left)
    expect(existsSync(join(folder, '.vscode'))).toBe(false)
  })

  test.skipIf(!isSandboxed)(
    'the placeholders of a killed host are removed by the next gate on the machine',
    async () => {
      const left = await leave('sandbox', 'wait', 'SIGKILL')
      await nobodyIsLeft(left)
      expect(existsSync(join(folder, '.vscode'))).toBe(true)
      sweepPlaceholders()
      expect(existsSync(join(folder, '.vscode'))).toBe(false)
    },
  )

  test.skipIf(abilities.tree !== 'cgroup')(
    'what a killed host could not end is ended by the next gate on the machine',
    async () => {
      const left = await leave('plain', 'wait', 'SIGKILL')
      expect(running(left.mark).length).toBeGreaterThan(0)
      sweepGroups(abilities.groups ?? [])
      await nobodyIsLeft(left)
    },
  )
})
