// Goal: what a rule or default keeps from a caller cannot be had by another way of asking. Method: each way that was found
// open stands beside the honest call that must still pass.

import { describe, expect, test } from 'vitest'
import type { CheckedInput } from '../describe/call.ts'
import { contractProblems } from '../describe/define-tool.ts'
import type { Entry } from '../describe/entry.ts'
import { ANA, caller, entry, input, policyOf } from './policy.fixture.ts'
import type { PolicyOptions, RuleOptions } from './policy-options.ts'

const resolve = (args: object) => args as never
const MOVE = entry('move_file', { effect: 'write', source: 'files', resolve })
const EDIT = entry('edit_file', { effect: 'write', source: 'files', resolve })

const moving = (from: string, to: string): CheckedInput =>
  input({ from, to }, { touches: [`read file:/ws/${from}`, `write file:/ws/${from}`, `write file:/ws/${to}`] })
const editing = (path: string): CheckedInput =>
  input({ path }, { touches: [`read file:/ws/${path}`, `write file:/ws/${path}`] })

const withSchema = (tool: Entry, ...names: readonly string[]): Entry => ({
  ...tool,
  listing: {
    name: tool.tool.name,
    description: 'does it',
    inputSchema: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  },
})

const decide = (options: PolicyOptions, tool: Entry, given: CheckedInput): string =>
  policyOf(options).decide(ANA, tool, given).kind

describe('what may not be read may not be read by doing more', () => {
  const listed = (read: 'deny' | 'ask'): PolicyOptions => ({
    defaults: { read, write: 'allow' },
    rules: [{ allow: { resource: 'read file:public/**' } }],
  })

  test.each(['deny', 'ask'] as const)('a default of %s for reads holds for a file that is moved or edited', (read) => {
    expect(decide(listed(read), MOVE, moving('secret/a', 'public/a'))).toBe(read)
    expect(decide(listed(read), MOVE, moving('public/a', 'public/b'))).toBe('allow')
    expect(decide(listed(read), EDIT, editing('secret/a'))).toBe(read)
    expect(decide(listed(read), EDIT, editing('public/a'))).toBe('allow')
    expect(decide({ defaults: { read, write: 'allow' } }, EDIT, editing('secret/a'))).toBe(read)
    expect(decide({ defaults: { read, write: 'allow' } }, EDIT, input({}, { touches: ['write file:/ws/a'] }))).toBe(
      'allow',
    )
  })

  test('a folder that is moved has to be readable as a whole', () => {
    expect(decide(listed('deny'), MOVE, moving('public/*', 'x/*'))).toBe('allow')
    expect(decide(listed('deny'), MOVE, moving('secret/*', 'public/*'))).toBe('deny')
    expect(decide(listed('deny'), MOVE, moving('*', 'public/*'))).toBe('deny')
    const may = (resource: string): boolean =>
      policyOf(listed('deny')).mayTouch(ANA, MOVE, resource, moving('public/*', 'x/*'))
    expect(may('read file:/ws/public/a')).toBe(true)
    expect(may('read file:/ws/secret/a')).toBe(false)
  })

  test('a rule about reads by their effect speaks of them as well', () => {
    const rules: readonly RuleOptions[] = [{ deny: { effect: 'read', resource: 'read file:secret/**' } }]
    expect(decide({ defaults: { write: 'allow' }, rules }, MOVE, moving('secret/a', 'public/a'))).toBe('deny')
    expect(decide({ defaults: { write: 'allow' }, rules }, MOVE, moving('src/a', 'secret/a'))).toBe('allow')
  })

  test('a rule that allows writes only is no permission to read; one that names the tool is', () => {
    const closed = (rule: RuleOptions): PolicyOptions => ({ defaults: { read: 'deny', write: 'deny' }, rules: [rule] })
    expect(decide(closed({ allow: { effect: 'write' } }), EDIT, editing('a'))).toBe('deny')
    expect(decide(closed({ allow: ['read_file', 'edit_file'] }), EDIT, editing('a'))).toBe('allow')
    const below = closed({ allow: 'edit_file', where: { path: 'docs/**' } })
    expect(decide(below, EDIT, editing('docs/a'))).toBe('allow')
    expect(decide(below, EDIT, editing('src/a'))).toBe('deny')
  })

  test('reads that are allowed by default change nothing', () => {
    for (const write of ['allow', 'ask', 'deny'] as const)
      expect(decide({ defaults: { write } }, MOVE, moving('secret/a', 'public/a'))).toBe(write)
  })

  test('a read that nobody was asked about is not answered by an allowed write', () => {
    const policy = policyOf({ defaults: { read: 'ask', write: 'allow' } })
    const writing = input({}, { touches: ['write file:/ws/a'] })
    expect(policy.decide(ANA, EDIT, writing).kind).toBe('allow')
    expect(policy.mayTouch(ANA, EDIT, 'read file:/ws/a', writing)).toBe(false)
    expect(policy.mayTouch(ANA, EDIT, 'write file:/ws/a', writing)).toBe(true)
  })

  test('what asks about a read is told beside what asks about the call, so that no grant for the one answers the other', () => {
    const secret: RuleOptions = { ask: { effect: 'read', resource: 'read file:secret/**' } }
    const policy = policyOf({ rules: [secret] })
    expect(policy.askedBy(ANA, MOVE, moving('docs/a', 'docs/b'))).toEqual(['default write'])
    expect(policy.askedBy(ANA, MOVE, moving('secret/a', 'docs/b'))).toEqual(['default write', expect.any(String)])
    const listing = policyOf({
      ...listed('ask'),
      rules: [{ allow: { resource: 'read file:public/**' } }, { ask: 'move_file' }],
    })
    expect(listing.askedBy(ANA, MOVE, moving('public/a', 'x'))).toHaveLength(1)
    const byDefault = policyOf({
      ...listed('ask'),
      rules: [...(listed('ask').rules ?? []), { ask: { effect: 'write' } }],
    })
    expect(byDefault.askedBy(ANA, MOVE, moving('public/a', 'x'))).toEqual([expect.stringMatching(/^rule /)])
    expect(byDefault.askedBy(ANA, MOVE, moving('secret/a', 'x'))).toEqual(['default read', expect.any(String)])
    // Nor is a file that a walking call comes to answered by the question about the call.
    expect(policy.mayTouch(ANA, MOVE, 'read file:/ws/secret/a', moving('docs/*', 'x/*'))).toBe(false)
    expect(policy.mayTouch(ANA, MOVE, 'write file:/ws/docs/a', moving('docs/*', 'x/*'))).toBe(true)
  })

  test('child-within-parent: what asks about somebody else than the one who calls is told as another question', () => {
    const policy = policyOf({})
    const boss = caller({ agent: 'other' })
    const own = policy.askedBy(ANA, EDIT, editing('a'))
    expect(policy.askedBy(caller({ parent: ANA }), EDIT, editing('a'))).toEqual(own)
    expect(policy.askedBy(caller({ parent: caller({ session: 's2' }) }), EDIT, editing('a'))).toEqual(own)
    const helping = policy.askedBy(caller({ parent: boss }), EDIT, editing('a'))
    expect(helping).toEqual(['default write', expect.stringMatching(/^default write for /)])
    expect(policy.askedBy(caller({ parent: caller({ task: { name: 't' } }) }), EDIT, editing('a'))).toHaveLength(2)
    const allowed = policyOf({
      rules: [
        { allow: 'edit_file', for: { agent: 'nobody' } },
        { ask: 'edit_file', for: { agent: 'other' } },
      ],
    })
    expect(allowed.askedBy(caller({ parent: boss }), EDIT, editing('a'))).toHaveLength(2)
  })
})

