// `lockgate call`, `turn` and `approvals`, through a whole gate with the SQLite store: what is refused is a typed outcome and
// exit code 1, what is asked runs once after an answer, and stdout holds one JSON value.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CliProject } from './cli-project.ts'

const CONFIG = `version: 1
workspace: ws
tools: { files: true }
callers: { default: { user: ana, agent: test } }
policy:
  rules:
    - deny: { resource: 'read file:**/.env*' }
      because: keys stay out of the context
    - allow: write_file
      where: { path: 'docs/**' }
    - deny: { effect: [write, destructive] }
      for: { role: viewer }
`

let project: CliProject
beforeAll(() => {
  project = new CliProject(CONFIG)
  project.write('ws/.env', 'KEY=x\n')
})
afterAll(() => project.remove())

const refused = (type: string, more: object = {}) => ({ ok: false, error: { type, effect: 'none', ...more } })

describe('lockgate tools', () => {
  it('said-cut: a description that does not fit on the line ends with a mark', async () => {
    const { stdout } = await project.run(['tools'])
    expect(stdout).toMatch(/^search_text +Search the text files of the workspace.*…$/m)
    expect(stdout).toMatch(/^list_dir .*\.$/m)
  })
})

describe('lockgate call: what is refused', () => {
  it.each([
    ['a path outside the workspace', ['read_file', '{"path":"../outside"}'], 'unsafe_args'],
    ['a file outside that exists', ['read_file', '{"path":"../outside/secret.txt"}'], 'unsafe_args'],
    ['the configuration of the gate', ['read_file', '{"path":"../lockgate.yaml"}'], 'unsafe_args'],
    ['what a rule denies', ['read_file', '{"path":".env"}'], 'permission_denied'],
    ['what the defaults deny', ['delete_file', '{"path":"hello.txt"}'], 'permission_denied'],
    [
      'what a rule denies to this role',
      ['write_file', '{"path":"docs/x.md","content":"x"}', '--role', 'viewer'],
      'permission_denied',
    ],
    [
      'a tool that the task does not allow',
      ['read_file', '{"path":"hello.txt"}', '--caller', '{"task":{"name":"t","allow":[]}}'],
      'permission_denied',
    ],
    ['a tool that does not exist', ['red_file', '{}'], 'not_found'],
    ['a name like a member of every object', ['constructor', '{}'], 'not_found'],
    ['arguments of another shape', ['read_file', '{"path":7}'], 'invalid_args'],
    ['arguments that are cut off', ['read_file', '{"path":"hel'], 'invalid_args'],
    ['a key twice', ['read_file', '{"path":"hello.txt","path":"hello.txt"}'], 'invalid_args'],
    ['arguments that are no object', ['read_file', '[]'], 'invalid_args'],
  ])('%s is a typed refusal with exit code 1 and one JSON value', async (_what, argv, type) => {
    const { code, value } = await project.json(['call', ...argv])
    expect(value).toMatchObject(refused(type))
    expect(code).toBe(1)
  })

  it('and the twins of these pass', async () => {
    const { code, value } = await project.json([
      'call',
      'read_file',
      '{"path":"hello.txt"}',
      '--caller',
      '{"task":{"name":"t","allow":["read_*"]}}',
    ])
    expect(value).toMatchObject({ ok: true, meta: { tool: 'read_file', decision: { kind: 'allow' } } })
    expect(code).toBe(0)
    expect(await project.run(['call', 'write_file', '{"path":"docs/x.md","content":"x"}'])).toMatchObject({ code: 0 })
    expect(project.read('ws/docs/x.md')).toBe('x')
  })

  it('arguments come from standard input with `-`, and default to none', async () => {
    expect(await project.json(['call', 'read_file', '-'], { stdin: '{"path":"hello.txt"}' })).toMatchObject({
      code: 0,
      value: { ok: true },
    })
    expect(await project.json(['call', 'list_dir'])).toMatchObject({ code: 0, value: { ok: true } })
  })

  it('usage errors are exit code 2, with one JSON value where it was asked for', async () => {
    for (const argv of [
      ['call'],
      ['call', 'read_file', '{}', '--caller', '{"root":true}'],
      ['call', 'read_file', '{}', '--caller', '['],
      ['call', 'x', '--bogus'],
    ]) {
      const { code, value } = await project.json(argv)
      expect(code, argv.join(' ')).toBe(2)
      expect(value).toMatchObject({ error: { kind: 'usage' } })
    }
    expect(await project.json(['call', 'list_dir', '{}', '--user', 'a\u200bb'])).toMatchObject({
      code: 2,
      value: { error: { kind: 'configuration' } },
    })
  })
})

