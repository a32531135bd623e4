// Which configuration a command takes, and when it takes none: a broken one is exit code 2 with its place, one that was only
// found runs nothing until somebody has vouched for it as it stands, and neither starts anything.

import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CliProject } from './cli-project.ts'

let project: CliProject
afterEach(() => project.remove())

/** A source that leaves a mark as soon as it is started, and is no MCP server. */
const marking = (more = '') => `version: 1
workspace: ws
tools: { files: true }
sources:
  marks: { command: node, args: [mark.cjs] }
${more}`

const started = () => existsSync(project.path('mark'))

function prepare(config: string): void {
  project = new CliProject(config)
  project.write('mark.cjs', "require('node:fs').writeFileSync('mark', 'started')\n")
}

describe('a broken configuration', () => {
  beforeEach(() => prepare(marking('limits: { deadlin: 5s }\n')))

  it.each(
    [
      ['tools'],
      ['serve'],
      ['serve', '--stdio'],
      ['call', 'mcp__marks__x'],
      ['turn', '-'],
      ['approvals', 'list'],
      ['audit', 'verify'],
      ['trust'],
      ['explain', 'tool', 'x'],
    ].map((argv) => ({ argv })),
  )('$argv: exit code 2, file, line, column, key and what was expected; nothing starts', async ({ argv }) => {
    const { code, stdout, stderr } = await project.run(argv, { stdin: '[]' })
    expect(code).toBe(2)
    expect(stderr).toContain(
      `${project.path('lockgate.yaml')}:6:11: \`limits.deadlin\`: this version of Lockgate does not know the key \`deadlin\` here; did you mean \`deadline\`?`,
    )
    expect(stdout).toBe('')
    expect(started()).toBe(false)
    expect(existsSync(project.path('state'))).toBe(false)
  })

  it('with --json stdout is one value that names the place as well', async () => {
    expect(await project.json(['call', 'read_file'])).toMatchObject({
      code: 2,
      value: {
        error: {
          kind: 'configuration',
          problems: [{ file: project.path('lockgate.yaml'), line: 6, column: 11, key: 'limits.deadlin' }],
        },
      },
    })
  })

  it('`doctor` makes a finding of it, with exit code 1', async () => {
    expect(await project.json(['doctor'])).toMatchObject({
      code: 1,
      value: {
        findings: expect.arrayContaining([
          expect.objectContaining({ name: 'configuration', state: 'failed', detail: expect.stringContaining(':6:11') }),
        ]),
      },
    })
    expect(started()).toBe(false)
  })
})

describe('no configuration', () => {
  it('is exit code 2 and names the places that were looked at', async () => {
    prepare('version: 1\n')
    const { code, stderr } = await project.bare(['tools'], { cwd: project.path('home') })
    expect(code).toBe(2)
    expect(stderr).toContain(join(project.path('home'), 'lockgate.yaml'))
    expect(stderr).toContain(join(project.path('home'), '.config', 'lockgate', 'lockgate.yaml'))
  })
})

describe('a configuration that was found in the working directory', () => {
  beforeEach(() => {
    prepare(marking('policy: { files: [rules.yaml] }\n'))
    project.write('rules.yaml', 'rules: []\n')
  })

  it('runs nothing until it is trusted, and every file that it refers to takes the trust away again', async () => {
    for (const argv of [
      ['tools'],
      ['serve'],
      ['call', 'read_file', '{"path":"hello.txt"}'],
      ['approvals', 'list'],
      ['audit', 'verify'],
    ]) {
      const { code, stderr } = await project.bare(argv)
      expect(code, argv.join(' ')).toBe(2)
      expect(stderr).toContain('is not trusted')
    }
    expect(started()).toBe(false)
    expect(await project.bare(['trust'])).toMatchObject({ code: 0, stdout: expect.stringContaining('node mark.cjs') })
    expect(await project.bare(['call', 'read_file', '{"path":"hello.txt"}'])).toMatchObject({ code: 0 })

    const files = {
      'rules.yaml': 'rules: [{ deny: read_file }]\n',
      'mark.cjs': '// another program\n',
      'lockgate.yaml': marking('policy: { files: [rules.yaml] }\n# more\n'),
    }
    for (const [name, text] of Object.entries(files)) {
      const before = project.read(name)
      project.write(name, text)
      const { code, stderr } = await project.bare(['tools'])
      expect(code, name).toBe(2)
      expect(stderr).toContain(`changed: ${project.path(name)}`)
      project.write(name, before)
      expect(await project.bare(['call', 'read_file', '{"path":"hello.txt"}']), name).toMatchObject({ code: 0 })
    }
  })

  it('runs where it is named, by --config or LOCKGATE_CONFIG', async () => {
    expect(await project.run(['call', 'read_file', '{"path":"hello.txt"}'])).toMatchObject({ code: 0 })
    expect(
      await project.bare(['call', 'read_file', '{"path":"hello.txt"}'], {
        variables: { ...project.variables, LOCKGATE_CONFIG: 'lockgate.yaml' },
      }),
    ).toMatchObject({ code: 0 })
    expect(await project.bare(['call', 'read_file', '{"path":"hello.txt"}'])).toMatchObject({ code: 2 })
  })

  it('no tool can write what the trust stands on', async () => {
    const inside = { LOCKGATE_STATE: project.path('ws/state'), HOME: project.path('home') }
    const { code, stderr } = await project.run(['call', 'read_file', '{"path":"hello.txt"}'], { variables: inside })
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('lies inside the workspace') })
    for (const path of ['state/trust.json', 'state']) {
      const { value } = await project.json(
        ['call', 'write_file', JSON.stringify({ path: `${path}/x`, content: '' }), '--yes'],
        { variables: inside },
      )
      expect(value).toMatchObject({ ok: false, error: { type: 'unsafe_args' } })
    }
  })
})

