// Goal: however a command behaves, it ends, everything that it started ends with it, and nothing of it stays on this machine.
// Method: real processes on the real machine, with a sandbox and without one where there is one. The tests wait for
// conditions, with bounds; none of them judges how long something took.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../base/clock.ts'
import type { MachineAbilities } from './abilities.ts'
import { machineAbilities } from './probe-machine.ts'
import type { ProcessEnd, ProcessPlan, SandboxPlan } from './process-plan.ts'
import { runProcess } from './run-process.ts'

const abilities = await machineAbilities()
const isSandboxed = abilities.sandbox.kind === 'ready' && abilities.sandbox.by === 'bwrap'
const isLinux = process.platform === 'linux'
const keeps = (limit: 'cpuMs' | 'memoryBytes' | 'processes' | 'fileBytes' | 'openFiles'): boolean =>
  abilities.limits[limit].kind === 'enforced'
const inGroup = (limit: 'memoryBytes' | 'processes'): boolean => {
  const ability = abilities.limits[limit]
  return ability.kind === 'enforced' && ability.by !== 'prlimit'
}

const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin' }
let folder: string

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-run-')))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(async () => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true })
  // Groups are removed behind the back of whoever waits for the end.
  await vi.waitFor(() => expect(groupsLeft()).toEqual([]), 5_000)
})

const plan = (more: Partial<ProcessPlan>): ProcessPlan => ({
  program: '/bin/sh',
  args: [],
  cwd: folder,
  env: ENV,
  signal: new AbortController().signal,
  ...more,
  limits: { outputBytes: 100_000, ...more.limits },
})

async function run(more: Partial<ProcessPlan>, by: MachineAbilities = abilities) {
  const end = await runProcess(plan(more), { clock: systemClock, abilities: by })
  if (end.kind !== 'ended') throw new Error(`nothing ran: ${end.reason}`)
  return { ...end, out: textOf(end.stdout), err: textOf(end.stderr) }
}

const shell = (script: string, more: Partial<ProcessPlan> = {}) => run({ args: ['-c', script], ...more })
const textOf = ({ head, tail }: { readonly head: Buffer; readonly tail: Buffer }): string =>
  head.toString('utf8') + tail.toString('utf8')

const sandbox = (more: Partial<SandboxPlan> = {}): SandboxPlan => ({
  readable: [],
  writable: [folder],
  frozen: [],
  masked: [],
  network: false,
  ...more,
})

/** A process that has ended and that nobody has collected yet does nothing any more. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' && !isLinux
  }
}

/** Processes that carry this text in their command line. */
function running(mark: string): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return []
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark) && isAlive(Number(name)) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

const groupsLeft = (pid = process.pid): readonly string[] =>
  (abilities.groups ?? []).flatMap(({ folder }) =>
    readdirSync(folder).filter((name) => name.startsWith('lockgate-') && name.includes(`-${pid}-`)),
  )

/** False where somebody has joined it already. */
function isRemoved(group: string): boolean {
  try {
    rmdirSync(group)
    return true
  } catch {
    return false
  }
}

async function numberIn(file: string): Promise<number> {
  let text = ''
  await vi.waitFor(() => {
    text = readFileSync(file, 'utf8')
    expect(text).toMatch(/^\d+\n/)
  }, 10_000)
  return Number.parseInt(text, 10)
}

