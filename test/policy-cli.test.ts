// Goal: every command about rules works on the examples that the documents name, as a user runs it. Method: the built program
// on the quickstart and on the two hundred rules, with a state folder of its own; nothing of the examples is changed.

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { CliProject } from './cli-project.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const MAIN = join(root, 'dist', 'cli', 'main.js')

type Run = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** The built program on one example, with state of its own. */
class Example {
  readonly folder = mkdtempSync(join(tmpdir(), 'lockgate-policy-'))
  readonly config: string

  constructor(name: string) {
    this.config = join(root, 'examples', name, 'lockgate.yaml')
  }

  run(...argv: readonly string[]): Promise<Run> {
    const env = { PATH: process.env.PATH ?? '', HOME: this.folder, LOCKGATE_STATE: join(this.folder, 'state') }
    return new Promise((resolve, reject) => {
      const options = { cwd: this.folder, env, maxBuffer: 64 * 1_048_576 }
      const child = execFile(process.execPath, [MAIN, '--config', this.config, ...argv], options, (error, out, err) => {
        if (error !== null && typeof error.code !== 'number') reject(error)
        else resolve({ code: error === null ? 0 : Number(error.code), stdout: out, stderr: err })
      })
      child.stdin?.end()
    })
  }

  async json<Value>(...argv: readonly string[]): Promise<{ readonly code: number; readonly value: Value }> {
    const { code, stdout, stderr } = await this.run(...argv, '--json')
    try {
      return { code, value: JSON.parse(stdout) as Value }
    } catch {
      throw new Error(`no JSON: ${stdout}\n${stderr}`)
    }
  }

