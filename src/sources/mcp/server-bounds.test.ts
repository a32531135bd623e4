// Goal: a server sees and changes what the operator named, what it is made of, and nothing else; and a bound that cannot be
// kept keeps it from starting, or is said. Method: folders of the test, and machines that the test makes up.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MachineAbilities } from '../../machine/abilities.ts'
import type { StdioUpstream } from './mcp-options.ts'
import { boundServer } from './server-bounds.ts'

const enforced = { kind: 'enforced', by: 'prlimit' } as const
const ABLE: MachineAbilities = {
  sandbox: { kind: 'ready', by: 'bwrap', path: '/usr/bin/bwrap' },
  limits: { cpuMs: enforced, memoryBytes: enforced, processes: enforced, fileBytes: enforced, openFiles: enforced },
  tree: 'group',
}
const WITHOUT: MachineAbilities = {
  ...ABLE,
  sandbox: { kind: 'missing', reason: 'bubblewrap is not installed', mend: 'install bubblewrap' },
  limits: { ...ABLE.limits, processes: { kind: 'unenforced', reason: 'it is root', mend: 'be somebody else' } },
}

let folder = ''
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-bounds-')))
  for (const [path, text] of Object.entries({
    'server/package.json': '{}',
    'server/dist/index.js': '',
    'server/lib/more.js': '',
    'alone/script.js': '',
    'data/.git/config': '',
    'data/.git/hooks/pre-commit': '',
    'data/.bashrc': '',
    'data/notes.txt': '',
    'config/lockgate.yaml': '',
    'config/state/keys': '',
  }))
    write(path, text)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const at = (path: string): string => join(folder, path)
function write(path: string, text: string): void {
  mkdirSync(dirname(at(path)), { recursive: true })
  writeFileSync(at(path), text)
}

function bound(upstream: Partial<StdioUpstream>, abilities = ABLE, own: readonly string[] = []) {
  const workspace = { roots: new Map<string, string>(), own: { paths: () => own } }
  const server = { command: process.execPath, args: [at('server/dist/index.js')], cwd: at('alone') }
  return boundServer({ ...server, ...upstream }, { workspace, machine: async () => abilities })
}

async function planOf(...given: Parameters<typeof bound>) {
  const bounded = await bound(...given)
  if (bounded.kind !== 'bounded') throw new Error(bounded.kind === 'refused' ? bounded.reason : 'free')
  const { sandbox } = bounded.server.bounds
  if (sandbox === undefined) throw new Error('no sandbox')
  return { ...sandbox, env: bounded.server.env }
}

describe('bounds of a server', () => {
  test('without any asked for, it starts as it always did, and the machine is not asked', async () => {
    const machine = (): never => {
      throw new Error('asked')
    }
    const workspace = { roots: new Map<string, string>(), own: { paths: () => [] } }
    expect(await boundServer({ command: 'node' }, { workspace, machine })).toEqual({ kind: 'free' })
    expect(await boundServer({ command: 'node', sandbox: 'off' }, { workspace, machine })).toEqual({ kind: 'free' })
  })

  test('a required sandbox that is not there keeps it from starting, and so does a limit beside it that is not kept', async () => {
    expect(await bound({ sandbox: 'required' }, WITHOUT)).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('bubblewrap is not installed; install bubblewrap'),
    })
    const able = { ...WITHOUT, sandbox: ABLE.sandbox }
    expect(await bound({ sandbox: 'required', limits: { processes: 5 } }, able)).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('`limits.processes`'),
    })
    expect(await bound({ sandbox: 'required', limits: { openFiles: 5 } }, able)).toMatchObject({ kind: 'bounded' })
  })

  test('a preferred one that is not there is said, and so is each limit that is not kept', async () => {
    const limits = { processes: 5, openFiles: 50 }
    const bounded = await bound({ sandbox: 'preferred', limits }, WITHOUT)
    expect(bounded).toMatchObject({ kind: 'bounded', unkept: ['sandbox', 'processes'], server: { bounds: { limits } } })
    expect(bounded).not.toHaveProperty('server.bounds.sandbox')
    expect(await bound({ limits }, WITHOUT)).toMatchObject({ kind: 'bounded', unkept: ['processes'] })
    expect(await bound({ limits }, ABLE)).toMatchObject({ kind: 'bounded', unkept: [] })
  })

  test('a program that is not there, or a path that is named and is not there, is told', async () => {
    expect(await bound({ sandbox: 'required', command: 'no-such-mcp-server' })).toMatchObject({
      kind: 'refused',
      reason: '`no-such-mcp-server` is not on this machine',
    })
    for (const key of ['readable', 'writable'])
      expect(await bound({ sandbox: 'preferred', [key]: ['nowhere'] })).toMatchObject({
        kind: 'refused',
        reason: `\`${key}\` names \`nowhere\`, which does not exist`,
      })
  })
})

describe('what a server in a sandbox sees', () => {
  test('its package, its folder and what is named, under real names; no home, no folder of everybody', async () => {
    symlinkSync(at('data'), at('link'))
    const plan = await planOf({ sandbox: 'required', readable: [at('config/state')], writable: ['../link'] })
    expect(plan.readable).toEqual(expect.arrayContaining([at('server'), at('alone'), at('config/state')]))
    expect(plan.readable).not.toContain(folder)
    expect(plan.readable.some((path) => ['/', '/home', '/root', '/tmp', process.env.HOME].includes(path))).toBe(false)
    expect(plan.writable).toEqual([at('data')])
    expect(plan).toMatchObject({ network: true, env: { HOME: '/tmp', TMPDIR: '/tmp' } })
  })

  test('of a script without a package the script alone', async () => {
    const plan = await planOf({ sandbox: 'required', args: [at('alone/script.js')], cwd: at('server') })
    expect(plan.readable).toContain(at('alone/script.js'))
    expect(plan.readable).not.toContain(at('alone'))
  })

  test('no folder that an argument merely names', async () => {
    const plan = await planOf({
      sandbox: 'required',
      args: [at('server/dist/index.js'), at('data'), `--root=${folder}`],
    })
    expect([...plan.readable, ...plan.writable]).not.toContain(at('data'))
  })

  test('no network where that is taken away, and its own home where the operator says so', async () => {
    const plan = await planOf({ sandbox: 'required', network: false, env: { HOME: at('data') } })
    expect(plan).toMatchObject({ network: false, env: { HOME: at('data'), TMPDIR: '/tmp' } })
  })

  test('own-files: of what is the gate’s only what it is started from, which it cannot change', async () => {
    const script = at('data/server.js')
    writeFileSync(script, '')
    const own = [at('config/lockgate.yaml'), at('config/state'), script, at('elsewhere')]
    const plan = await planOf(
      { sandbox: 'required', args: [script], readable: [at('config')], writable: [at('data')] },
      ABLE,
      own,
    )
    expect(plan.masked).toEqual([at('config/lockgate.yaml'), at('config/state')])
    expect(plan.frozen).toContain(script)
  })

  test('and cannot change, of what it may write, what other programs obey; what is not there is not made', async () => {
    symlinkSync(at('alone'), at('data/.vscode'))
    const plan = await planOf({ sandbox: 'required', writable: [at('data')] })
    expect(plan.frozen).toEqual(
      expect.arrayContaining([at('data/.git/hooks'), at('data/.git/config'), at('data/.bashrc')]),
    )
    expect(plan.frozen).not.toContain(at('data/.git'))
    expect(plan.frozen).not.toContain(at('data/.vscode'))
    expect(plan.frozen).not.toContain(at('data/.zshrc'))
  })
})