describe('lockgate init', () => {
  beforeEach(() => {
    project = new CliProject('version: 1\n')
    mkdirSync(project.path('fresh'))
  })

  it('writes a configuration that holds and is trusted as it was written', async () => {
    const cwd = project.path('fresh')
    expect(await project.bare(['init'], { cwd })).toMatchObject({ code: 0 })
    project.write('fresh/a.txt', 'a')
    project.write('fresh/.env', 'KEY=x')
    expect(await project.bare(['call', 'read_file', '{"path":"a.txt"}', '--json'], { cwd })).toMatchObject({ code: 0 })
    expect(await project.bare(['call', 'read_file', '{"path":".env"}', '--json'], { cwd })).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('permission_denied'),
    })
    expect(await project.bare(['call', 'read_file', '{"path":"lockgate.yaml"}', '--json'], { cwd })).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('unsafe_args'),
    })
    project.write(
      'fresh/lockgate.yaml',
      project.read('fresh/lockgate.yaml').replace('destructive: deny', 'destructive: allow'),
    )
    expect(await project.bare(['tools'], { cwd })).toMatchObject({ code: 2 })
  })

  it('replaces nothing', async () => {
    expect(await project.bare(['init'])).toMatchObject({ code: 2, stderr: expect.stringContaining('is there already') })
    expect(project.read('lockgate.yaml')).toBe('version: 1\n')
  })
})

describe('state and variables', () => {
  beforeEach(() => {
    project = new CliProject('version: 1\nworkspace: "${ROOT}"\ntools: { files: true }\n')
  })

  it('the state folder is for its owner only, and one that others can write to is refused', async () => {
    project.write('lockgate.yaml', 'version: 1\n')
    expect(await project.run(['audit', 'verify'])).toMatchObject({ code: 0 })
    expect(statSync(project.path('state')).mode & 0o777).toBe(0o700)
    chmodSync(project.path('state'), 0o777)
    expect(await project.run(['audit', 'verify'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('chmod 700'),
    })
  })

  it('a variable comes from the environment, else from --env-file, and from nowhere else', async () => {
    project.write('ws/.env', 'ROOT=ws\n')
    project.write('.env', 'ROOT=ws\n')
    const call = ['call', 'read_file', '{"path":"hello.txt"}', '--json']
    expect(await project.run(call)).toMatchObject({ code: 2, stderr: expect.stringContaining('`ROOT` is not set') })
    expect(await project.run([...call, '--env-file', 'vars.env'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('vars.env'),
    })
    project.write('ws/vars.env', 'ROOT=ws\n')
    expect(await project.run([...call, '--env-file', 'ws/vars.env'])).toMatchObject({ code: 0 })
    expect(await project.run(call, { variables: { ...project.variables, ROOT: 'ws' } })).toMatchObject({ code: 0 })
    expect(
      await project.run(['call', 'read_file', '{"path":"vars.env"}', '--json', '--env-file', 'ws/vars.env']),
    ).toMatchObject({ code: 1, stdout: expect.stringContaining('unsafe_args') })
    expect(
      await project.run(['call', 'read_file', '{"path":"hello.txt"}', '--json', '--env-file', 'ws/vars.env'], {
        variables: { ...project.variables, ROOT: 'outside' },
      }),
    ).toMatchObject({ code: 1 })
  })
})

describe('the command line itself', () => {
  beforeEach(() => {
    project = new CliProject('version: 1\n')
  })

  it('has a version and a help, also for each command and with an example', async () => {
    expect(await project.bare(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    })
    expect(await project.bare(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('Example') })
    expect(await project.bare([])).toMatchObject({ code: 2 })
    for (const name of ['init', 'serve', 'tools', 'call', 'turn', 'approvals', 'audit', 'trust', 'doctor', 'explain']) {
      const { code, stdout } = await project.bare([name, '--help'])
      expect(code, name).toBe(0)
      expect(stdout).toMatch(/Examples?:\n {2}.*lockgate/)
    }
  })

  it('a word that is no command or option is exit code 2', async () => {
    for (const argv of [['clal'], ['call', '--bogus'], ['__proto__'], ['serve', '--listen']]) {
      expect(await project.bare(argv), argv.join(' ')).toMatchObject({ code: 2, stdout: '' })
    }
  })

  it('`doctor` finds nothing to mend where all is well, and a source that does not start otherwise', async () => {
    project.write('lockgate.yaml', 'version: 1\nworkspace: ws\ntools: { files: true }\n')
    const well = await project.json(['doctor'])
    expect(well).toMatchObject({ code: 0 })
    expect(
      (well.value as { findings: { state: string }[] }).findings.filter(({ state }) => state === 'failed'),
    ).toEqual([])
    project.write('lockgate.yaml', 'version: 1\nsources: { gone: { command: ./no-such-program } }\n')
    expect(await project.json(['doctor'])).toMatchObject({
      code: 1,
      value: {
        findings: expect.arrayContaining([
          expect.objectContaining({ name: 'source gone', state: 'failed', mend: expect.any(String) }),
        ]),
      },
    })
  })
})
