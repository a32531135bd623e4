// enforced: every key of the configuration that says what is shown, kept, taken out and recorded does something. Goal: each test
// here fails when its key is ignored. Method: one call with the key and one without it.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { CliProject } from './cli-project.ts'

const SERVER = JSON.stringify(fileURLToPath(new URL('../src/testing/misbehaving-server.mjs', import.meta.url)))
const FILES = 'version: 1\nworkspace: ws\ntools: { files: true }\n'
const SMALL = 'limits: { result: 1KB }\n'
const LINES = 'a line of text\n'.repeat(400)

let project: CliProject
afterEach(() => project.remove())

type Told = {
  readonly ok: boolean
  readonly value?: unknown
  readonly error?: { readonly type: string }
  readonly content: readonly { readonly text: string }[]
  readonly meta: {
    readonly artifact?: string
    readonly truncated?: { readonly next: string }
    readonly redacted?: string[]
  }
}

function open(): void {
  project = new CliProject(FILES)
  project.write('ws/long.txt', LINES)
  project.write('ws/other.txt', LINES.toUpperCase())
}

async function outcome(config: string, name: string, args: object = {}, more: readonly string[] = []): Promise<Told> {
  project.write('lockgate.yaml', config)
  return (await project.json(['call', name, JSON.stringify(args), ...more])).value as Told
}

const textOf = ({ content }: Told): string => content.map(({ text }) => text).join('\n')

describe('enforced: limits.turn', () => {
  it('bounds what a model reads of all results of a turn', async () => {
    open()
    const calls = ['long.txt', 'other.txt'].map((path) => ({ name: 'read_file', arguments: { path } }))
    project.write('calls.json', JSON.stringify(calls))
    const bytes = async (config: string): Promise<number> => {
      project.write('lockgate.yaml', config)
      const told = (await project.json(['turn', 'calls.json'])).value as Told[]
      expect(told.map(({ ok }) => ok)).toEqual([true, true])
      return told.reduce((sum, one) => sum + Buffer.byteLength(textOf(one)), 0)
    }
    expect(await bytes(FILES)).toBeGreaterThan(8_192)
    expect(await bytes(`${FILES}limits: { turn: 4KB }\n`)).toBeLessThanOrEqual(4_096)
  })
})

describe('enforced: artifacts', () => {
  const kept = async (more = ''): Promise<string | undefined> =>
    (await outcome(FILES + SMALL + more, 'read_file', { path: 'long.txt' })).meta.artifact
  const found = async (id: string | undefined, more = ''): Promise<boolean> =>
    (await outcome(FILES + more, 'read_artifact', { id })).ok

  it('`false`: nothing is kept, and there is no tool to read it', async () => {
    open()
    expect(await kept()).toMatch(/^art_/)
    expect(await kept('artifacts: false\n')).toBeUndefined()
    const names = async (): Promise<readonly string[]> =>
      ((await project.json(['tools'])).value as { name: string }[]).map(({ name }) => name)
    expect(await names()).not.toContain('read_artifact')
    project.write('lockgate.yaml', FILES)
    expect(await names()).toContain('read_artifact')
  })

  it('`keep` is how long', async () => {
    open()
    const id = await kept('artifacts: { keep: 1s }\n')
    await vi.waitFor(async () => expect(await found(id)).toBe(false), { timeout: 15_000, interval: 300 })
    const stays = await kept('artifacts: { keep: 1h }\n')
    expect(await found(stays)).toBe(true)
  }, 30_000)

  it('`each` bounds a single one', async () => {
    open()
    expect(await kept('artifacts: { each: 2KB }\n')).toBeUndefined()
    expect(await kept('artifacts: { each: 16KB }\n')).toMatch(/^art_/)
  })

  it('`perCaller` and `total` bound what there is together; the oldest go first', async () => {
    open()
    for (const bound of ['perCaller: 8KB, each: 8KB', 'total: 8KB, perCaller: 8KB, each: 8KB']) {
      const more = `artifacts: { ${bound} }\n`
      const first = await kept(more)
      expect(await found(first, more)).toBe(true)
      const second = (await outcome(FILES + SMALL + more, 'read_file', { path: 'other.txt' })).meta.artifact
      expect(await found(second, more)).toBe(true)
      expect(await found(first, more)).toBe(false)
    }
  })
})