describe('whole folders', () => {
  const rules: readonly RuleOptions[] = [{ deny: { resource: 'read file:**/.env*' } }]
  const whole = input({}, { effect: 'read', touches: ['read file:/ws/*'] })

  test('only a tool that says it walks is trusted to ask for each file', () => {
    expect(decide({ rules }, entry('pack', { effect: 'read' }), whole)).toBe('deny')
    expect(decide({ rules }, entry('pack', { effect: 'read', walks: false }), whole)).toBe('deny')
    expect(decide({ rules }, entry('pack', { effect: 'read', walks: true }), whole)).toBe('allow')
    expect(decide({ rules }, entry('pack', { effect: 'write', walks: true }), whole)).toBe('deny')
  })

  test('whether a tool walks is said by true or false and nothing else', () => {
    const tool = { name: 'pack', version: '1.0.0', description: 'x', input: {}, effect: 'read', run: () => 1 }
    for (const walks of [undefined, true, false]) expect(contractProblems({ ...tool, walks })).toEqual([])
    for (const walks of ['true', 1, null])
      expect(contractProblems({ ...tool, walks })).toEqual(['`walks` must be true or false'])
  })

  test('a name with a star at its end is one file, and `/.` says so of a star that stands alone', () => {
    const reads = (resource: string, touch: string): string =>
      decide(
        { rules: [{ deny: { resource: `read file:${resource}` } }] },
        entry('read_file', { effect: 'read' }),
        input({}, { effect: 'read', touches: [`read file:/ws/${touch}`] }),
      )
    expect(reads('notes-old', 'notes*')).toBe('allow')
    expect(reads('notes*', 'notes*')).toBe('deny')
    expect(reads('a/secret', 'a/*')).toBe('deny')
    expect(reads('a/secret', 'a/*/.')).toBe('allow')
    expect(reads('a/*', 'a/*/.')).toBe('deny')
    const list = entry('list_dir', { effect: 'read', walks: true, resolve })
    const folder = input({ path: 'e*' }, { effect: 'read', touches: ['read file:/ws/e*/*'] })
    expect(decide({ rules: [{ deny: { resource: 'read file:other/**' } }, ...rules] }, list, folder)).toBe('allow')
  })
})

