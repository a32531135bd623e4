// enforced: the keys that make the policy and the asking, and the files of rules that no key names. Goal: each test here fails
// when its key or file is ignored.

import { rmSync, symlinkSync } from 'node:fs'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { CliProject } from './cli-project.ts'
import { type Served, serve } from './serve-project.ts'

let project: CliProject
const served: Served[] = []
afterEach(async () => {
  for (const one of served.splice(0)) await one.stop()
  project.remove()
})

const FILES = 'version: 1\nworkspace: ws\ntools: { files: true }\n'
const WRITE = { path: 'x.txt', content: 'x' }
const ends = (type: string) => ({ ok: false, error: { type } })

function open(): void {
  project = new CliProject(FILES)
}

async function outcome(
  config: string,
  name: string,
  args: object = {},
  more: readonly string[] = [],
): Promise<unknown> {
  project.write('lockgate.yaml', config)
  return (await project.json(['call', name, JSON.stringify(args), ...more])).value
}

/** Starts serving what stands in the configuration. */
async function start(): Promise<Served> {
  const one = await serve(project)
  served.push(one)
  return one
}

describe('enforced: profile, groups, steps', () => {
  it('`profile` sets the defaults, and `policy.defaults` overrides single ones', async () => {
    open()
    expect(await outcome(FILES, 'list_dir')).toMatchObject({ ok: true })
    expect(await outcome(`${FILES}profile: strict\n`, 'list_dir')).toMatchObject(ends('approval_required'))
    expect(await outcome(`${FILES}profile: platform\n`, 'list_dir')).toMatchObject(ends('not_found'))
    const some = `${FILES}profile: strict\npolicy: { defaults: { read: allow } }\n`
    expect(await outcome(some, 'list_dir')).toMatchObject({ ok: true })
  })

  it('`groups` are what rules speak of', async () => {
    open()
    const config = (name: string) =>
      `${FILES}groups: { looking: [${name}] }\npolicy: { rules: [{ deny: { group: looking } }] }\n`
    expect(await outcome(config('list_*'), 'list_dir')).toMatchObject(ends('permission_denied'))
    expect(await outcome(config('find_*'), 'list_dir')).toMatchObject({ ok: true })
  })

  it('`steps` say what a caller at one may use', async () => {
    open()
    const config = `${FILES}groups: { looking: [list_*] }\nsteps: { look: { effects: [read], groups: [looking] } }\n`
    const at = (step: string) => ['--caller', JSON.stringify({ step })]
    expect(await outcome(config, 'list_dir', {}, at('look'))).toMatchObject({ ok: true })
    expect(await outcome(config, 'read_file', { path: 'hello.txt' }, at('look'))).toMatchObject(
      ends('permission_denied'),
    )
    expect(await outcome(config, 'list_dir', {}, at('lok'))).toMatchObject(ends('permission_denied'))
  })
})

describe('enforced: asking', () => {
  it('`approvals.grant` is how long an answer of wider reach holds', async () => {
    open()
    await outcome(`${FILES}approvals: { grant: 90s }\n`, 'write_file', WRITE)
    const [row] = (await project.json(['approvals', 'list'])).value as { id: string }[]
    expect((await project.run(['approvals', 'approve', row?.id ?? '', '--scope', 'session'])).code).toBe(0)
    const [grant] = (await project.json(['grants', 'list'])).value as { grantedAt: number; expiresAt: number }[]
    expect(grant && grant.expiresAt - grant.grantedAt).toBe(90_000)
  })

  it('`approvals.proof: code` shows a code at the terminal, and nobody answers without it', async () => {
    open()
    project.write('lockgate.yaml', `${FILES}approvals: { proof: code }\n`)
    const asked = await project.run(['call', 'write_file', JSON.stringify(WRITE)], {
      terminal: true,
      input: Object.assign(Readable.from([]), { isTTY: true }),
      variables: { ...project.variables, NO_COLOR: '1' },
    })
    const code = /code (\S+) for (apr_\w+)/.exec(asked.stderr)
    expect(code).not.toBeNull()
    expect(asked.stdout).not.toContain(code?.[1])
    const id = code?.[2] ?? ''
    expect((await project.run(['approvals', 'approve', id])).code).not.toBe(0)
    expect((await project.run(['approvals', 'approve', id, '--code', code?.[1] ?? ''])).code).toBe(0)
    const stdio = await project.run(['serve', '--stdio'])
    expect(stdio).toMatchObject({ code: 2, stderr: expect.stringContaining('approvals.proof: code') })
  })

  it('`limits.repeats` says when a circle is told and when it is refused', async () => {
    open()
    project.write('lockgate.yaml', `${FILES}limits: { repeats: { warn: 2, refuse: 3 } }\n`)
    project.write('calls.json', JSON.stringify(Array.from({ length: 3 }, () => ({ name: 'list_dir', arguments: {} }))))
    const { value } = await project.json(['turn', 'calls.json'])
    expect(value).toMatchObject([
      { ok: true },
      { ok: true, meta: { remark: expect.any(String) } },
      ends('permission_denied'),
    ])
  })

  it('`limits.repeats.pace` says which calls are a program’s and do not count', async () => {
    const config = (pace: string) =>
      `${FILES}server: { listen: "127.0.0.1:0" }\nlimits: { repeats: { warn: 2, refuse: 3, pace: ${pace} } }\n`
    const third = async (pace: string) => {
      project.write('lockgate.yaml', config(pace))
      const served = await start()
      const answers = [await served.call('list_dir'), await served.call('list_dir'), await served.call('list_dir')]
      return answers.at(-1)
    }
    open()
    expect(await third('0s')).toMatchObject(ends('permission_denied'))
    expect(await third('1h')).toMatchObject({ ok: true })
  })
})