describe('enforced: redaction', () => {
  const TEXT = JSON.stringify({ pin_code: 'four dwarfs', badge: 'B-123456', password: 'correct horse' })
  const read = async (more: string): Promise<string> => {
    project.write('ws/config.json', TEXT)
    return textOf(await outcome(FILES + more, 'read_file', { path: 'config.json' }))
  }

  it('`keys` and `patterns` take out more than the shipped rules do', async () => {
    open()
    const plain = await read('')
    for (const text of ['four dwarfs', 'B-123456']) expect(plain).toContain(text)
    const cleaned = await read("redaction: { keys: [pin_code], patterns: { badge: 'B-([0-9]{6})' } }\n")
    expect(cleaned).not.toContain('four dwarfs')
    expect(cleaned).toContain('B-[redacted:badge]')
  })

  it('`off` and `on` choose among the shipped rules', async () => {
    open()
    const shown = async (text: string, more: string): Promise<string> => {
      project.write('ws/notes.txt', `see ${text} here\n`)
      return textOf(await outcome(FILES + more, 'read_file', { path: 'notes.txt' }))
    }
    const usual = `ghp_${'Ab3'.repeat(12)}`
    expect(await shown(usual, '')).toContain('[redacted:github-token]')
    expect(await shown(usual, 'redaction: { off: [github-token] }\n')).toContain(usual)
    const rare = `SK${'0a'.repeat(16)}`
    expect(await shown(rare, '')).toContain(rare)
    expect(await shown(rare, 'redaction: { on: [twilio-key] }\n')).toContain('[redacted:twilio-key]')
    expect(await shown(rare, 'redaction: { on: all }\n')).toContain('[redacted:twilio-key]')
  })
})

