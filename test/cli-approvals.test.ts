// Goal: on the command line an answer reaches exactly as far as it says in so many words, is taken back with one command, and
// at a terminal only a whole word is a decision. Method: the real commands over one SQLite file, with streams of the test.

import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CliProject } from './cli-project.ts'

const CONFIG = `version: 1
workspace: ws
tools: { files: true }
approvals: { grant: 2h }
callers: { default: { user: ana, agent: test } }
policy:
  rules:
    - deny: write_file
      where: { path: 'keys/**' }
`

let project: CliProject
beforeEach(() => {
  project = new CliProject(CONFIG)
})
afterEach(() => project.remove())

const write = (path: string, session = 's1'): readonly string[] => [
  ...['call', 'write_file', JSON.stringify({ path, content: 'x' }), '--session', session],
]
const reasonOf = (value: unknown): unknown =>
  (value as { error?: { details?: { reason?: unknown } } }).error?.details?.reason
const idOf = (value: unknown): string =>
  String((value as { error?: { details?: { approvalId?: unknown } } }).error?.details?.approvalId)

async function asked(path: string): Promise<string> {
  const { value } = await project.json(write(path))
  expect(reasonOf(value)).toBe('waiting')
  return idOf(value)
}

describe('lockgate approvals approve --scope', () => {
  it.each([
    ['an unknown reach', ['approve', 'ID', '--scope', 'always'], 2],
    ['a reach of a no', ['decline', 'ID', '--scope', 'session'], 2],
    ['a reach that the rules do not offer', ['approve', 'ID', '--scope', 'pattern'], 1],
  ])('%s is no answer', async (_what, argv, exit) => {
    const id = await asked('a.txt')
    const { code } = await project.json(['approvals', ...argv.map((word) => (word === 'ID' ? id : word))])
    expect(code).toBe(exit)
    expect((await project.json(['approvals', 'show', id])).value).toMatchObject({ state: 'open' })
    expect((await project.json(['grants', 'list'])).value).toEqual([])
  })

  it('without it an answer is for one call', async () => {
    const id = await asked('a.txt')
    await project.run(['approvals', 'approve', id])
    expect((await project.json(write('a.txt'))).code).toBe(0)
    expect(reasonOf((await project.json(write('b.txt'))).value)).toBe('waiting')
  })

  it('a session is answered as shown, denies stay denies, and revoking ends it', async () => {
    const id = await asked('a.txt')
    const shown = await project.run(['approvals', 'show', id])
    expect(shown.stdout).toMatch(
      /--scope session\s+every call of `write_file` .* in this session, for 2 h after the answer/,
    )
    const approved = await project.run(['approvals', 'approve', id, '--scope', 'session'])
    expect(approved.stdout).toContain('every call of `write_file`')
    expect((await project.json(write('b.txt'))).value).toMatchObject({ ok: true, meta: { grant: expect.any(String) } })
    expect((await project.json(write('keys/b.txt'))).value).toMatchObject({ error: { type: 'permission_denied' } })
    expect(reasonOf((await project.json(write('c.txt', 's2'))).value)).toBe('waiting')

    const { value } = await project.json(['grants', 'list'])
    expect(value).toMatchObject([{ approvalId: id, reach: 'session', grantedBy: 'operator (command line)' }])
    const [grant] = value as readonly { id: string; grantedAt: number; expiresAt: number }[]
    expect((grant?.expiresAt ?? 0) - (grant?.grantedAt ?? 0)).toBe(2 * 3_600_000)
    expect((await project.run(['grants', 'list'])).stdout).toContain('holds')
    expect(await project.json(['grants', 'revoke', grant?.id ?? ''])).toMatchObject({
      code: 0,
      value: { revoked: true },
    })
    expect(await project.json(['grants', 'revoke', grant?.id ?? ''])).toMatchObject({
      code: 1,
      value: { revoked: false },
    })
    expect(reasonOf((await project.json(write('d.txt'))).value)).toBe('waiting')
    expect((await project.json(['grants', 'list'])).value).toEqual([])
    expect((await project.json(['grants', 'list', '--all'])).value).toMatchObject([{ revokedBy: expect.any(String) }])
    for (const argv of [
      ['grants', 'revoke'],
      ['grants', 'end', 'x'],
      ['grants', 'list', 'x'],
    ])
      expect((await project.run(argv)).code).toBe(2)
  })
})