  write(name: string, text: string): string {
    const file = join(this.folder, name)
    writeFileSync(file, text)
    return file
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

type Checked = { rules: { rule: { text: string }; tools: string[] }[]; warnings: string[]; held: unknown[] }
type Explained = {
  kind: string
  decision: { kind: string; rule?: { file?: string; line?: number } }
  findings: { holds: boolean; decides: boolean; failed?: string }[]
}
type Cell = { tool: string; depends: boolean; decision: { kind: string } }
type Simulated = {
  calls: number
  untold: unknown[]
  differing: { tool: string; before: { kind: string }; after: { kind: string } }[]
}
type Suggested = { asks: number; yaml: string; rule: { allow: string } }[]

/** Each command is a process that reads two hundred rules, or starts two servers. */
const SLOW_MS = 120_000

describe('the two hundred rules', { timeout: SLOW_MS }, () => {
  let example: Example
  beforeAll(() => {
    example = new Example('policy-200')
  })
  afterAll(() => example.remove())

  it('check: they hold, each speaks of some tool, and there are two hundred of them', async () => {
    const { code, value } = await example.json<Checked>('policy', 'check')
    expect(code).toBe(0)
    expect(value).toMatchObject({ warnings: [], held: [] })
    expect(value.rules.length).toBeGreaterThanOrEqual(200)
    expect(value.rules.filter(({ tools }) => tools.length === 0)).toEqual([])
  })

  it('test: every case gets its answer, and one that does not is named with its line and ends with 1', async () => {
    expect(await example.run('policy', 'test')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(' cases got'),
    })
    const wrong = example.write(
      'wrong.yaml',
      'cases:\n  - name: refunds\n    caller: { roles: [support] }\n    call: { name: order_refund, arguments: { number: A, amount: 600, currency: EUR, reason: late } }\n    expect: allow\n',
    )
    const { code, stdout } = await example.run('policy', 'test', wrong)
    expect(code).toBe(1)
    expect(stdout).toMatch(/wrong\.yaml:2 refunds/)
    expect(stdout).toContain('expected allow, got deny')
    expect(stdout).toMatch(/orders\.yaml:\d+/)
  })

  it('test: a table that is misspelt is an error with line and column, and no case is left out', async () => {
    const wrong = example.write('misspelt.yaml', 'cases:\n  - call: { name: read_file }\n    expcet: allow\n')
    const { code, stderr } = await example.run('policy', 'test', wrong)
    expect(code).toBe(2)
    expect(stderr).toMatch(/misspelt\.yaml:3:5/)
    expect(stderr).toContain('did you mean `expect`')
  })

  it('explain: names the rule with file and line, and of others the condition that failed', async () => {
    const call = JSON.stringify({ number: 'A-1', amount: 600, currency: 'EUR', reason: 'late' })
    const { code, value } = await example.json<Explained>(
      'policy',
      'explain',
      'order_refund',
      call,
      '--role',
      'support',
    )
    expect(code).toBe(0)
    expect(value).toMatchObject({ kind: 'decided', decision: { kind: 'deny' } })
    expect(value.decision.rule?.file).toMatch(/orders\.yaml$/)
    const lines = readFileSync(value.decision.rule?.file ?? '', 'utf8').split('\n')
    expect(lines[(value.decision.rule?.line ?? 0) - 1]).toContain('deny: order_refund')
    expect(value.findings.filter(({ decides }) => decides)).toHaveLength(1)
    for (const { failed } of value.findings.filter(({ holds }) => !holds)) expect(failed).toMatch(/\S/)
    const whole = await example.run(
      'policy',
      'explain',
      `{"name":"order_refund","arguments":${call}}`,
      '--role',
      'support',
    )
    expect(whole.stdout).toContain('holds, and decides')
    expect(whole.stdout).toMatch(/does not hold: where amount=\{min=0\.01,max=25\}: it is `600`/)
  })

  it('explain: a call that does not come to a decision ends with 1', async () => {
    expect(await example.json('policy', 'explain', 'no_such_tool')).toMatchObject({
      code: 1,
      value: { type: 'not_found' },
    })
    expect(await example.json('policy', 'explain', 'order_refund', '{"amount":"x"}')).toMatchObject({
      code: 1,
      value: { type: 'invalid_args' },
    })
  })

  it('matrix: callers against tools, with a star where arguments matter', async () => {
    const callers = ['{"roles":["guest"]}', '{"roles":["oncall"],"step":"analyse"}'].flatMap((one) => ['--caller', one])
    const { value } = await example.json<Cell[]>(
      'policy',
      'matrix',
      ...callers,
      '--tool',
      'deploy_*',
      '--tool',
      'mail_draft',
    )
    const cells = (tool: string): readonly string[] =>
      value.filter((row) => row.tool === tool).map(({ decision, depends }) => `${decision.kind}${depends ? '*' : ''}`)
    expect(cells('deploy_start')).toEqual(['deny', 'deny'])
    expect(cells('mail_draft')).toEqual(['ask', 'deny'])
    const { stdout } = await example.run('policy', 'matrix', '--tool', 'order_refund', '--role', 'support')
    expect(stdout).toMatch(/order_refund +ask\*/)
  })

  it('simulate and suggest: from calls that were made, asked about and answered', async () => {
    const checks = (suite: string) => ['call', 'run_checks', JSON.stringify({ service: 'search', suite })]
    for (const suite of ['unit', 'contract']) expect((await example.run(...checks(suite), '--yes')).code).toBe(0)
    expect((await example.run('call', 'order_read', '{"number":"A-1"}')).code).toBe(0)
    expect((await example.run('call', 'mail_search', '{"folder":"hr","query":"x"}')).code).toBe(1)

    const changed = example.write('changed.yaml', 'rules:\n  - deny: order_read\n    where: { number: A-* }\n')
    const { value: simulated } = await example.json<Simulated>(
      'policy',
      'simulate',
      '--since',
      '7d',
      '--policy',
      changed,
    )
    expect(simulated.differing).toMatchObject([
      { tool: 'order_read', before: { kind: 'allow' }, after: { kind: 'deny' } },
    ])
    expect(simulated).toMatchObject({ untold: [], calls: 6 })
    const { value: same } = await example.json<Simulated>('policy', 'simulate', '--policy', example.config)
    expect(same).toMatchObject({ differing: [], calls: 6 })

    const { stdout } = await example.run('policy', 'suggest', '--since', '7d')
    expect(parse(stdout)).toMatchObject({ rules: [{ allow: 'run_checks' }] })
    const pasted = example.write('pasted.yaml', stdout)
    const { value: spared } = await example.json<Simulated>('policy', 'simulate', '--policy', pasted)
    expect(spared.differing.map(({ tool, before, after }) => `${tool} ${before.kind} ${after.kind}`)).toEqual(
      Array.from({ length: 4 }, () => 'run_checks ask allow'),
    )
  })

  it('simulate: rules that do not hold are an error with their place, and so is an argument that no tool has', async () => {
    const unknown = example.write('unknown.yaml', 'rules:\n  - deny: order_read\n    where: { nummber: A }\n')
    const misfit = await example.run('policy', 'simulate', '--policy', unknown)
    expect(misfit).toMatchObject({ code: 2, stderr: expect.stringContaining('nummber') })
  })

  it('explain view: every tool with its reason, and what is seen is what is listed', async () => {
    const { value: view } = await example.json<{ tool: string; seen: boolean; why: string }[]>(
      'explain',
      'view',
      '--role',
      'guest',
      '--step',
      'analyse',
    )
    const seen = view.filter((row) => row.seen).map(({ tool }) => tool)
    expect(seen).toContain('order_read')
    expect(seen).not.toContain('mail_draft')
    expect(view.every(({ why }) => why !== '')).toBe(true)
    const { value: tools } = await example.json<{ name: string }[]>('tools', '--role', 'guest', '--step', 'analyse')
    expect(tools.map(({ name }) => name)).toEqual(seen)
  })

  it('no command about rules runs a tool, and none prints colour into a pipe', async () => {
    const before = await example.json<unknown[]>('audit', 'tail', '-n', '1000')
    const all = await Promise.all([
      example.run('policy', 'check'),
      example.run('policy', 'test'),
      example.run('policy', 'matrix'),
      example.run('policy', 'explain', 'order_read', '{"number":"A"}'),
      example.run('explain', 'view'),
    ])
    for (const { stdout, stderr } of all) expect(stdout + stderr).not.toMatch(/\u001b/)
    expect(all[0]?.stdout).toMatch(/rules\/orders\.yaml:\d+ +allow order_refund for role=support/)
    expect(all[0]?.stdout).toContain('the policy holds')
    const after = await example.json<unknown[]>('audit', 'tail', '-n', '1000')
    expect(after.value).toHaveLength(before.value.length)
  })
})

describe('the quickstart', { timeout: SLOW_MS }, () => {
  let example: Example
  beforeAll(() => {
    example = new Example('quickstart')
  })
  afterAll(() => example.remove())

  it('check, test, matrix, explain: they hold, and the cases get their answers', async () => {
    expect(await example.json('policy', 'check')).toMatchObject({ code: 0, value: { held: [], profile: 'coding' } })
    expect(await example.run('policy', 'test')).toMatchObject({ code: 0 })
    const { value } = await example.json<Cell[]>('policy', 'matrix', '--role', 'viewer')
    expect(value.find(({ tool }) => tool === 'write_file')).toMatchObject({ decision: { kind: 'deny' } })
    const explained = await example.run('policy', 'explain', 'write_file', '{"path":"reports/a","content":"x"}')
    expect(explained.stdout).toMatch(/reports are records[\s\S]*lockgate\.yaml:\d+/)
  })

  it('simulate and suggest: an upstream’s tool that was approved once', async () => {
    const tool = 'mcp__everything__toggle-simulated-logging'
    expect((await example.run('call', tool, '{}', '--yes')).code).toBe(0)
    const { value } = await example.json<Suggested>('policy', 'suggest', '--since', '1h')
    expect(value).toMatchObject([{ asks: 1, rule: { allow: tool } }])
    const changed = example.write('changed.yaml', `rules:\n  - deny: ${tool}\n`)
    const { value: simulated } = await example.json<Simulated>(
      'policy',
      'simulate',
      '--since',
      '1h',
      '--policy',
      changed,
    )
    expect(simulated.differing.map(({ tool: name, after }) => [name, after.kind])).toEqual([
      [tool, 'deny'],
      [tool, 'deny'],
    ])
  })
})

describe('what does not hold', () => {
  let project: CliProject
  beforeAll(() => {
    project = new CliProject('version: 1\nworkspace: ws\ntools: { files: true }\nstore: memory\n')
    project.write('none.yaml', '[]\n')
  })
  afterAll(() => project.remove())

  it.each([
    ['no action', ['policy']],
    ['an action that there is not', ['policy', 'bogus']],
    ['a word too many', ['policy', 'check', 'more']],
    ['no call', ['policy', 'explain']],
    ['a call without a name', ['policy', 'explain', '{"name":7}']],
    ['a call that is no JSON', ['policy', 'explain', '{']],
    ['a call with more in it', ['policy', 'explain', '{"name":"read_file","approved":true}']],
    ['a table that is not there', ['policy', 'test', 'absent.yaml']],
    ['no table', ['policy', 'test']],
    ['a caller that is none', ['policy', 'matrix', '--caller', '{"root":true}']],
    ['tools that are no glob', ['policy', 'matrix', '--tool', '[a']],
    ['a time that is none', ['policy', 'simulate', '--since', 'soon']],
    ['records that are not kept', ['policy', 'suggest', '--since', '7d']],
    ['a profile that there is not', ['explain', 'profile', 'codng']],
    ['nothing to explain', ['explain', 'weather']],
  ])('%s: exit code 2, and one JSON value that says why', async (_what, argv) => {
    const { code, value } = await project.json(argv)
    expect(value).toMatchObject({ error: { message: expect.stringMatching(/\S/) } })
    expect(code).toBe(2)
  })

  it('and the twins of these pass', async () => {
    for (const argv of [
      ['policy', 'check'],
      ['policy', 'explain', '{"name":"read_file","arguments":{"path":"hello.txt"}}'],
      ['policy', 'test', 'none.yaml'],
      ['policy', 'matrix', '--caller', '{"user":"ana"}', '--tool', 'read_*'],
      ['explain', 'profile', 'coding'],
    ])
      expect((await project.json(argv)).code, argv.join(' ')).toBe(0)
    expect(await project.json(['policy', 'explain', 'no_such_tool'])).toMatchObject({
      code: 1,
      value: { type: 'not_found' },
    })
  })

  it('a rule that names an argument which the tool cannot have ends `policy check` with file, line and column', async () => {
    project.write(
      'broken.yaml',
      'version: 1\nworkspace: ws\ntools: { files: true }\npolicy:\n  rules:\n    - deny: read_file\n      where: { pth: x }\n',
    )
    const { code, stderr } = await project.bare(['--config', 'broken.yaml', 'policy', 'check'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/broken\.yaml:\d+:\d+/)
    expect(stderr).toContain('did you mean `path`')
  })

  it('explain profile prints each profile as rules that a configuration takes, and explain effects each tier', async () => {
    for (const profile of ['coding', 'platform', 'strict']) {
      const { code, stdout } = await project.run(['explain', 'profile', profile])
      expect(code).toBe(0)
      project.write(`${profile}.yaml`, `version: 1\n${stdout}`)
      expect((await project.bare(['--config', `${profile}.yaml`, 'policy', 'check'])).code, stdout).toBe(0)
    }
    expect((await project.run(['explain', 'profile'])).stdout).toContain('profile coding')
    const { stdout } = await project.run(['explain', 'effects'])
    for (const tier of [
      'workspace read',
      'network read',
      'workspace write',
      'command',
      'external write',
      'destructive',
    ])
      expect(stdout).toContain(tier)
    expect(stdout).toMatch(/administration[\s\S]*no tool does it/)
  })

  it('help has an example for each', async () => {
    for (const command of ['policy', 'explain', 'approvals', 'grants', 'stop', 'tokens']) {
      const { code, stdout } = await project.bare([command, '--help'])
      expect(code).toBe(0)
      expect(stdout).toMatch(new RegExp(`Examples?:[\\s\\S]*lockgate ${command}`))
    }
  })
})