describe('enforced: audit', () => {
  const checkpoints = async (): Promise<number> => {
    const rows = (await project.json(['audit', 'tail', '-n', '200', '--kind', 'checkpoint'])).value as {
      kind: string
    }[]
    return rows.filter(({ kind }) => kind === 'checkpoint').length
  }
  const turnOf = async (more: string): Promise<number> => {
    open()
    // Each of them waits until its intent is on disk, so that there is time for checkpoints in between.
    const calls = Array.from({ length: 12 }, (_, index) => ({
      name: 'write_file',
      arguments: { path: 'written.txt', content: `${index}` },
    }))
    project.write('calls.json', JSON.stringify(calls))
    project.write('lockgate.yaml', `${FILES}policy: { defaults: { write: allow } }\n${more}`)
    await project.run(['turn', 'calls.json'])
    return checkpoints()
  }

  it('`checkpointEvery`: so many rows, and there is another one', async () => {
    const few = await turnOf('')
    project.remove()
    expect(await turnOf('audit: { checkpointEvery: 3 }\n')).toBeGreaterThan(few)
  })

  it('`checkpointAfter`: a row waits no longer for one', async () => {
    const slowly = async (more: string): Promise<number> => {
      open()
      const config = `version: 1\nsources: { slow: { command: node, args: [${SERVER}], effects: { '*': write } } }\npolicy: { defaults: { write: allow } }\n${more}`
      expect(await outcome(config, 'mcp__slow__slow', { ms: 800 })).toMatchObject({ ok: true })
      return checkpoints()
    }
    const few = await slowly('')
    project.remove()
    expect(await slowly('audit: { checkpointAfter: 50ms }\n')).toBeGreaterThan(few)
  })

  it('`checkpointTo`: copies go there', async () => {
    open()
    project.write('kept/readme', '')
    const signature = /^— lockgate\/\S+ [A-Za-z0-9+/=]{20,}$/m
    const told = vi.spyOn(process.stderr, 'write').mockImplementation((_text, ...rest: unknown[]) => {
      for (const done of rest) if (typeof done === 'function') done()
      return true
    })
    const written = async (config: string): Promise<string> => {
      told.mockClear()
      await outcome(config, 'list_dir')
      return told.mock.calls.map(([text]) => String(text)).join('')
    }
    try {
      expect(await written(FILES)).not.toContain('"kind":"checkpoint"')
      expect(existsSync(project.path('kept/notes'))).toBe(false)
      expect(await written(`${FILES}audit: { checkpointTo: [stderr, kept/notes] }\n`)).toContain('"kind":"checkpoint"')
      expect(readFileSync(project.path('kept/notes'), 'utf8')).toMatch(signature)
    } finally {
      told.mockRestore()
    }
  })

  it('`signingKey`: the key is made there, for its owner only', async () => {
    open()
    project.write('kept/readme', '')
    await outcome(`${FILES}audit: { signingKey: kept/key.pem }\n`, 'list_dir')
    expect(readFileSync(project.path('kept/key.pem'), 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----/)
    expect(statSync(project.path('kept/key.pem')).mode & 0o077).toBe(0)
    expect(await outcome(FILES, 'read_file', { path: '../kept/key.pem' })).toMatchObject({ ok: false })
  })

  it('`seal`: what is personal stands in the database only where it is off', async () => {
    const written = async (more: string): Promise<string> => {
      open()
      await outcome(FILES + more, 'read_file', { path: 'hello.txt' }, ['--user', 'someone-in-particular'])
      const folder = project.path('state')
      return readdirSync(folder, { recursive: true })
        .map(String)
        .filter((name) => /\.db(-wal)?$/.test(name))
        .map((name) => readFileSync(join(folder, name), 'latin1'))
        .join('')
    }
    const open1 = await written('audit: { seal: false }\n')
    expect(open1).toContain('"user":"someone-in-particular"')
    project.remove()
    expect(await written('')).not.toContain('"user":"someone-in-particular"')
  })

  it('`key`: another one opens nothing that was sealed with the first', async () => {
    open()
    const keyed = (fill: number): string => `audit: { key: "${Buffer.alloc(32, fill).toString('base64')}" }\n`
    const told = async (more: string): Promise<string> => {
      project.write('lockgate.yaml', FILES + more)
      return (await project.run(['audit', 'tail', '-n', '50', '--json'])).stdout
    }
    await outcome(FILES + keyed(1), 'read_file', { path: 'hello.txt' })
    expect(await told(keyed(1))).toContain('hello.txt')
    expect(await told(keyed(2))).not.toContain('hello.txt')
    expect(await told('')).not.toContain('hello.txt')
  })

  it('`keep`: what is older is dropped', async () => {
    open()
    const first = await outcome(`${FILES}audit: { keep: 1s }\n`, 'read_file', { path: 'hello.txt' })
    expect(first.ok).toBe(true)
    const left = async (more: string): Promise<boolean> => {
      await outcome(FILES + more, 'list_dir')
      const { stdout } = await project.run(['audit', 'tail', '-n', '1000', '--json'])
      return stdout.includes('"read_file"')
    }
    expect(await left('')).toBe(true)
    await vi.waitFor(async () => expect(await left('audit: { keep: 1s }\n')).toBe(false), {
      timeout: 15_000,
      interval: 300,
    })
  }, 30_000)

  it('nothing is made beside a store in memory', async () => {
    open()
    expect(await outcome(`${FILES}store: memory\n`, 'list_dir')).toMatchObject({ ok: true })
    expect(existsSync(project.path('state'))).toBe(true)
    const names = readdirSync(project.path('state'), { recursive: true }).map(String)
    expect(names.filter((name) => /\.(db|pem)/.test(name))).toEqual([])
  })
})
