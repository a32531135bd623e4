// enforced: every key of the configuration that says how calls are executed does something. Goal: each test here fails when its
// key is ignored. Method: one call or turn with the key and one without it, or with another value.

import { afterEach, describe, expect, it } from 'vitest'
import type { Outcome } from '../src/index.ts'
import { CliProject } from './cli-project.ts'

const HEAD = 'version: 1\nworkspace: ws\n'
const ALLOW = 'policy: { rules: [{ allow: { effect: [read, execute] } }] }\n'

let project: CliProject
afterEach(() => project.remove())

const open = (): void => {
  project = new CliProject(HEAD)
}

async function call(config: string, name: string, args: object = {}): Promise<unknown> {
  project.write('lockgate.yaml', HEAD + config)
  return (await project.json(['call', name, JSON.stringify(args)])).value
}

async function turn(config: string, calls: readonly object[]): Promise<readonly Outcome[]> {
  project.write('lockgate.yaml', HEAD + config)
  project.write('turn.json', JSON.stringify(calls))
  return (await project.json(['turn', 'turn.json'])).value as readonly Outcome[]
}

const ends = (type: string) => ({ ok: false, error: { type } })
const run = (program: string, ...args: readonly string[]) => ({ program, args })
const shell = (options: string): string => `tools: { shell: ${options} }\n${ALLOW}`

describe('enforced: tools.shell', () => {
  it('`tools.shell` brings `run_command`, and without it there is none', async () => {
    open()
    expect(await call(shell('true'), 'run_command', run('ls'))).toMatchObject({ ok: true })
    expect(await call(shell('false'), 'run_command', run('ls'))).toMatchObject(ends('not_found'))
  })

  it('`programs` says which may be started, and what of them', async () => {
    open()
    expect(await call(shell('{ programs: { ls: true } }'), 'run_command', run('ls'))).toMatchObject({ ok: true })
    expect(await call(shell('{ programs: { ls: true } }'), 'run_command', run('cat', 'hello.txt'))).toMatchObject(
      ends('permission_denied'),
    )
    const own = shell('{ programs: { cat: { reads: true, operands: [{ kind: path }], least: 1 } } }')
    expect(await call(own, 'run_command', run('cat', 'hello.txt'))).toMatchObject({ ok: true })
    expect(await call(own, 'run_command', run('cat', '-n', 'hello.txt'))).toMatchObject(ends('unsafe_args'))
  })

  it('`sandbox: off` runs it as a plain child', async () => {
    open()
    expect(await call(shell('{ sandbox: off }'), 'run_command', run('ls'))).toMatchObject({ meta: { place: 'child' } })
  })

  it('`deadline` ends a command, and bounds what a call may ask for', async () => {
    open()
    const config = shell('{ programs: { sleep: true }, deadline: 200ms }')
    expect(await call(config, 'run_command', run('sleep', '60'))).toMatchObject(ends('timeout'))
    const longer = { ...run('sleep', '60'), timeoutMs: 5_000 }
    expect(await call(config, 'run_command', longer)).toMatchObject(ends('invalid_args'))
  })

  it('`limits.output` bounds what is kept', async () => {
    open()
    project.write('ws/long.txt', 'a line of text\n'.repeat(1_000))
    const kept = async (limits: string): Promise<number> => {
      const outcome = (await call(shell(`{ limits: ${limits} }`), 'run_command', run('cat', 'long.txt'))) as Outcome
      return outcome.ok ? JSON.stringify(outcome.value).length : 0
    }
    expect(await kept('{ output: 1KB }')).toBeLessThan(4_096)
    expect(await kept('{ output: 1MB }')).toBeGreaterThan(15_000)
  })

  it('`jobs` says how many commands may go on in the background', async () => {
    open()
    const start = { name: 'run_command', arguments: { ...run('sleep', '60'), background: true } }
    const other = { name: 'run_command', arguments: { ...run('sleep', '61'), background: true } }
    const one = await turn(shell('{ programs: { sleep: true }, jobs: { perSession: 1 } }'), [start, other])
    expect(one.map(({ ok }) => ok)).toEqual([true, false])
    expect(one[1]).toMatchObject(ends('busy'))
    const none = shell('{ programs: { sleep: true }, jobs: { perSession: 0 } }')
    expect(await call(none, 'job_output', { job: 'x' })).toMatchObject(ends('not_found'))
  })
})

describe('enforced: tools.commands', () => {
  const commands = (more = ''): string =>
    `tools: { commands: { count: { program: wc, args: [-l, '{file}'], inputs: { file: { path: true } }, effect: read${more} } } }\n`

  it('each is a tool of its own, with the effect that it was given', async () => {
    open()
    expect(await call(commands(), 'count', { file: 'hello.txt' })).toMatchObject({ ok: true, meta: { effect: 'read' } })
    expect(await call(commands(), 'count', { file: '../outside/secret.txt' })).toMatchObject(ends('unsafe_args'))
    expect(await call(commands(), 'run_command', run('wc'))).toMatchObject(ends('not_found'))
    expect(
      await call(commands().replace('effect: read', 'effect: destructive'), 'count', { file: 'hello.txt' }),
    ).toMatchObject(ends('permission_denied'))
  })

  it('`benign` exit codes are answers, and `deadline` ends it', async () => {
    open()
    const search = (more: string): string =>
      `tools: { commands: { look: { program: grep, args: [nothing, hello.txt], effect: read${more} } } }\n`
    expect(await call(search(', benign: [1]'), 'look')).toMatchObject({ ok: true })
    expect(await call(search(''), 'look')).toMatchObject(ends('tool_error'))
    const wait = 'tools: { commands: { wait: { program: sleep, args: ["60"], effect: read, deadline: 200ms } } }\n'
    expect(await call(wait, 'wait')).toMatchObject(ends('timeout'))
  })
})