describe('what a command is given', () => {
  test('its arguments reach it as they are: no shell reads them', async () => {
    const args = ['$(id)', '`id`', '; id', "'", '"', '*', '\\', 'a b', '', '--', '-n', 'ü\n', '${HOME}']
    const { out } = await run({ program: '/usr/bin/printf', args: ['<%s>', ...args] })
    expect(out).toBe(args.map((text) => `<${text}>`).join(''))
  })

  test('its environment is what the plan says and nothing else', async () => {
    process.env.GATE_SECRET_FOR_TEST = 'do not pass on'
    const { out } = await run({ program: '/usr/bin/env', env: { GIVEN: 'a b', PATH: '/usr/bin' } })
    delete process.env.GATE_SECRET_FOR_TEST
    expect(out.trim().split('\n').sort()).toEqual(['GIVEN=a b', 'PATH=/usr/bin'])
  })

  test('its input is what the plan says, and empty where the plan says nothing', async () => {
    expect((await run({ program: '/bin/cat', stdin: 'in\n' })).out).toBe('in\n')
    expect((await run({ program: '/bin/cat' })).out).toBe('')
  })

  test('it is told the name that the plan says', async () => {
    const { out } = await run({
      program: '/bin/sh',
      name: 'other-name',
      args: ['-c', 'echo "$0"; ps -o args= -p $$ 2>/dev/null || cat /proc/$$/cmdline'],
    })
    expect(out).toContain('other-name')
  })

  test('a program, a folder or a start that is not there is no end: nothing ran', async () => {
    const unstarted = (more: Partial<ProcessPlan>) => runProcess(plan(more), { clock: systemClock, abilities })
    expect(await unstarted({ program: '/no/such/program' })).toMatchObject({ kind: 'unstarted', why: 'missing' })
    expect(await unstarted({ program: folder })).toMatchObject({ kind: 'unstarted', why: 'missing' })
    expect(await unstarted({ cwd: join(folder, 'absent') })).toMatchObject({ kind: 'unstarted', why: 'missing' })
    expect(await unstarted({ args: ['a\0b'] })).toMatchObject({ kind: 'unstarted', why: 'refused' })
    expect(await unstarted({ args: ['x'.repeat(8_000_000)] })).toMatchObject({ kind: 'unstarted', why: 'refused' })
    writeFileSync(join(folder, 'plain'), 'echo no')
    expect(await unstarted({ program: join(folder, 'plain') })).toMatchObject({ kind: 'unstarted', why: 'missing' })
    expect(await unstarted({ signal: AbortSignal.abort() })).toMatchObject({ kind: 'unstarted' })
  })
})

describe('how a command ends', () => {
  test('L48: words on standard error and exit 0 are a success; only the status tells', async () => {
    expect(await shell('echo careful >&2')).toMatchObject({
      exitCode: 0,
      endSignal: null,
      err: 'careful\n',
      limitsHit: [],
    })
    expect(await shell('echo fine; exit 3')).toMatchObject({ exitCode: 3, out: 'fine\n' })
    expect(await shell('kill -9 $$')).toMatchObject({ exitCode: null, endSignal: 'SIGKILL' })
  })

  test('L48: an abort ends a command, and says so', async () => {
    const controller = new AbortController()
    const ending = shell('echo in; sleep 60', { signal: controller.signal, onOutput: () => controller.abort() })
    expect(await ending).toMatchObject({ stopped: 'aborted', out: 'in\n' })
  })

  test('one that ignores SIGTERM is ended all the same', async () => {
    const controller = new AbortController()
    const script = "trap '' TERM; echo in; while :; do sleep 0.05; done"
    const ending = shell(script, { signal: controller.signal, onOutput: () => controller.abort() })
    expect(await ending).toMatchObject({ stopped: 'aborted', endSignal: 'SIGKILL' })
  })

  test('one that cleans up on SIGTERM has the time for it', async () => {
    const controller = new AbortController()
    const script = "trap 'echo cleaned; exit 7' TERM; echo in; while :; do sleep 0.01; done"
    const ending = shell(script, { signal: controller.signal, onOutput: () => controller.abort() })
    expect(await ending).toMatchObject({ stopped: 'aborted', exitCode: 7, out: 'in\ncleaned\n' })
  })

  test('silence for longer than the plan allows ends it; output keeps it alive', async () => {
    expect(await shell('echo in; sleep 60', { idleMs: 200 })).toMatchObject({ stopped: 'idle', out: 'in\n' })
    const talking = await shell('for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done', { idleMs: 600 })
    expect(talking.stopped).toBeUndefined()
  })

  test('L45: a grandchild that holds the pipes does not hold the end, and ends too', async () => {
    const pid = join(folder, 'pid')
    const end = await shell(`(while :; do echo c; sleep 1; done) & echo $! > ${pid}; echo done`)
    expect(end).toMatchObject({ exitCode: 0, leftovers: true })
    expect(end.out).toContain('done')
    const holder = await numberIn(pid)
    await vi.waitFor(() => expect(isAlive(holder)).toBe(false))
  })

  test('what the command said just before it ended is not lost to a pipe holder', async () => {
    const end = await shell(`sleep 60 & head -c 90000 /dev/zero | tr '\\0' x; echo; echo the end`)
    expect(end.stdout.totalBytes).toBe(90_009)
    expect(end.out.endsWith('the end\n')).toBe(true)
  })

  test('a grandchild that left no trace in the pipes ends too', async () => {
    const pid = join(folder, 'pid')
    const end = await shell(`sleep 60 >/dev/null 2>&1 & echo $! > ${pid}`)
    expect(end.leftovers).toBe(false)
    const sleeper = await numberIn(pid)
    await vi.waitFor(() => expect(isAlive(sleeper)).toBe(false))
  })

  test.skipIf(!isSandboxed && abilities.tree !== 'cgroup')(
    'a grandchild in a session of its own ends too',
    async () => {
      const pid = join(folder, 'pid')
      const script = `setsid sh -c 'echo $$ > ${pid}; exec sleep 60' >/dev/null 2>&1 & while [ ! -s ${pid} ]; do sleep 0.01; done`
      await shell(script)
      const daemon = await numberIn(pid)
      await vi.waitFor(() => expect(isAlive(daemon)).toBe(false))
    },
  )
})