describe('lockgate call: what is asked', () => {
  const write = (content: string) => ['call', 'write_file', JSON.stringify({ path: 'notes.txt', content })]

  it('runs once after it was approved, and only as it was shown', async () => {
    const asked = await project.json(write('one'))
    expect(asked).toMatchObject({
      code: 1,
      value: refused('approval_required', {
        details: { approvalId: expect.any(String), shown: expect.stringContaining('notes.txt') },
      }),
    })
    const { approvalId } = (asked.value as { error: { details: { approvalId: string } } }).error.details
    expect(await project.json(['approvals', 'list'])).toMatchObject({
      code: 0,
      value: [{ id: approvalId, state: 'open', tool: 'write_file', user: 'ana' }],
    })
    expect(await project.json(['approvals', 'approve', approvalId, '--comment', 'once'])).toMatchObject({
      code: 0,
      value: { kind: 'answered', approval: { state: 'approved', comment: 'once' } },
    })

    // Another call is not what was approved.
    expect(await project.json(write('two'))).toMatchObject({ code: 1, value: refused('approval_required') })
    expect(await project.json([...write('one'), '--user', 'eve'])).toMatchObject({
      code: 1,
      value: refused('approval_required'),
    })
    expect(await project.json(write('one'))).toMatchObject({ code: 0, value: { ok: true } })
    expect(project.read('ws/notes.txt')).toBe('one')
    expect(await project.json(write('one'))).toMatchObject({ code: 1, value: refused('approval_required') })
    expect(await project.json(['approvals', 'show', approvalId])).toMatchObject({
      code: 0,
      value: { state: 'redeemed', answeredBy: 'operator (command line)' },
    })
  })

  it('does not run after it was declined, and an answer is final', async () => {
    const asked = await project.json(write('no'))
    const { approvalId } = (asked.value as { error: { details: { approvalId: string } } }).error.details
    expect(await project.json(['approvals', 'decline', approvalId])).toMatchObject({
      code: 0,
      value: { kind: 'answered' },
    })
    expect(await project.json(['approvals', 'approve', approvalId])).toMatchObject({
      code: 1,
      value: { kind: 'closed' },
    })
    expect(await project.json([...write('no'), '--approval', approvalId])).toMatchObject({
      code: 1,
      value: refused('approval_declined'),
    })
    expect(project.read('ws/notes.txt')).toBe('one')
  })

  it('`--yes` answers as the person at the terminal, and the answer is recorded', async () => {
    const { code, value } = await project.json([...write('yes'), '--yes'])
    expect(value).toMatchObject({ ok: true })
    expect(code).toBe(0)
    expect(project.read('ws/notes.txt')).toBe('yes')
    const { value: rows } = await project.json(['audit', 'tail', '-n', '10'])
    expect(rows).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          kind: 'approval',
          body: expect.objectContaining({ decision: 'approve', by: 'operator (terminal)' }),
        }),
      ]),
    )
  })

  it('`--yes` opens nothing that is denied', async () => {
    expect(await project.json(['call', 'delete_file', '{"path":"hello.txt"}', '--yes'])).toMatchObject({
      code: 1,
      value: refused('permission_denied'),
    })
    expect(await project.json(['call', 'read_file', '{"path":".env"}', '--yes'])).toMatchObject({
      code: 1,
      value: refused('permission_denied'),
    })
  })

  it('an approval that does not exist cannot be answered', async () => {
    expect(await project.json(['approvals', 'approve', 'apr_none'])).toMatchObject({
      code: 1,
      value: { kind: 'missing' },
    })
    expect(await project.json(['approvals', 'show', '__proto__'])).toMatchObject({ code: 1 })
    expect(await project.json(['approvals', 'approve'])).toMatchObject({ code: 2 })
    expect(await project.json(['approvals', 'aprove', 'x'])).toMatchObject({ code: 2 })
  })
})