describe('enforced: activation', () => {
  const MODULE = `import { defineTool } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}
export const tools = [defineTool({ name: 'own', version: '1.0.0', description: 'Own.', input: { type: 'object' }, effect: 'read', run: () => 'ran' })]\n`
  const config = (activation: string) =>
    `${FILES}sources: { own: { module: ./tools.mjs, activation: ${activation} } }\n`

  it('`roles` and `workspace` say when the tools of a source are there', async () => {
    open()
    project.write('tools.mjs', MODULE)
    expect(await outcome(config('{ roles: [admin] }'), 'own')).toMatchObject(ends('not_found'))
    expect(await outcome(config('{ roles: [admin] }'), 'own', {}, ['--role', 'admin'])).toMatchObject({ ok: true })
    expect(await outcome(config('{ workspace: [.git] }'), 'own')).toMatchObject(ends('not_found'))
    project.write('ws/.git/HEAD', 'ref')
    expect(await outcome(config('{ workspace: [.git] }'), 'own')).toMatchObject({ ok: true })
  })
})

describe('enforced: whose rules', () => {
  const DENY = 'rules:\n  - deny: list_dir\n    because: said elsewhere\n'

  it('the machine’s, the user’s and the project’s files are read where they are there', async () => {
    open()
    const system = { variables: { ...project.variables, LOCKGATE_SYSTEM_POLICY: project.path('system.yaml') } }
    const call = async (options = {}) => (await project.json(['call', 'list_dir', '{}'], options)).value
    expect(await call()).toMatchObject({ ok: true })
    project.write('system.yaml', DENY)
    expect(await call(system)).toMatchObject({ ok: false, error: { help: expect.stringContaining('system.yaml:2') } })
    expect(await call()).toMatchObject({ ok: true })
    for (const name of ['home/.config/lockgate/policy.yaml', 'ws/lockgate.rules.yaml']) {
      project.write(name, DENY)
      expect(await call()).toMatchObject({ ok: false, error: { help: expect.stringContaining(`${name}:2`) } })
      project.write(name, 'rules: []\n')
    }
  })

  it('a project that nobody has vouched for may not allow; `lockgate trust` records its bytes, and one more byte undoes that', async () => {
    open()
    const call = async () => (await project.json(['call', 'write_file', JSON.stringify(WRITE)])).value
    project.write('ws/lockgate.rules.yaml', 'rules:\n  - allow: write_file\n')
    const refused = await project.run(['call', 'write_file', JSON.stringify(WRITE)])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/lockgate\.rules\.yaml:2.*not trusted/) })
    expect((await project.run(['trust'])).stdout).toContain('ws/lockgate.rules.yaml')
    expect(await call()).toMatchObject({ ok: true })
    project.write('ws/lockgate.rules.yaml', 'rules:\n  - allow: write_file\n  - allow: move_file\n')
    expect((await project.run(['tools'])).code).toBe(2)
    project.write('ws/lockgate.rules.yaml', 'rules:\n  - ask: list_dir\n')
    expect((await project.json(['call', 'list_dir', '{}'])).value).toMatchObject(ends('approval_required'))
  })

  it('own-files: no tool can read, write or plant any of them', async () => {
    open()
    project.write('lockgate.yaml', FILES.replace('ws', '.'))
    for (const path of [
      'lockgate.rules.yaml',
      'home/.config/lockgate/policy.yaml',
      'home/.config/lockgate/lockgate.yaml',
    ]) {
      const { value } = await project.json([
        'call',
        'write_file',
        JSON.stringify({ path, content: 'rules: []' }),
        '--yes',
      ])
      expect(value).toMatchObject(ends('unsafe_args'))
    }
    const { value } = await project.json([
      'call',
      'write_file',
      JSON.stringify({ path: 'other.yaml', content: 'x' }),
      '--yes',
    ])
    expect(value).toMatchObject({ ok: true })
  })

  it('`policy.files` says whose rules a file holds', async () => {
    open()
    project.write('more.yaml', DENY)
    project.write('lockgate.yaml', `${FILES}policy: { files: [{ file: more.yaml, origin: system }] }\n`)
    const { value } = await project.json(['policy', 'explain', 'list_dir', '{}'])
    expect(JSON.stringify(value)).toContain('"origin":"system"')
  })
})