describe('what a command prints', () => {
  test('of a long output the head and the tail are kept', async () => {
    const end = await shell('seq 1 100000', { limits: { outputBytes: 1_000 } })
    expect(end.stdout.totalBytes).toBe(588_895)
    expect(end.stdout.head.length).toBe(500)
    expect(end.stdout.tail.length).toBe(500)
    expect(end.out.startsWith('1\n2\n3\n')).toBe(true)
    expect(end.out.endsWith('99999\n100000\n')).toBe(true)
    expect(end.limitsHit).toEqual([])
  })

  test('a flood costs it its life, and the bound is named', async () => {
    const end = await run({ program: '/usr/bin/yes', limits: { outputBytes: 1_000, floodBytes: 1_000_000 } })
    expect(end).toMatchObject({ stopped: 'flood', limitsHit: ['outputBytes'], endSignal: 'SIGKILL' })
    expect(end.stdout.head.length + end.stdout.tail.length).toBe(1_000)
  })

  test('a line without an end is a flood like any other', async () => {
    const end = await shell("tr '\\0' x < /dev/zero", { limits: { outputBytes: 1_000, floodBytes: 500_000 } })
    expect(end).toMatchObject({ stopped: 'flood', limitsHit: ['outputBytes'] })
  })

  test('output is told while it runs, and a listener that throws changes nothing', async () => {
    const heard: string[] = []
    const onOutput: NonNullable<ProcessPlan['onOutput']> = ({ stream, bytes }) => {
      heard.push(`${stream}:${bytes.toString('utf8')}`)
      throw new Error('not my problem')
    }
    const end = await shell('echo one; echo two >&2', { onOutput })
    expect(end.exitCode).toBe(0)
    expect(heard.sort()).toEqual(['stderr:two\n', 'stdout:one\n'])
  })
})