describe('enforced: limits', () => {
  const WAIT = `tools: { commands: { wait: { program: sleep, args: ['{time}'], inputs: { time: { oneOf: ['0.30', '0.31'] } }, effect: read } } }\n`
  const calls = ['0.30', '0.31'].map((time) => ({ name: 'wait', arguments: { time } }))

  it('`limits.parallel` bounds what runs at the same time', async () => {
    open()
    const [first, second] = await turn(`${WAIT}limits: { parallel: 1 }\n`, calls)
    expect([first?.ok, second?.ok]).toEqual([true, true])
    expect(Number(second?.meta.startedMs) - Number(first?.meta.startedMs)).toBeGreaterThan(290)
  })

  it('`limits.perMinute` bounds the calls of a caller, or of one tool', async () => {
    open()
    const list = { name: 'list_dir' }
    const read = { name: 'read_file', arguments: { path: 'hello.txt' } }
    const types = async (limits: string): Promise<readonly string[]> =>
      (await turn(`tools: { files: true }\nlimits: { perMinute: ${limits} }\n`, [list, read, list, read])).map(
        (outcome) => (outcome.ok ? 'ok' : outcome.error.type),
      )
    expect(await types('3')).toEqual(['ok', 'ok', 'ok', 'rate_limited'])
    expect(await types('{ tools: { read_file: 1 } }')).toEqual(['ok', 'ok', 'ok', 'rate_limited'])
    expect(await types('{ tenant: 2 }')).toEqual(['ok', 'ok', 'rate_limited', 'rate_limited'])
    expect(await types('100')).toEqual(['ok', 'ok', 'ok', 'ok'])
  })
})

describe('enforced: guards of a source', () => {
  const MODULE = `import { defineTool, toolFailure } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}
let failures = 0
const parts = { version: '1.0.0', description: 'Fails.', input: { type: 'object' }, effect: 'read' }
export const tools = [
  defineTool({ ...parts, name: 'down', run: () => toolFailure({ type: 'unavailable', code: 'down', message: String(++failures), effect: 'none' }) }),
  defineTool({ ...parts, name: 'slow', run: () => new Promise(() => {}) }),
]
`
  const source = (more: string): string => `sources: { own: { module: ./tools.mjs${more} } }\n`

  it('`retry` tries again, and `breaker` leaves the source alone', async () => {
    open()
    project.write('tools.mjs', MODULE)
    expect(await call(source(''), 'down')).toMatchObject({ ...ends('unavailable'), meta: { attempts: 1 } })
    const again = source(', retry: { times: 2, backoff: 1ms }')
    expect(await call(again, 'down')).toMatchObject({ ...ends('unavailable'), meta: { attempts: 3 } })
    const downs = [1, 2, 3].map((id) => ({ name: 'down', arguments: { id } }))
    const types = (await turn(source(', breaker: { failures: 2, cool: 1h }'), downs)).map((outcome) =>
      outcome.ok ? 'ok' : outcome.error.type,
    )
    expect(types).toEqual(['unavailable', 'unavailable', 'busy'])
  })

  it('`attempt` bounds each try and `tries` all of them', async () => {
    open()
    project.write('tools.mjs', MODULE)
    const each = source(', attempt: 50ms, retry: { times: 1, backoff: 1ms }')
    expect(await call(each, 'slow')).toMatchObject({ ...ends('timeout'), meta: { attempts: 2 } })
    const all = source(', tries: 50ms, retry: { times: 1, backoff: 1ms }')
    expect(await call(all, 'slow')).toMatchObject({ ...ends('timeout'), meta: { attempts: 1 } })
  })
})

describe('enforced: rules about programs and places', () => {
  const rules = (list: string): string => `tools: { shell: { sandbox: off } }\npolicy: { rules: [${list}] }\n`

  it('`program` and `reads` decide by what a call starts', async () => {
    open()
    const only = rules('{ allow: { tool: run_command, program: ls, reads: true } }')
    expect(await call(only, 'run_command', run('ls'))).toMatchObject({ ok: true })
    expect(await call(only, 'run_command', run('cat', 'hello.txt'))).toMatchObject(ends('approval_required'))
    expect(await call(rules('{ allow: { tool: run_command, reads: false } }'), 'run_command', run('ls'))).toMatchObject(
      ends('approval_required'),
    )
  })

  it('`place` denies what cannot run there', async () => {
    open()
    expect(await call(rules('{ allow: run_command, place: child }'), 'run_command', run('ls'))).toMatchObject({
      ok: true,
    })
    expect(await call(rules('{ allow: run_command, place: sandbox }'), 'run_command', run('ls'))).toMatchObject(
      ends('permission_denied'),
    )
  })
})