describe('a condition on `path` of a tool that takes none', () => {
  const rules: readonly RuleOptions[] = [{ deny: '*', where: { path: 'secret/**' } }]
  const open = { defaults: { read: 'allow', write: 'allow' } } as const
  const move = withSchema(MOVE, 'from', 'to')

  test('speaks of each file that it touches, where it narrows', () => {
    expect(decide({ ...open, rules }, move, moving('secret/a', 'b'))).toBe('deny')
    expect(decide({ ...open, rules }, move, moving('a', 'secret/b'))).toBe('deny')
    expect(decide({ ...open, rules }, move, moving('*', 'b/*'))).toBe('deny')
    expect(decide({ ...open, rules }, move, moving('a', 'b'))).toBe('allow')
    const allowed = { defaults: { write: 'deny' }, rules: [{ allow: '*', where: { path: 'docs/**' } }] } as const
    expect(decide(allowed, move, moving('docs/a', 'docs/b'))).toBe('deny')
  })

  test('a tool that takes a path is judged by that', () => {
    const copy = withSchema(entry('copy', { resolve }), 'path', 'from')
    const given = input({ path: 'a' }, { touches: ['write file:/ws/secret/log'] })
    expect(decide({ ...open, rules }, copy, given)).toBe('allow')
    expect(decide({ ...open, rules }, copy, input({ path: 'secret/a' }, { touches: [] }))).toBe('deny')
  })
})

describe('warnings', () => {
  const tools = [withSchema(entry('write_file'), 'path', 'content')]
  const warned = (rule: RuleOptions, known = tools): string =>
    policyOf({ rules: [rule] })
      .warnings(known)
      .join('\n')

  test('a path in no root and a home folder are told', () => {
    expect(warned({ deny: { resource: 'read file:/link/ws/secret/**' } })).toContain('lies in no root')
    expect(warned({ deny: 'write_file', where: { path: '/elsewhere/**' } })).toContain('lies in no root')
    expect(warned({ deny: { resource: ['read file:~/.ssh/**'] } })).toContain('`~`')
    expect(warned({ deny: { resource: ['read files:secret/**'] } })).toContain('did you mean `file`?')
    expect(
      warned({ deny: { resource: ['read file:/ws/a', 'read file:/**/b', 'read file:secret/**', 'x host:/y'] } }),
    ).toBe('')
  })
})