describe('bounds of a command', () => {
  test.skipIf(!inGroup('processes'))(
    'a fork bomb meets the process limit, which is named, and nobody of it is left',
    async () => {
      const mark = `mark-${Math.random().toString(36).slice(2)}`
      const controller = new AbortController()
      const script = `: ${mark}; bomb() { bomb | bomb & }; echo in; bomb; sleep 60`
      const ending = shell(script, {
        limits: { outputBytes: 10_000, processes: 30 },
        signal: controller.signal,
        // The shell complains as soon as it cannot start another one.
        onOutput: ({ stream }) => stream === 'stderr' && controller.abort(),
      })
      expect((await ending).limitsHit).toContain('processes')
      await vi.waitFor(() => expect(running(mark)).toEqual([]))
    },
  )

  test.skipIf(!inGroup('processes'))('a command below its process limit is not touched', async () => {
    const end = await shell('for i in 1 2 3 4 5; do sleep 0.05 & done; wait; echo all', {
      limits: { outputBytes: 1_000, processes: 30 },
    })
    expect(end).toMatchObject({ exitCode: 0, out: 'all\n', limitsHit: [] })
  })

  test.skipIf(!inGroup('memoryBytes'))('a memory hog is ended by its limit, which is named', async () => {
    const script = 'const all = []; for (;;) all.push(Buffer.alloc(4_000_000, 1))'
    const end = await run({
      program: process.execPath,
      args: ['-e', script],
      limits: { outputBytes: 10_000, memoryBytes: 150_000_000 },
    })
    expect(end.limitsHit).toEqual(['memoryBytes'])
    expect(end.exitCode).not.toBe(0)
  })

  test.skipIf(!keeps('fileBytes'))('a file over its bound is cut there, and the limit is named', async () => {
    const file = join(folder, 'large')
    const end = await run({
      program: '/usr/bin/head',
      args: ['-c', '3000000', '/dev/zero'],
      limits: { outputBytes: 10_000, fileBytes: 1_000_000 },
    })
    expect(end.exitCode).toBe(0)
    const writing = await run({
      program: '/bin/dd',
      args: ['if=/dev/zero', `of=${file}`, 'bs=100000', 'count=30'],
      limits: { outputBytes: 10_000, fileBytes: 1_000_000 },
    })
    expect(writing.limitsHit).toEqual(['fileBytes'])
    expect(readFileSync(file).length).toBe(1_000_000)
  })

  test.skipIf(!keeps('openFiles'))('it cannot open more files than it may', async () => {
    const { out } = await shell('ulimit -n', { limits: { outputBytes: 1_000, openFiles: 77 } })
    expect(out).toBe('77\n')
  })

  test.skipIf(!keeps('cpuMs'))('processor time over its bound ends it, and the limit is named', async () => {
    const end = await shell('while :; do :; done', { limits: { outputBytes: 1_000, cpuMs: 400 } })
    expect(end.limitsHit).toEqual(['cpuMs'])
    expect(end.exitCode).not.toBe(0)
  })

  test.skipIf(!isLinux)('no command leaves a core file', async () => {
    const { out } = await shell('ulimit -c')
    expect(out).toBe('0\n')
  })

  test('bounds that this machine cannot keep are told, and the command runs', async () => {
    const missing = { kind: 'unenforced', reason: 'test', mend: 'test' } as const
    const bare: MachineAbilities = {
      sandbox: { kind: 'missing', reason: 'test', mend: 'test' },
      limits: { cpuMs: missing, memoryBytes: missing, processes: missing, fileBytes: missing, openFiles: missing },
      tree: 'group',
    }
    const limits = { outputBytes: 1_000, cpuMs: 1_000, processes: 10 }
    expect(await run({ args: ['-c', 'echo in'], limits }, bare)).toMatchObject({
      exitCode: 0,
      out: 'in\n',
      unenforced: ['cpuMs', 'processes'],
    })
    expect(await runProcess(plan({ sandbox: sandbox() }), { clock: systemClock, abilities: bare })).toMatchObject({
      kind: 'unstarted',
      why: 'missing',
    })
  })

  test('a group that somebody removed, or that nobody can make, leaks nothing', async () => {
    if (abilities.groups === undefined || abilities.groups.length === 0) return
    const groups = abilities.groups.map((group) => ({ ...group, folder: join(folder, 'no-such-hierarchy') }))
    const end = await runProcess(plan({ limits: { outputBytes: 1_000, processes: 10, memoryBytes: 50_000_000 } }), {
      clock: systemClock,
      abilities: { ...abilities, groups },
    })
    expect(end).toMatchObject({ kind: 'unstarted', why: 'refused' })
  })

  test.skipIf((abilities.groups ?? []).length === 0)(
    'a group that vanishes as its command starts: nothing runs outside of it',
    async () => {
      for (let index = 0; index < 5; index++) {
        await vi.waitFor(() => expect(groupsLeft()).toEqual([]), 5_000)
        const made = join(folder, `made-${index}`)
        const ending = runProcess(plan({ args: ['-c', `echo > ${made}; sleep 0.3`] }), {
          clock: systemClock,
          abilities,
        })
        const vanished = (abilities.groups ?? []).flatMap(({ folder }) =>
          groupsLeft()
            .map((name) => join(folder, name))
            .filter((path) => existsSync(path) && isRemoved(path)),
        )
        const end = await ending
        expect(existsSync(made)).toBe(end.kind === 'ended')
        if (vanished.length > 0) expect(end).toMatchObject({ kind: 'unstarted', why: 'refused' })
      }
    },
  )
})