describe('lockgate stop', () => {
  it.each([[[]], [['--all', '--list']], [['--tool', '']], [['--all', '--tool', 'write_file']]])(
    'is said in so many words: %j stops nothing',
    async (argv) => {
      expect((await project.run(['stop', ...argv])).code).toBe(2)
      expect((await project.json(['stop', '--list'])).value).toEqual([])
    },
  )

  it('stops what is named for every process until it is lifted', async () => {
    const read = ['call', 'read_file', '{"path":"hello.txt"}']
    const stopped = await project.json(['stop', '--tool', 'read_file', '--reason', 'it reads too much'])
    expect(stopped).toMatchObject({ code: 0, value: { target: { tool: 'read_file' } } })
    expect((await project.json(read)).value).toMatchObject({ error: { type: 'permission_denied' } })
    expect((await project.json(['call', 'list_dir'])).code).toBe(0)
    const listed = await project.run(['stop', '--list'])
    expect(listed.stdout).toContain('tool read_file')
    expect(listed.stdout).toContain('it reads too much')
    const { id } = stopped.value as { id: string }
    expect(await project.json(['stop', '--lift', id])).toMatchObject({ code: 0, value: { lifted: true } })
    expect(await project.json(['stop', '--lift', id])).toMatchObject({ code: 1, value: { lifted: false } })
    expect((await project.json(read)).code).toBe(0)
    await project.run(['stop', '--all'])
    expect((await project.json(read)).value).toMatchObject({ error: { type: 'permission_denied' } })
  })
})

describe('a question at the terminal', () => {
  /** Types each line when the prompt stands for the next time; then the input ends. */
  async function typing(argv: readonly string[], lines: readonly string[]) {
    const input = Object.assign(new PassThrough(), { isTTY: true })
    let prompts = 0
    const onStderr = (text: string): void => {
      const seen = text.split('[decline]? ').length - 1
      for (; prompts < seen; prompts += 1) {
        const line = lines[prompts]
        // A person types after having read.
        setImmediate(() => (line === undefined ? input.end() : input.write(`${line}\n`)))
      }
    }
    return project.run(argv, { input, terminal: true, onStderr })
  }
  const exists = (path: string): boolean => {
    try {
      return project.read(`ws/${path}`) === 'x'
    } catch {
      return false
    }
  }
  const states = async () =>
    ((await project.json(['approvals', 'list', '--all'])).value as readonly { state: string }[]).map(
      ({ state }) => state,
    )

  it.each([['y'], ['yes'], ['Approve all'], ['always'], ['1'], ['\u001b[Z'], ['once session'], ['pattern']])(
    'L09: `%s` is no decision: it asks again, and where nobody goes on nothing runs',
    async (line) => {
      const { code } = await typing(write('a.txt'), [line])
      expect(code).toBe(1)
      expect(exists('a.txt')).toBe(false)
      expect(await states()).toEqual(['open'])
      expect((await project.json(['grants', 'list'])).value).toEqual([])
    },
  )

  it('L09: a comment does not widen an answer, and a wider one is a word of its own', async () => {
    expect((await typing(write('a.txt'), ['approve: for this session please'])).code).toBe(0)
    expect(exists('a.txt')).toBe(true)
    expect((await project.json(['grants', 'list'])).value).toEqual([])
    expect((await typing(write('b.txt'), ['session'])).code).toBe(0)
    expect((await project.json(['grants', 'list'])).value).toMatchObject([{ reach: 'session' }])
    expect((await project.json(write('c.txt'))).code).toBe(0)
  })

  it('an empty line declines, and the outcome says that a person did', async () => {
    const { code, stderr } = await typing(write('a.txt'), [''])
    expect(code).toBe(1)
    expect(stderr).toContain('approval_declined')
    expect(stderr).toContain('path: "a.txt"')
    expect(await states()).toEqual(['declined'])
    expect(reasonOf((await project.json(write('a.txt'))).value)).toBe('person')
  })

  it('in a turn each question is put when its call comes, and a declined one does not stop the others', async () => {
    const turn = ['a.txt', 'b.txt', 'c.txt'].map((path) => ({
      id: path,
      name: 'write_file',
      arguments: { path, content: 'x' },
    }))
    project.write('turn.json', JSON.stringify(turn))
    const { stdout, code } = await typing(['turn', 'turn.json', '--json'], ['approve', 'decline', 'approve'])
    expect(JSON.parse(stdout)).toMatchObject([{ ok: true }, { error: { type: 'approval_declined' } }, { ok: true }])
    expect([code, exists('a.txt'), exists('b.txt'), exists('c.txt')]).toEqual([1, true, false, true])
  })

  it('without a terminal nothing is asked, whatever stands on the input', async () => {
    const { code, stderr } = await project.run(write('a.txt'), { stdin: 'approve\n' })
    expect(code).toBe(1)
    expect(stderr).toMatch(/lockgate .*approvals approve apr_/)
    expect(stderr).not.toContain('[decline]?')
    expect(exists('a.txt')).toBe(false)
  })
})