describe('lockgate turn', () => {
  const turn = [
    { id: 'a', name: 'read_file', arguments: { path: 'hello.txt' } },
    { id: 'b', name: 'no_such_tool', arguments: {} },
    { id: 'c', name: 'write_file', arguments: { path: 'turn.txt', content: 'c' } },
    { id: 'd', name: 'read_file', arguments: '{"path":"../outside/secret.txt"}' },
  ]

  it('answers one outcome for each call, in the order of the calls', async () => {
    project.write('turn.json', JSON.stringify(turn))
    const { code, value } = await project.json(['turn', 'turn.json'])
    expect(value).toMatchObject([
      { ok: true, meta: { id: 'a' } },
      { ...refused('not_found'), meta: { id: 'b' } },
      { ...refused('approval_required'), meta: { id: 'c' } },
      { ...refused('unsafe_args'), meta: { id: 'd' } },
    ])
    expect(code).toBe(1)
  })

  it('with `--yes` what is asked runs in its place', async () => {
    const { code, value } = await project.json(['turn', '-', '--yes'], {
      stdin: JSON.stringify([turn[0], turn[2], { name: 'read_file', arguments: { path: 'turn.txt' } }]),
    })
    expect(value).toMatchObject([
      { ok: true },
      { ok: true },
      { ok: true, content: [{ text: expect.stringContaining('c') }] },
    ])
    expect(code).toBe(0)
  })

  it.each([
    ['no JSON', '[{'],
    ['no list', '{"name":"x"}'],
    ['an unknown key', '[{"name":"x","args":{}}]'],
    ['a key twice', '[{"name":"read_file","arguments":{"path":"a","path":"b"}}]'],
    ['a name that is no text', '[{"name":1}]'],
  ])('a file with %s is exit code 2, and nothing of it runs', async (_what, text) => {
    expect(await project.json(['turn', '-'], { stdin: text })).toMatchObject({
      code: 2,
      value: { error: { kind: 'usage' } },
    })
    expect(await project.json(['turn', 'gone.json'])).toMatchObject({ code: 2 })
  })
})

describe('what is printed', () => {
  it('is plain in a pipe and with NO_COLOR, and coloured on a terminal only', async () => {
    const argv = ['tools', '--all']
    const colour = /\u001b\[/
    expect((await project.run(argv)).stdout).not.toMatch(colour)
    expect((await project.run(argv, { terminal: true })).stdout).toMatch(colour)
    const { stdout, stderr } = await project.run(argv, {
      terminal: true,
      variables: { ...project.variables, NO_COLOR: '1' },
    })
    expect(stdout + stderr).not.toMatch(colour)
  })

  it('never carries a control character of a file to the terminal', async () => {
    project.write('ws/hostile.txt', 'before\u001b]0;title\u0007\u001b[2Jafter\u202e\n')
    for (const argv of [
      ['call', 'read_file', '{"path":"hostile.txt"}'],
      ['call', 'read_file', '{"path":"hostile.txt"}', '--json'],
      ['call', 'read_file', '{"path":"x\u001b[2J"}'],
    ]) {
      const { stdout, stderr } = await project.run(argv)
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
    }
  })

  it('`tools` lists what the caller sees; `--all` everything, with sources and their states', async () => {
    expect(await project.json(['tools', '--caller', '{"task":{"name":"t","allow":["read_*"]}}'])).toMatchObject({
      code: 0,
      value: [{ name: 'read_artifact' }, { name: 'read_file' }],
    })
    const { value } = await project.json(['tools', '--all'])
    expect(value).toMatchObject({
      tools: expect.arrayContaining([
        expect.objectContaining({
          name: 'delete_file',
          effect: 'destructive',
          layer: 'builtin',
          state: { kind: 'active' },
        }),
      ]),
      sources: [expect.objectContaining({ state: { kind: 'ready' } })],
    })
  })

  it('`explain tool` says whether and why', async () => {
    const readers = '{"task":{"name":"t","allow":["read_*"]}}'
    expect(await project.json(['explain', 'tool', 'write_file', '--caller', readers])).toMatchObject({
      code: 0,
      value: { listed: null, entries: [{ effect: 'write' }], preview: { decision: { kind: 'deny' } } },
    })
    expect(await project.json(['explain', 'tool', 'read_file', '--caller', readers])).toMatchObject({
      code: 0,
      value: { listed: { name: 'read_file' } },
    })
    expect(await project.json(['explain', 'tool', 'nothing'])).toMatchObject({ code: 1, value: { entries: [] } })
    expect(await project.json(['explain', 'nothing'])).toMatchObject({ code: 2 })
  })
})