describe.skipIf(!isSandboxed)('a command in a sandbox', () => {
  test('it sees what the plan names and nothing else of the disk', async () => {
    const secret = join(dirname(folder), `lockgate-secret-${process.pid}`)
    writeFileSync(secret, 'secret')
    try {
      const { out } = await shell(
        `ls -A; ls ${dirname(folder)}; cat ${secret}; ls /etc/passwd /etc/shadow /home; ls -d /proc/[0-9]*`,
        {
          sandbox: sandbox(),
        },
      )
      expect(out).not.toContain('secret')
      expect(out).not.toContain('passwd')
      expect(out.split('\n').filter((line) => line.startsWith('/proc/')).length).toBeLessThan(6)
    } finally {
      rmSync(secret)
    }
  })

  test('its environment is what the plan says, and nobody reads it from a command line', async () => {
    const { out } = await run({ program: '/usr/bin/env', env: { PATH: '/usr/bin', TOKEN: 'hush' }, sandbox: sandbox() })
    expect(out.trim().split('\n').sort()).toEqual(['PATH=/usr/bin', `PWD=${folder}`, 'TOKEN=hush'])
    const controller = new AbortController()
    const mark = `mark-${Math.random().toString(36).slice(2)}`
    const ending = shell(`echo in; sleep 60`, {
      env: { ...ENV, TOKEN: mark },
      sandbox: sandbox(),
      signal: controller.signal,
      onOutput: () => {
        expect(running(mark)).toEqual([])
        controller.abort()
      },
    })
    expect(await ending).toMatchObject({ stopped: 'aborted' })
  })

  test('what is readable cannot be written, what is writable can', async () => {
    const readable = join(folder, 'readable')
    const writable = join(folder, 'writable')
    mkdirSync(readable)
    mkdirSync(writable)
    writeFileSync(join(readable, 'file'), 'content')
    const plan = sandbox({ readable: [readable], writable: [writable] })
    const { out, err } = await shell(
      `cat ${readable}/file; echo x > ${readable}/file; echo y > ${writable}/file; echo z > /new`,
      {
        cwd: writable,
        sandbox: plan,
      },
    )
    expect(out).toBe('content')
    expect(err.match(/Read-only file system/g)).toHaveLength(2)
    expect(readFileSync(join(readable, 'file'), 'utf8')).toBe('content')
    expect(readFileSync(join(writable, 'file'), 'utf8')).toBe('y\n')
  })

  test('frozen paths cannot be changed, also not by renaming what is above them', async () => {
    mkdirSync(join(folder, '.git/hooks'), { recursive: true })
    writeFileSync(join(folder, '.git/config'), 'kept')
    const plan = sandbox({ frozen: [join(folder, '.git/hooks'), join(folder, '.git/config')] })
    const script = `echo evil > .git/hooks/pre-commit; echo evil > .git/config; mv .git/config .git/other; rm -f .git/config; ln -sf /tmp/x .git/config; mv .git moved; rm -rf .git; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo fine > .git/index`
    await shell(script, { sandbox: plan })
    expect(readFileSync(join(folder, '.git/config'), 'utf8')).toBe('kept')
    expect(readdirSync(join(folder, '.git/hooks'))).toEqual([])
    expect(readdirSync(folder)).toEqual(['.git'])
    expect(readFileSync(join(folder, '.git/index'), 'utf8')).toBe('fine\n')
  })

  test('absent frozen paths cannot be made, and nothing of them is left on the disk', async () => {
    mkdirSync(join(folder, '.git'))
    const frozen = ['.git/hooks', '.git/config', '.vscode/settings.json', '.idea', '.npmrc', 'packages/a/.npmrc'].map(
      (name) => join(folder, name),
    )
    const script = `for p in .git/hooks/pre-commit .git/config .vscode/settings.json .idea/x .npmrc packages/a/.npmrc; do mkdir -p "$(dirname $p)"; echo evil > $p; done; mv .vscode .v2; rm -rf .idea .npmrc; mkdir .idea; echo evil > .idea/x; echo fine > file`
    const end = await shell(`${script}; chmod 755 .idea; echo evil > .idea/x`, { sandbox: sandbox({ frozen }) })
    expect(end.err).toContain('Permission denied')
    expect(readdirSync(folder).sort()).toEqual(['.git', 'file'])
    expect(readdirSync(join(folder, '.git'))).toEqual([])
  })

  test('two commands that hold the same absent path both keep it, and the last one removes it', async () => {
    const frozen = [join(folder, '.vscode')]
    const controller = new AbortController()
    let started = (): void => {}
    const ready = new Promise<void>((resolve) => {
      started = resolve
    })
    const long = shell(
      'echo in; while [ ! -e go ]; do sleep 0.02; done; mkdir .vscode; echo evil > .vscode/settings.json; ls -A',
      {
        sandbox: sandbox({ frozen }),
        signal: controller.signal,
        onOutput: started,
      },
    )
    await ready
    await shell('true', { sandbox: sandbox({ frozen }) })
    expect(existsSync(join(folder, '.vscode'))).toBe(true)
    writeFileSync(join(folder, 'go'), '')
    expect((await long).err).toContain('.vscode')
    expect(readdirSync(folder)).toEqual(['go'])
  })

  test('a frozen path behind a symbolic link is refused rather than half kept', async () => {
    mkdirSync(join(folder, 'conf'))
    symlinkSync('conf', join(folder, '.vscode'))
    const frozen = [join(folder, '.vscode/settings.json')]
    expect(await runProcess(plan({ sandbox: sandbox({ frozen }) }), { clock: systemClock, abilities })).toMatchObject({
      kind: 'unstarted',
      why: 'refused',
    })
  })

  test('masked files and folders are empty in there and whole outside', async () => {
    mkdirSync(join(folder, 'private'))
    writeFileSync(join(folder, 'private/key'), 'secret')
    writeFileSync(join(folder, '.env'), 'TOKEN=secret')
    const masked = [join(folder, 'private'), join(folder, '.env'), join(folder, 'absent')]
    const { out } = await shell(
      'cat .env private/key; ls -A private; mv private p2; cat p2/key; ln .env copy; cat copy; grep -r secret .',
      {
        sandbox: sandbox({ masked }),
      },
    )
    expect(out).toBe('')
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('TOKEN=secret')
    expect(readFileSync(join(folder, 'private/key'), 'utf8')).toBe('secret')
    expect(existsSync(join(folder, 'absent'))).toBe(false)
  })

  test('there is no network unless it is granted', async () => {
    const script = 'cat /proc/net/dev | tail -n +3 | wc -l'
    expect((await shell(script, { sandbox: sandbox() })).out.trim()).toBe('1')
    const outside = readFileSync('/proc/net/dev', 'utf8').trim().split('\n').length - 2
    expect((await shell(script, { sandbox: sandbox({ network: true }) })).out.trim()).toBe(String(outside))
  })

  test('L47: it cannot see or signal the host, whatever the name of what it looks for', async () => {
    const { out } = await shell(
      `[ -e /proc/${process.pid}/root/tmp ] || echo unseen; kill -0 ${process.pid} 2>/dev/null || echo unreached; cat /proc/[0-9]*/comm`,
      {
        sandbox: sandbox(),
      },
    )
    expect(out).toContain('unreached')
    expect(out).not.toContain('node')
  })

  test('it has no capability, and cannot come by one', async () => {
    const { out } = await shell('grep -E "Cap(Prm|Eff|Bnd)|NoNewPrivs" /proc/self/status', { sandbox: sandbox() })
    expect(out.match(/0000000000000000/g)).toHaveLength(3)
    expect(out).toMatch(/NoNewPrivs:\s+1/)
  })

  test('what it leaves running ends with it, a session of its own or not', async () => {
    const mark = `mark-${Math.random().toString(36).slice(2)}`
    const script = `setsid sh -c ': ${mark}; echo in > started; sleep 60' & while [ ! -s started ]; do sleep 0.01; done; echo done`
    const end = await shell(script, { sandbox: sandbox() })
    expect(end).toMatchObject({ exitCode: 0, out: 'done\n' })
    await vi.waitFor(() => expect(running(mark)).toEqual([]))
  })

  test('an abort reaches the command inside, which has its time to clean up', async () => {
    const controller = new AbortController()
    const script = "trap 'echo cleaned; exit 7' TERM; echo in; while :; do sleep 0.01; done"
    const ending = shell(script, { sandbox: sandbox(), signal: controller.signal, onOutput: () => controller.abort() })
    expect(await ending).toMatchObject({ stopped: 'aborted', exitCode: 7, out: 'in\ncleaned\n' })
  })

  test('an abort at any moment of the start leaves nobody and nothing', async () => {
    const mark = `mark-${Math.random().toString(36).slice(2)}`
    const frozen = [join(folder, '.vscode'), join(folder, '.npmrc')]
    for (let delayMs = 0; delayMs < 24; delayMs += 3) {
      const controller = new AbortController()
      const ending = runProcess(
        plan({
          args: ['-c', `: ${mark}; sleep 60`],
          sandbox: sandbox({ frozen }),
          signal: controller.signal,
          limits: { outputBytes: 100, processes: 20 },
        }),
        { clock: systemClock, abilities },
      )
      systemClock.after(delayMs, () => controller.abort())
      const end: ProcessEnd = await ending
      if (end.kind === 'ended') expect(end.stopped).toBe('aborted')
    }
    await vi.waitFor(() => expect(running(mark)).toEqual([]))
    expect(readdirSync(folder)).toEqual([])
  })

  test('a program outside of the shown folders is shown alone, under the name that it is given', async () => {
    const place = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-program-')))
    try {
      const program = join(place, 'own-program')
      writeFileSync(program, '#!/bin/sh\necho "$0"; ls -A "$(dirname "$0")"\n', { mode: 0o755 })
      writeFileSync(join(place, 'neighbour'), 'secret')
      expect((await run({ program, sandbox: sandbox() })).out).toBe(`${program}\nown-program\n`)
      expect((await run({ program, name: 'called', sandbox: sandbox() })).out).toMatch(/\/called\ncalled\n$/)
    } finally {
      rmSync(place, { recursive: true })
    }
  })

  test('a sandbox that cannot be made is no end of the command: nothing ran', async () => {
    const ends = [
      sandbox({ readable: [join(folder, 'absent')] }),
      sandbox({ writable: [] }),
      sandbox({ masked: Array.from({ length: 9_000 }, (_, index) => join(folder, String(index))) }),
    ].map((made) => runProcess(plan({ sandbox: made }), { clock: systemClock, abilities }))
    const [absent, unseen, masked] = await Promise.all(ends)
    expect(absent).toMatchObject({ kind: 'unstarted', why: 'refused' })
    expect(unseen).toMatchObject({ kind: 'unstarted', why: 'refused' })
    // What is not there needs no mask.
    expect(masked).toMatchObject({ kind: 'ended', exitCode: 0 })
  })
})