describe('URLs under conditions', () => {
  const fetchTool = entry('mcp__web__fetch', { effect: 'external' })
  const allows = (url: string, pattern = 'https://*.example.com/**'): string =>
    decide(
      { defaults: { external: 'deny' }, rules: [{ allow: 'mcp__web__fetch', where: { url: pattern } }] },
      fetchTool,
      input({ url }, { effect: 'external' }),
    )
  const denies = (url: string): string =>
    decide(
      { defaults: { external: 'allow' }, rules: [{ deny: 'mcp__web__fetch', where: { url: 'https://evil.com/**' } }] },
      fetchTool,
      input({ url }, { effect: 'external' }),
    )

  test.each([
    'https://evil.com#.example.com/x',
    'https://evil.com?.example.com/x',
    'https://evil.com\\.example.com/x',
    'https://evil.com:443#@a.example.com/x',
    'https://user@a.example.com/x',
    'https://evil.com .example.com/x',
    'https://evil.com\n.example.com/x',
    'https://a.example.com/\t/x',
    'https:///.example.com/x',
    'https:evil.com/.example.com/x',
    'https://a.example.com/public/%2e%2E/x',
    'https://a.example.com/public\\..\\x',
  ])('%j is not taken for what its slashes show', (url) => {
    expect(allows(url)).toBe('deny')
    expect(denies(url)).toBe('deny')
  })

  test('a scheme whose slashes are missing has no host that a pattern could name', () => {
    expect(allows('https:evil.com', '**')).toBe('deny')
    expect(allows('mailto:ana@example.com', '**')).toBe('allow')
    expect(allows('note: a@b', '**')).toBe('allow')
  })

  test.each([
    'https://api.example.com/x?q=1#f',
    'https://api.example.com/x?to=a@b.c&u=https://y/',
    'https://api.example.com/%20a',
  ])('%s is an ordinary one', (url) => {
    expect(allows(url)).toBe('allow')
    expect(denies(url)).toBe('allow')
  })

  // biome-ignore format: a list
  test.each([
    'HTTPS://evil.com/x', 'hTTps://Evil.COM/x', 'https://EVIL.com', 'https://evil.com:443/x', 'https://evil.com./x',
    'https://evil.com.:443/x', 'https://%65vil.com/x', 'https://ev%49l.com/x', 'https://\uff45vil.com/x',
    'https://evil\u3002com/x', 'https://e\u00advil.com/x', 'https://evil.com:0443/x', 'https://evil.com:/x',
  ])('%j is another spelling of an address, and is judged as that', (url) => {
    expect(denies(url)).toBe('deny')
    expect(denies(url.replace(/evil|%65vil|ev%49l|.vil|e.vil/iu, 'a'))).toBe('allow')
    expect(allows(url, 'https://evil.com{,/**}')).toBe('allow')
    expect(allows(url)).toBe('deny')
    expect(
      decide(
        { defaults: { external: 'allow' }, rules: [{ deny: '*', when: 'args.url.startsWith("https://evil.com")' }] },
        fetchTool,
        input({ url }, { effect: 'external' }),
      ),
    ).toBe('deny')
  })

  test.each([
    ['http://0x7f.1/x', 'http://0x7f.2/x'],
    ['http://2130706433/x', 'http://2130706434/x'],
    ['http://0177.0.0.1/x', 'http://0177.0.0.2/x'],
    ['HTTP://127.1:80/x', 'HTTP://127.2:80/x'],
  ])('%s is a number in another spelling, %s is another one', (same, other) => {
    const rules = [{ deny: '*', where: { url: 'http://127.0.0.1/**' } }] as const
    const answer = (url: string): string =>
      decide({ defaults: { external: 'allow' }, rules }, fetchTool, input({ url }, { effect: 'external' }))
    expect([answer(same), answer(other)]).toEqual(['deny', 'allow'])
  })

  test.each([
    'HTTPS://evil.com/x',
    'https://EVIL.com:443/x',
    'https:evil.com/x',
    'https://a@evil.com/x',
    'https://evil.com#/x',
  ])('a touch of %s is one of that address, or cannot be judged', (url) => {
    const answer = (rule: RuleOptions, touched: string): string =>
      decide(
        { defaults: { external: 'ask' }, rules: [{ allow: '*', for: { user: 'nobody' } }, rule] },
        fetchTool,
        input({}, { effect: 'external', touches: [`fetch url:${touched}`] }),
      )
    expect(answer({ deny: { resource: 'fetch url:https://evil.com/**' } }, url)).toBe('deny')
    expect(answer({ allow: { resource: 'fetch url:https://*.example.com/**' } }, url)).toBe('ask')
    expect(answer({ deny: { resource: 'fetch url:https://evil.com/**' } }, 'https://a.example.com/x')).toBe('ask')
    expect(answer({ allow: { resource: 'fetch url:https://*.example.com/**' } }, 'https://a.example.com/x')).toBe(
      'allow',
    )
  })

  test('what no reader takes for a host cannot be judged', () => {
    for (const url of ['https://evil.com\uff0f.example.com/x', 'https://a%00.example.com/x', 'https://a:99999/x']) {
      expect([url, allows(url, '**'), denies(url)]).toEqual([url, 'deny', 'deny'])
    }
  })

  test('letter case counts in what is no scheme and no host', () => {
    expect(allows('https://API.example.com/A', 'https://*.example.com/a')).toBe('deny')
    expect(allows('https://API.example.com/A', 'https://*.example.com/A')).toBe('allow')
    expect(allows('S3://Bucket/a', 's3://Bucket/*')).toBe('allow')
    expect(allows('S3://Bucket/a', 's3://bucket/*')).toBe('deny')
  })

  test('a port is a part of the host that a pattern has to name', () => {
    expect(allows('https://api.example.com:8443/a')).toBe('deny')
    expect(allows('https://api.example.com:8443/a', 'https://*.example.com:8443/**')).toBe('allow')
  })
})

describe('admit', () => {
  test('hides what a default always denies, whatever other rules there are', () => {
    const admits = (tool: Entry, rules: readonly RuleOptions[] = []): string =>
      policyOf({ rules }).admit(ANA, tool).kind
    const remove = entry('delete_file', { effect: 'destructive' })
    expect(admits(remove)).toBe('deny')
    expect(admits(remove, [{ deny: 'nosuch' }])).toBe('deny')
    expect(admits(remove, [{ allow: { effect: 'write' } }, { ask: 'delete_file', for: { user: 'bo' } }])).toBe('deny')
    expect(admits(remove, [{ ask: 'delete_file' }])).toBe('admitted')
    expect(admits(remove, [{ allow: 'delete_*', where: { path: 'tmp/**' } }])).toBe('admitted')
    expect(admits(entry('query', { effect: { most: 'destructive', of: () => 'read' } }))).toBe('admitted')
  })
})