describe('enforced: the server', () => {
  it('`server.names` is what clients may call it, and `channels` whether the API takes answers', async () => {
    open()
    project.write('lockgate.yaml', `${FILES}server: { listen: "127.0.0.1:0", names: [gate.example.com] }\n`)
    const { announced } = await start()
    const as = (host: string) =>
      new Promise<number>((resolve, reject) => {
        void import('node:http').then(({ get }) =>
          get(`${new URL(announced.mcp).origin}/livez`, { headers: { host } }, (answer) => {
            answer.resume()
            resolve(answer.statusCode ?? 0)
          }).on('error', reject),
        )
      })
    const { port } = new URL(announced.mcp)
    expect(await as(`gate.example.com:${port}`)).toBe(200)
    expect(await as(`other.example.com:${port}`)).toBe(403)
  })
})

describe('reload while serving', () => {
  // Whoever polls goes in circles, by design.
  const limits = 'limits: { repeats: { warn: 10000, refuse: 20000 } }\n'
  const config = (rules: string) =>
    `${FILES}${limits}server: { listen: "127.0.0.1:0" }\npolicy: { rules: [${rules}] }\n`

  it('rules that change are taken; what does not hold is not, and the last good ones stay', async () => {
    open()
    project.write('lockgate.yaml', config(''))
    const one = await start()
    expect(await one.call('list_dir')).toMatchObject({ ok: true })
    project.write('lockgate.yaml', config('{ deny: list_dir }'))
    await one.until(async () => !(await one.call('list_dir')).ok)
    project.write('lockgate.yaml', config('{ denny: list_dir }'))
    await one.untilSaid(/policy not taken.*last good rules stay/s)
    expect(await one.call('list_dir')).toMatchObject(ends('permission_denied'))
    project.write('ws/lockgate.rules.yaml', 'rules: [{ deny: read_file }]\n')
    project.write('lockgate.yaml', config(''))
    await one.until(async () => (await one.call('list_dir')).ok)
    expect(await one.call('read_file', { path: 'hello.txt' })).toMatchObject(ends('permission_denied'))
  })

  it('a file of rules that becomes a link to itself, or to nowhere, takes nothing down and loosens nothing', async () => {
    open()
    project.write('lockgate.yaml', config(''))
    project.write('ws/lockgate.rules.yaml', 'rules: [{ deny: list_dir }]\n')
    const one = await start()
    for (const [target, why] of [
      ['lockgate.rules.yaml', /cannot be read \(ELOOP\)/],
      ['nowhere.yaml', /cannot be read \(ENOENT\)/],
    ] as const) {
      rmSync(project.path('ws/lockgate.rules.yaml'))
      symlinkSync(target, project.path('ws/lockgate.rules.yaml'))
      one.hangUp()
      await one.untilSaid(why)
      expect(await one.call('list_dir')).toMatchObject(ends('permission_denied'))
    }
    await one.untilSaid(/last good rules stay/)
  })

  it('a signal reads them again at once', async () => {
    open()
    project.write('lockgate.yaml', config(''))
    const one = await start()
    one.hangUp()
    await one.untilSaid(/policy taken: version [0-9a-f]{16}/)
  })

  it('L27: a configuration that was only found is not taken in a form that nobody has vouched for', async () => {
    open()
    project.write('lockgate.yaml', config('{ deny: list_dir }'))
    expect((await project.bare(['trust'])).code).toBe(0)
    const one = await serve(project, { found: true })
    served.push(one)
    project.write('lockgate.yaml', config(''))
    await one.untilSaid(/policy not taken.*not trusted as it stands now/s)
    expect(await one.call('list_dir')).toMatchObject(ends('permission_denied'))
    expect((await project.bare(['trust'])).code).toBe(0)
    await one.until(async () => (await one.call('list_dir')).ok)
  })
})

describe('L23: the self-check', () => {
  it.each(['coding', 'strict', 'platform'])('holds under the profile `%s`', async (profile) => {
    open()
    project.write('lockgate.yaml', `${FILES}profile: ${profile}\nserver: { listen: "127.0.0.1:0" }\n`)
    const { announced } = await start()
    expect(announced.selfCheck.filter(({ held }) => !held)).toEqual([])
    expect(announced.selfCheck.map(({ name }) => name)).toContain('a tool that is not in the view')
  })
})
