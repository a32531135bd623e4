// Whose rules count, and how much. Goal: every file of rules is read where it is there, says whose it is, and stays out of the
// reach of tools; a project that nobody has vouched for only makes the policy stricter.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { environmentOf } from './environment.ts'
import { type ConfigReading, readConfig } from './read-config.ts'
import type { PolicyPlaces } from './read-policy.ts'

let folder = ''
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-policy-')))
  mkdirSync(join(folder, 'ws'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const at = (name: string): string => join(folder, name)
const write = (name: string, text: string): void => writeFileSync(at(name), text)

function read(text = 'version: 1\nworkspace: ws\n', places: PolicyPlaces = {}): ConfigReading {
  write('lockgate.yaml', text)
  return readConfig(at('lockgate.yaml'), environmentOf({ SECRET: 'hidden' }), places)
}

const rulesOf = (reading: ConfigReading) =>
  reading.kind === 'bad'
    ? reading.problems.map(({ file, line, message }) => `${file?.slice(folder.length + 1)}:${line}: ${message}`)
    : (reading.config.policy.rules ?? []).map(({ origin, at: place, ...rule }) => [origin, place?.file, rule])

describe('the machine, the user, the project', () => {
  it('each file is read where it is there, and its rules say whose they are', () => {
    write('system.yaml', 'rules: [{ deny: a }]')
    write('user.yaml', 'rules: [{ allow: b }]')
    write('ws/lockgate.rules.yaml', 'rules: [{ ask: c }]')
    write('more.yaml', 'rules: [{ deny: d }]')
    const text =
      'version: 1\nworkspace: ws\npolicy: { rules: [{ deny: e }], files: [{ file: more.yaml, origin: project }] }'
    expect(rulesOf(read(text, { system: at('system.yaml'), user: at('user.yaml') }))).toEqual([
      ['user', at('lockgate.yaml'), { deny: 'e' }],
      ['project', at('more.yaml'), { deny: 'd' }],
      ['system', at('system.yaml'), { deny: 'a' }],
      ['user', at('user.yaml'), { allow: 'b' }],
      ['project', at('ws/lockgate.rules.yaml'), { ask: 'c' }],
    ])
  })

  it('own-files: none of them can be reached by a tool, also where it is not there yet', () => {
    const places = { system: at('ws/system.yaml'), user: at('ws/user.yaml') }
    const reading = read(undefined, places)
    if (reading.kind === 'bad') throw new Error(JSON.stringify(reading.problems))
    for (const path of [places.system, places.user, at('ws/lockgate.rules.yaml')]) {
      expect(reading.config.ownFiles).toContain(path)
      expect(reading.config.policyPaths).toContain(path)
    }
    expect(reading.config.files.map(({ path }) => path)).toEqual([at('lockgate.yaml')])
  })

  it('closed: a file that is there and cannot be read, or a link to nowhere, is an error and not an absence', () => {
    symlinkSync('nowhere.yaml', at('dangling.yaml'))
    symlinkSync('circle.yaml', at('circle.yaml'))
    for (const name of ['dangling.yaml', 'circle.yaml', 'circle.yaml/policy.yaml'])
      for (const place of ['system', 'user'])
        expect(rulesOf(read(undefined, { [place]: at(name) }))).toEqual([
          expect.stringMatching(new RegExp(`^${name}:undefined: the file cannot be read \\((ENOENT|ELOOP)\\)$`)),
        ])
    symlinkSync('lockgate.rules.yaml', at('ws/lockgate.rules.yaml'))
    expect(read().kind).toBe('bad')
    rmSync(at('ws/lockgate.rules.yaml'))
    expect(read(undefined, { system: at('none/policy.yaml'), user: at('lockgate.yaml/policy.yaml') }).kind).toBe('ok')
  })

  it('L27: one that does not hold makes the whole configuration not hold, with file and line', () => {
    write('system.yaml', 'rules:\n  - denny: a\n')
    expect(rulesOf(read(undefined, { system: at('system.yaml') }))).toEqual([
      expect.stringMatching(/^system\.yaml:2: /),
    ])
  })

  it('a file of the machine that the operator has named has to be there', () => {
    expect(rulesOf(read(undefined, { system: at('gone.yaml'), systemNamed: true }))).toEqual([
      expect.stringContaining('cannot be read (ENOENT)'),
    ])
    expect(read(undefined, { system: at('gone.yaml') }).kind).toBe('ok')
  })
})

describe('a project that nobody has vouched for', () => {
  const LOOSE = 'rules:\n  - deny: a\n  - allow: b\n'

  it('may not allow anything, and the error says so', () => {
    write('ws/lockgate.rules.yaml', LOOSE)
    expect(rulesOf(read())).toEqual([
      expect.stringMatching(/^ws\/lockgate\.rules\.yaml:3: .*not trusted.*lockgate trust/),
    ])
  })

  it('may ask and deny', () => {
    write('ws/lockgate.rules.yaml', 'rules: [{ deny: a }, { ask: b }]')
    expect(read().kind).toBe('ok')
  })

  it('is trusted where the configuration refers to it, or where its very bytes were recorded', () => {
    write('ws/lockgate.rules.yaml', LOOSE)
    const named = read(
      'version: 1\nworkspace: ws\npolicy: { files: [{ file: ws/lockgate.rules.yaml, origin: project }] }',
    )
    expect(rulesOf(named)).toHaveLength(2)
    if (named.kind === 'ok') expect(named.config.files.map(({ path }) => path)).toContain(at('ws/lockgate.rules.yaml'))
    let recorded = ''
    const trusts: PolicyPlaces['trusts'] = ({ digest }) => digest === recorded
    const first = read(undefined, {
      trusts: ({ digest }) => {
        recorded = digest
        return true
      },
    })
    expect(first.kind).toBe('ok')
    if (first.kind === 'ok') expect(first.config.projectFiles).toHaveLength(1)
    expect(read(undefined, { trusts }).kind).toBe('ok')
    write('ws/lockgate.rules.yaml', `${LOOSE}  - allow: c\n`)
    expect(read(undefined, { trusts }).kind).toBe('bad')
  })

  it('a link to rules that were vouched for as another project’s is not trusted; one within the project is', () => {
    const trusts = (): boolean => true
    write('other.yaml', LOOSE)
    symlinkSync(at('other.yaml'), at('ws/lockgate.rules.yaml'))
    expect(JSON.stringify(rulesOf(read(undefined, { trusts })))).toContain('are not trusted')
    rmSync(at('ws/lockgate.rules.yaml'))
    write('ws/own.yaml', LOOSE)
    symlinkSync('own.yaml', at('ws/lockgate.rules.yaml'))
    expect(read(undefined, { trusts }).kind).toBe('ok')
  })

  it('is given no variable of the environment, for reasons are shown to models', () => {
    write('ws/lockgate.rules.yaml', "rules: [{ deny: a, because: '${SECRET}' }]")
    expect(rulesOf(read())).toEqual([expect.stringContaining('`SECRET` is not set')])
    expect(read(undefined, { trusts: () => true }).kind).toBe('ok')
  })
})

describe('profile, groups, steps', () => {
  it('are part of the policy, and what does not hold in them has its place', () => {
    const reading = read(
      'version: 1\nprofile: strict\ngroups: { repo: [git_*] }\nsteps: { look: { effects: [read], groups: [repo] } }\n',
    )
    expect(reading).toMatchObject({
      kind: 'ok',
      config: {
        policy: {
          profile: 'strict',
          groups: { repo: ['git_*'] },
          steps: { look: { effects: ['read'], groups: ['repo'] } },
        },
      },
    })
    expect(rulesOf(read('version: 1\nsteps: { look: { groups: [rpo] } }\ngroups: { repo: [git_*] }\n'))).toEqual([
      expect.stringMatching(/^lockgate\.yaml:2: /),
    ])
  })
})
