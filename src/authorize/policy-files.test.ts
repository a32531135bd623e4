// Goal: a rule about files holds for every tool, every spelling of the pattern and every way of touching, whole folders
// included; a walking tool shows what the rules let it show, and no less. Method: patterns against touches in tables, each
// hit beside a near miss; then walks file by file against the rules of the call as a whole.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CheckedInput } from '../describe/call.ts'
import type { Entry } from '../describe/entry.ts'
import { ANA, caller, entry, input, policyOf } from './policy.fixture.ts'
import type { PolicyOptions, RuleOptions } from './policy-options.ts'

const resolve = (args: object) => args as never
const READ = entry('read_file', { effect: 'read', source: 'files', resolve })
const SEARCH = entry('search_text', { effect: 'read', source: 'files', resolve, walks: true })
const WRITE = entry('write_file', { effect: 'write', source: 'files', resolve })
const MOVE = entry('move_file', { effect: 'write', source: 'files', resolve })

const reading = (path: string): CheckedInput => input({ path }, { effect: 'read', touches: [`read file:/ws/${path}`] })
const _writing = (path: string): CheckedInput => input({ path }, { touches: [`write file:/ws/${path}`] })
const walking = (path: string): CheckedInput =>
  input({ path }, { effect: 'read', touches: [path === '.' ? 'read file:/ws/*' : `read file:/ws/${path}/*`] })

const decide = (
  rules: readonly RuleOptions[],
  tool: Entry,
  given: CheckedInput,
  roots?: ReadonlyMap<string, string>,
): string => policyOf({ rules }, roots === undefined ? {} : { roots }).decide(ANA, tool, given).kind

const denies = (
  resource: string | readonly string[],
  touches: unknown,
  tool: Entry = READ,
  effect: 'read' | 'write' = 'read',
): boolean => decide([{ deny: { resource } }], tool, input({}, { effect, touches })) === 'deny'

describe('a deny on a resource', () => {
  test.each<[pattern: string, touch: string, hit: boolean]>([
    ['read file:**/.env*', 'read file:/ws/.env', true],
    ['read file:**/.env*', 'read file:/ws/a/b/.env.local', true],
    ['read file:**/.env*', 'read file:/ws/a/x.env', false],
    ['read file:**/.env*', 'write file:/ws/.env', false],
    ['* file:**/.env*', 'write file:/ws/.env', true],
    ['write file:docs/**', 'write file:/ws/docs/a', true],
    ['write file:docs/**', 'write file:/ws/docs', true],
    ['write file:docs/**', 'write file:/ws/docs2/a', false],
    ['write file:docs/**', 'write file:/ws/src/docs/a', false],
    ['write file:docs/**', 'write file:/other/docs/a', false],
    ['write file:/ws/docs/**', 'write file:/ws/docs/a', true],
    ['write file:/ws/docs/**', 'write file:/ws/a', false],
    ['write file:/docs/**', 'write file:/ws/docs/a', false],
    ['read file:/etc/**', 'read file:/etc/passwd', true],
    ['read file:**/passwd', 'read file:/etc/passwd', true],
    ['read file:**', 'read file:/etc/passwd', true],
    ['read file:*', 'read file:/ws/a', true],
    ['read file:*', 'read file:/ws/a/b', false],
    ['read file:ws/**', 'read file:/ws/a', false],
    ['read file:.', 'read file:/ws', true],
    ['read file:.', 'read file:/ws/a', false],
    ['read file:.*', 'read file:/ws', false],
    ['read file:A', 'read file:/ws/a', false],
    ['read file:{docs,src}{,/**}', 'read file:/ws/src/x', true],
    ['connect host:*.example.com', 'connect host:api.example.com', true],
    ['connect host:*.example.com', 'connect host:example.com', false],
    ['connect host:*.example.com', 'connect file:api.example.com', false],
    ['write repo:acme/*', 'write repo:acme/web', true],
    ['write repo:acme/*', 'write repo:other/web', false],
    ['write repo:acme/*', 'write repo:*', true],
    ['write repo:acme/*', 'write repo:acme/*', true],
    ['write repo:acme/*', 'write repo:other/*', false],
    ['write item:7', 'write item:7', true],
    ['write item:7', 'write item:70', false],
  ])('%s against %s: %s', (pattern, touch, hit) => {
    const effect = touch.startsWith('read') ? 'read' : 'write'
    expect(denies(pattern, [touch], entry('t', { effect }), effect)).toBe(hit)
    expect(denies(['read none:x', pattern], ['connect none:y', touch], entry('t', { effect }), effect)).toBe(hit)
  })

  test('holds for every tool that declares touching it, and says nothing about one that declares nothing', () => {
    for (const tool of [READ, SEARCH, entry('mcp__x__read', { effect: 'read', source: 'x' })])
      expect(denies('read file:**/.env*', ['read file:/ws/.env'], tool)).toBe(true)
    expect(denies('read file:**', undefined)).toBe(false)
  })

  test('L17: a tool that fails to say what it touches gets the stricter side of every rule', () => {
    for (const touches of ['nothing', [7], ['read'], ['read /ws/a'], null, ['READ file:/x']]) {
      expect(denies('read file:some/thing', touches)).toBe(true)
      expect(decide([{ ask: { resource: 'read x:y' } }], READ, input({}, { effect: 'read', touches }))).toBe('ask')
      const policy = policyOf({ defaults: { read: 'deny' }, rules: [{ allow: { resource: '* file:**' } }] })
      expect(policy.decide(ANA, READ, input({}, { effect: 'read', touches })).kind).toBe('deny')
    }
    expect(denies([], 'nothing')).toBe(false)
    expect(denies('read file:some/thing', [])).toBe(false)
  })

  test('a touch whose meaning its letters do not tell counts as the stricter side', () => {
    for (const path of ['/ws/docs/../.env', '/ws/./a', '/ws//a', '../a', '/ws/a/', 'docs/..', './a']) {
      expect(denies('read file:secret/**', [`read file:${path}`])).toBe(true)
      expect(denies('write file:secret/**', [`read file:${path}`])).toBe(false)
      const policy = policyOf({ defaults: { read: 'deny' }, rules: [{ allow: { resource: 'read file:**' } }] })
      expect(policy.decide(ANA, READ, input({}, { effect: 'read', touches: [`read file:${path}`] })).kind).toBe('deny')
    }
    for (const path of ['/ws/..a', '/ws/.a', '/ws/a..', '/ws/...', '/'])
      expect(denies('read file:secret/**', [`read file:${path}`])).toBe(false)
  })

  test('a relative touch is a file in some root', () => {
    expect(denies('read file:docs/**', ['read file:docs/a'])).toBe(true)
    expect(denies('read file:/ws/docs/**', ['read file:docs/a'])).toBe(true)
    expect(denies('read file:/ws/docs/**', ['read file:src/a'])).toBe(false)
  })
})

describe('several roots', () => {
  const roots = new Map([
    ['main', '/ws'],
    ['inner', '/ws/docs'],
    ['other', '/data'],
  ])

  test('a relative pattern counts from each root', () => {
    expect(
      decide(
        [{ deny: { resource: 'read file:a/**' } }],
        READ,
        input({}, { effect: 'read', touches: ['read file:/data/a/x'] }),
        roots,
      ),
    ).toBe('deny')
    expect(
      decide(
        [{ deny: { resource: 'read file:a/**' } }],
        READ,
        input({}, { effect: 'read', touches: ['read file:/ws/docs/a/x'] }),
        roots,
      ),
    ).toBe('deny')
    expect(
      decide(
        [{ deny: { resource: 'read file:a/**' } }],
        READ,
        input({}, { effect: 'read', touches: ['read file:/data/b/x'] }),
        roots,
      ),
    ).toBe('allow')
  })

  test('an allow has to hold from every root that holds the file', () => {
    const options = (resource: string): PolicyOptions => ({
      defaults: { read: 'deny' },
      rules: [{ allow: { resource } }],
    })
    const inner = input({}, { effect: 'read', touches: ['read file:/ws/docs/a'] })
    expect(policyOf(options('read file:a'), { roots }).decide(ANA, READ, inner).kind).toBe('deny')
    expect(policyOf(options('read file:docs/a'), { roots }).decide(ANA, READ, inner).kind).toBe('deny')
    expect(policyOf(options('read file:**/a'), { roots }).decide(ANA, READ, inner).kind).toBe('allow')
  })

  test('the whole file system as a root', () => {
    const rules = [{ deny: { resource: 'read file:etc/**' } }]
    expect(
      decide(rules, READ, input({}, { effect: 'read', touches: ['read file:/etc/passwd'] }), new Map([['all', '/']])),
    ).toBe('deny')
    expect(
      decide(rules, READ, input({}, { effect: 'read', touches: ['read file:/usr/x'] }), new Map([['all', '/']])),
    ).toBe('allow')
  })
})

describe('an allow on a resource holds only where it covers each touch', () => {
  const allows = (resource: string | readonly string[], touches: unknown): boolean =>
    policyOf({ defaults: { write: 'deny' }, rules: [{ allow: { resource } }] }).decide(
      ANA,
      WRITE,
      input({}, { touches }),
    ).kind === 'allow'

  test.each<[resource: string | readonly string[], touches: unknown, hit: boolean]>([
    ['write file:docs/**', ['write file:/ws/docs/a'], true],
    ['write file:docs/**', ['write file:/ws/docs/a', 'write file:/ws/src/a'], false],
    ['write file:docs/**', ['write file:/ws/docs/a', 'read file:/ws/docs/a'], false],
    ['* file:docs/**', ['write file:/ws/docs/a', 'read file:/ws/docs/a'], true],
    [['write file:docs/**', 'read file:**'], ['write file:/ws/docs/a', 'read file:/ws/x'], true],
    ['write file:docs/**', [], false],
    ['write file:docs/**', undefined, false],
    ['write file:docs/**', ['write file:/ws/docs/*'], true],
    ['write file:docs/**', ['write file:/ws/docs/sub/*'], true],
    ['write file:docs/*', ['write file:/ws/docs/*'], false],
    ['write file:docs/**', ['write file:/ws/*'], false],
    ['write file:**', ['write file:/ws/*'], true],
    ['write file:docs/**', ['write file:/ws/docs*'], false],
    ['write repo:*', ['write repo:*'], true],
    ['write repo:acme/*', ['write repo:*'], false],
  ])('%j over %j: %s', (resource, touches, hit) => {
    expect(allows(resource, touches)).toBe(hit)
  })
})

describe('whole folders', () => {
  test.each<[pattern: string, folder: string, walk: boolean, change: boolean]>([
    ['file:**/.env*', '/ws/*', false, true],
    ['file:secret/**', '/ws/*', false, true],
    ['file:secret/**', '/ws/secret/*', true, true],
    ['file:secret/**', '/ws/secret/sub/*', true, true],
    ['file:secret/**', '/ws/src/*', false, false],
    ['file:secret', '/ws/secret/*', true, true],
    ['file:secret/*', '/ws/secret/*', false, true],
    ['file:secret/*', '/ws/secret/sub/*', true, true],
    ['file:secret/*', '/ws/secret/sub/x/*', false, false],
    ['file:**', '/ws/*', true, true],
    ['file:*', '/ws/*', false, true],
    ['file:.*', '/ws/*', false, true],
    ['file:.', '/ws/*', true, true],
    ['file:/ws/**', '/ws/*', true, true],
    ['file:/ws/secret/**', '/ws/*', false, true],
    ['file:secret/**', '/*', false, true],
    ['file:secret/**', '/other/*', false, false],
    ['file:/etc/**', '/*', false, true],
    ['file:a/b/c', '/ws/a/*', false, true],
    ['file:a/b/c', '/ws/a/x/*', false, false],
  ])('%s: a walk of %s is denied %s, a change of it %s', (pattern, folder, walk, change) => {
    expect(denies(`read ${pattern}`, [`read file:${folder}`], SEARCH)).toBe(walk)
    expect(denies(`write ${pattern}`, [`write file:${folder}`], MOVE, 'write')).toBe(change)
    // What a change would carry along unread counts as well: nobody filters it.
    expect(denies(`read ${pattern}`, [`read file:${folder}`, 'write file:/ws/to/x'], MOVE, 'write')).toBe(change)
  })

  test('a tool that only sometimes reads is not trusted to filter', () => {
    const sometimes = entry('t', { effect: { most: 'write', of: () => 'read' } })
    expect(denies('read file:**/.env*', ['read file:/ws/*'], sometimes)).toBe(true)
    expect(denies('connect host:a', ['connect host:*'], entry('t', { effect: 'read' }))).toBe(true)
  })

  test('a file that is really called `*` is not taken for a folder that is walked', () => {
    const rules = [{ deny: { resource: 'read file:keys/*' } }]
    expect(decide(rules, READ, reading('keys/*'))).toBe('deny')
    expect(decide(rules, READ, reading('keys/sub/x'))).toBe('allow')
  })

  test('a condition on an argument reaches what is below a folder that is moved', () => {
    const rules = [{ deny: 'move_file', where: { from: 'a/secret/**' } }]
    const moving = (from: string, whole: boolean): CheckedInput => {
      const end = whole ? '/*' : ''
      return input(
        { from, to: 'x' },
        { touches: [`read file:/ws/${from}${end}`, `write file:/ws/${from}${end}`, `write file:/ws/x${end}`] },
      )
    }
    expect(decide(rules, MOVE, moving('a', true))).toBe('deny')
    expect(decide(rules, MOVE, moving('a/secret', true))).toBe('deny')
    expect(decide(rules, MOVE, moving('a/public', true))).toBe('ask')
    expect(decide(rules, MOVE, moving('a', false))).toBe('ask')
  })
})

describe('conditions on arguments', () => {
  const holds = (
    where: RuleOptions['where'],
    args: Parameters<typeof input>[0],
    tool: Entry = WRITE,
  ): { deny: boolean; allow: boolean } => {
    const conditions = where === undefined ? {} : { where }
    const denied = policyOf({ defaults: { write: 'allow' }, rules: [{ deny: tool.tool.name, ...conditions }] })
    const allowed = policyOf({ defaults: { write: 'deny' }, rules: [{ allow: tool.tool.name, ...conditions }] })
    return {
      deny: denied.decide(ANA, tool, input(args)).kind === 'deny',
      allow: allowed.decide(ANA, tool, input(args)).kind === 'allow',
    }
  }
  const BOTH = { deny: true, allow: true }
  const NEITHER = { deny: false, allow: false }
  const STRICT = { deny: true, allow: false }

  test.each<[where: NonNullable<RuleOptions['where']>, args: Parameters<typeof input>[0], expected: object]>([
    [{ path: 'docs/**' }, { path: 'docs/a' }, BOTH],
    [{ path: 'docs/**' }, { path: 'src/a' }, NEITHER],
    [{ path: ['src/**', 'docs/**'] }, { path: 'docs/a' }, BOTH],
    [{ path: 'docs/**', mode: 'fast' }, { path: 'docs/a', mode: 'slow' }, NEITHER],
    [{ path: 'docs/**', mode: 'fast' }, { path: 'docs/a', mode: 'fast' }, BOTH],
    [{ path: 'docs/**', mode: 'fast' }, { path: 'docs/a' }, NEITHER],
    [{ title: 'a*' }, {}, NEITHER],
    [{ path: '.' }, {}, BOTH],
    [{ path: '**' }, {}, BOTH],
    [{ path: 'docs/**' }, {}, NEITHER],
    [{ count: 5 }, { count: 5 }, BOTH],
    [{ count: 5 }, { count: '5' }, BOTH],
    [{ count: 5 }, { count: 50 }, NEITHER],
    [{ count: '5*' }, { count: 50 }, BOTH],
    [{ all: true }, { all: true }, BOTH],
    [{ all: true }, { all: false }, NEITHER],
    [{ none: 'null' }, { none: null }, BOTH],
    [{ tags: 'a*' }, { tags: ['ab', 'ac'] }, BOTH],
    [{ tags: 'a*' }, { tags: ['ab', 'b'] }, STRICT],
    [{ tags: 'a*' }, { tags: ['b'] }, NEITHER],
    [{ tags: 'a*' }, { tags: [] }, NEITHER],
    [{ tags: 'a*' }, { tags: [['ab'], ['ac']] }, BOTH],
    [{ tags: 'a*' }, { tags: [['ab'], ['x']] }, STRICT],
    [{ author: 'ana' }, { author: { name: 'ana' } }, STRICT],
    [{ 'author.name': 'ana' }, { author: { name: 'ana' } }, BOTH],
    [{ 'author.name': 'ana' }, { author: { name: 'bo' } }, NEITHER],
    [{ 'author.name': 'ana' }, { author: 'ana' }, NEITHER],
    [{ 'author.name': 'ana' }, { 'author.name': 'ana' }, BOTH],
    [{ 'author.name': 'ana' }, { 'author.name': 'ana', author: { name: 'bo' } }, STRICT],
    [{ 'author.name': 'ana' }, { 'author.name': 'bo', author: { name: 'ana' } }, STRICT],
    [{ 'items.path': 'docs/**' }, { items: [{ path: 'docs/a' }, { path: 'docs/b' }] }, BOTH],
    [{ 'items.path': 'docs/**' }, { items: [{ path: 'docs/a' }, { path: 'src/b' }] }, STRICT],
    [{ 'items.path': 'docs/**' }, { items: [{ path: 'docs/a' }, {}] }, STRICT],
    [{ 'items.path': 'docs/**' }, { items: [] }, NEITHER],
    [{ path: [] }, { path: 'docs/a' }, NEITHER],
    [{ path: [] }, { path: { odd: 1 } }, NEITHER],
    [{ path: '/ws/docs/**' }, { path: 'docs/a' }, BOTH],
    [{ path: '/ws/docs/**' }, { path: 'src/a' }, NEITHER],
    [{ path: 'docs/**' }, { path: '/ws/docs/a' }, BOTH],
    [{ path: 'docs/**' }, { path: '/other/docs/a' }, NEITHER],
    [{ command: 'rm **' }, { command: 'rm -rf a/b' }, BOTH],
    [{ command: 'rm *' }, { command: 'rm -rf a/b' }, NEITHER],
    [{ url: 'https://evil.example/**' }, { url: 'https://evil.example/a/b?x=1' }, BOTH],
    [{ url: 'https://evil.example/**' }, { url: 'https://good.example/a/' }, NEITHER],
  ])('%j over %j', (where, args, expected) => {
    expect(holds(where, args)).toEqual(expected)
  })

  test('an array at the end of a dotted name is every element, whichever side it is', () => {
    expect(holds({ 'a.b': 'x' }, { a: { b: ['x', 'x'] } })).toEqual(BOTH)
    expect(holds({ 'a.b': 'x' }, { a: { b: ['x', 'y'] } })).toEqual(STRICT)
  })

  describe('of a tool that puts nothing into a canonical form', () => {
    const UPSTREAM = entry('mcp__fs__write', { source: 'fs' })

    test.each<[pattern: string, path: string, expected: object]>([
      ['docs/**', 'docs/../src/x', STRICT],
      ['src/**', 'docs/../src/x', STRICT],
      ['docs/**', '/ws/docs/../../etc/passwd', STRICT],
      ['docs/**', '..', STRICT],
      ['docs/**', './docs/a', BOTH],
      ['docs/**', 'docs/./a', BOTH],
      ['docs/*', 'docs//a', BOTH],
      ['docs/**', './src/a', NEITHER],
      ['docs', 'docs/', BOTH],
      ['docs/**', 'src/', NEITHER],
      ['.', './', BOTH],
      ['docs/**', 'docs/..a', BOTH],
    ])('%s over %s', (pattern, path, expected) => {
      expect(holds({ path: pattern }, { path }, UPSTREAM)).toEqual(expected)
      expect(holds({ file: pattern }, { file: path === './' ? '.' : path }, UPSTREAM)).toEqual(expected)
    })

    test('a tool that does is taken at its word', () => {
      expect(holds({ path: 'docs/**' }, { path: 'docs/../src/x' })).toEqual(BOTH)
      expect(holds({ path: 'src/**' }, { path: 'docs/../src/x' })).toEqual(NEITHER)
    })
  })
})

describe('a walking tool', () => {
  const see = (
    options: PolicyOptions,
    path: string,
    files: readonly string[],
    given: CheckedInput = walking(path),
    tool: Entry = SEARCH,
  ): readonly string[] => {
    const policy = policyOf(options)
    return files.filter((file) => policy.mayTouch(ANA, tool, `read file:/ws/${file}`, given))
  }
  const FILES = ['a', '.env', 'docs/a', 'docs/.env.local', 'secret/a', 'secret/b/c']

  test('L19: withholds what a rule on the resource denies, and only that', () => {
    const options = { rules: [{ deny: { resource: ['read file:**/.env*', 'read file:secret/**'] } }] }
    expect(policyOf(options).decide(ANA, SEARCH, walking('.')).kind).toBe('allow')
    expect(see(options, '.', FILES)).toEqual(['a', 'docs/a'])
    expect(see({}, '.', FILES)).toEqual(FILES)
  })

  test('withholds what a rule on its own `path` denies, and nothing for a rule on another tool', () => {
    const rules = [{ deny: 'search_text', where: { path: ['secret/**', '**/.env*'] } }]
    expect(decide(rules, SEARCH, walking('.'))).toBe('allow')
    expect(decide(rules, SEARCH, walking('secret'))).toBe('deny')
    expect(decide(rules, SEARCH, walking('secret/b'))).toBe('deny')
    expect(see({ rules }, '.', FILES)).toEqual(['a', 'docs/a'])
    expect(see({ rules: [{ deny: 'read_file', where: { path: 'secret/**' } }] }, '.', FILES)).toEqual(FILES)
  })

  test('a pattern for hidden or for top-level names does not forbid the walk of the root', () => {
    for (const path of ['.*', '*', '?', '[.]x'])
      expect(decide([{ deny: 'search_text', where: { path } }], SEARCH, walking('.'))).toBe('allow')
    for (const path of ['.', '**', '{.,docs}'])
      expect(decide([{ deny: 'search_text', where: { path } }], SEARCH, walking('.'))).toBe('deny')
    expect(see({ rules: [{ deny: 'search_text', where: { path: '.*' } }] }, '.', FILES)).toEqual([
      'a',
      'docs/a',
      'docs/.env.local',
      'secret/a',
      'secret/b/c',
    ])
    const listing = entry('mcp__fs__list', { effect: 'read' })
    expect(
      decide([{ deny: 'mcp__fs__list', where: { path: '*' } }], listing, input({ path: '.' }, { effect: 'read' })),
    ).toBe('deny')
  })

  test('sees no more than an allow lets it, where reading is not allowed by default', () => {
    const closed = { defaults: { read: 'deny' as const } }
    const byPath = { ...closed, rules: [{ allow: 'search_text', where: { path: 'docs/**' } }] }
    expect(policyOf(byPath).decide(ANA, SEARCH, walking('.')).kind).toBe('deny')
    expect(policyOf(byPath).decide(ANA, SEARCH, walking('docs')).kind).toBe('allow')
    expect(see(byPath, 'docs', FILES)).toEqual(['docs/a', 'docs/.env.local'])
    const byResource = { ...closed, rules: [{ allow: { resource: 'read file:docs/**' } }] }
    expect(policyOf(byResource).decide(ANA, SEARCH, walking('.')).kind).toBe('deny')
    expect(policyOf(byResource).decide(ANA, SEARCH, walking('docs')).kind).toBe('allow')
    expect(see(byResource, 'docs', FILES)).toEqual(['docs/a', 'docs/.env.local'])
  })

  test('withholds what asks by a rule of its own; an ask about the whole call has been answered', () => {
    const below = { rules: [{ ask: 'search_text', where: { path: 'secret/**' } }] }
    expect(policyOf(below).decide(ANA, SEARCH, walking('.')).kind).toBe('allow')
    expect(see(below, '.', FILES)).toEqual(['a', '.env', 'docs/a', 'docs/.env.local'])
    expect(policyOf(below).decide(ANA, SEARCH, walking('secret')).kind).toBe('ask')
    expect(see(below, 'secret', ['secret/a'])).toEqual(['secret/a'])
    const always = { rules: [{ ask: 'search_text' }, { ask: { resource: 'read file:secret/**' } }] }
    expect(see(always, '.', FILES)).toEqual(['a', '.env', 'docs/a', 'docs/.env.local'])
    expect(see(always, 'secret', ['secret/a', 'a'])).toEqual(['secret/a', 'a'])
    const byDefault = {
      defaults: { read: 'ask' as const },
      rules: [{ allow: 'search_text', where: { path: 'docs/**' } }],
    }
    expect(see(byDefault, '.', ['a', 'docs/a'])).toEqual(['a', 'docs/a'])
    // The walk of `docs` was allowed and nobody was asked: what lies elsewhere would have to be asked about.
    expect(see(byDefault, 'docs', ['a', 'docs/a'])).toEqual(['docs/a'])
  })

  test('a folder as a whole is let through only where nothing below it is kept back', () => {
    const options = { rules: [{ deny: { resource: ['read file:secret/**'] } }] }
    const asked = ['secret/*', 'secret/b/*', 'docs/*', '*', 'secret', 'docs']
    expect(see(options, '.', asked)).toEqual(['docs/*', 'docs'])
    const anywhere = { rules: [{ deny: { resource: ['read file:secret/**', 'read file:**/.env*'] } }] }
    expect(see(anywhere, '.', asked)).toEqual(['docs'])
    expect(see({}, '.', asked)).toEqual(asked)
  })

  test('other conditions of a rule go on to hold for each file', () => {
    const rules = [{ deny: 'search_text', where: { path: 'secret/**', text: 'key*' }, for: { user: 'ana' } }]
    const asking = (text: string): CheckedInput =>
      input({ path: '.', text }, { effect: 'read', touches: ['read file:/ws/*'] })
    expect(see({ rules }, '.', ['secret/a'], asking('keys'))).toEqual([])
    expect(see({ rules }, '.', ['secret/a'], asking('words'))).toEqual(['secret/a'])
    const policy = policyOf({ rules })
    expect(policy.mayTouch(caller({ user: 'bo' }), SEARCH, 'read file:/ws/secret/a', asking('keys'))).toBe(true)
  })

  test('what is no resource, and what nobody could decide, is withheld', () => {
    for (const text of ['', 'read', 'file:/ws/a', 'read /ws/a', 'READ file:/ws/a', 'read file'])
      expect(policyOf({}).mayTouch(ANA, SEARCH, text, walking('.'))).toBe(false)
    const faults: unknown[] = []
    const policy = policyOf(
      { rules: [{ deny: 'search_text', where: { text: 'x' } }] },
      { onFault: (fault) => faults.push(fault) },
    )
    const given = Object.defineProperty({ ...walking('.') }, 'args', {
      get: () => {
        throw new Error('broken')
      },
    })
    expect(policy.mayTouch(ANA, SEARCH, 'read file:/ws/a', given as CheckedInput)).toBe(false)
    expect(faults).toHaveLength(1)
  })

  test('a tool that changes may also ask: each file by the rules of the call, answered asks included', () => {
    const moving = input(
      { from: 'docs', to: 'x' },
      { touches: ['read file:/ws/docs/*', 'write file:/ws/docs/*', 'write file:/ws/x/*'] },
    )
    const mayWrite = (rules: readonly RuleOptions[], file: string): boolean =>
      policyOf({ rules }).mayTouch(ANA, MOVE, `write file:/ws/${file}`, moving)
    expect(mayWrite([], 'docs/a')).toBe(true)
    expect(mayWrite([{ deny: { resource: 'write file:docs/a' } }], 'docs/a')).toBe(false)
    expect(mayWrite([{ allow: 'move_file' }], 'docs/a')).toBe(true)
    expect(mayWrite([{ allow: { tool: 'move_file', resource: '* file:{docs,x}{,/**}' } }], 'docs/a')).toBe(true)
    expect(mayWrite([{ allow: { tool: 'move_file', resource: '* file:{docs,x}{,/**}' } }], 'src/a')).toBe(false)
  })

  const pattern = fc.constantFrom('docs/**', 'secret/**', '**/.env*', '**', 'a', '*', 'docs/*', '**/a')
  const rule = fc.oneof(
    fc
      .tuple(fc.constantFrom('allow', 'ask', 'deny'), pattern)
      .map(([answer, path]) => ({ [answer]: 'search_text', where: { path } }) as RuleOptions),
    fc
      .tuple(fc.constantFrom('allow', 'ask', 'deny'), pattern)
      .map(([answer, path]) => ({ [answer]: { resource: `read file:${path}` } }) as RuleOptions),
    fc.constantFrom<RuleOptions>({ ask: 'search_*' }, { allow: 'search_text' }, { deny: 'other' }),
  )

  test('a walk never shows a file that the same tool would be denied, nor one that nobody was asked about', () => {
    const defaults = fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const)
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 5 }),
        defaults,
        fc.constantFrom(...FILES),
        fc.constantFrom('.', 'docs', 'secret'),
        (rules, read, file, start) => {
          const policy = policyOf({ defaults: { read }, rules })
          const alone = policy.decide(ANA, SEARCH, reading(file))
          const whole = policy.decide(ANA, SEARCH, walking(start))
          const seen = policy.mayTouch(ANA, SEARCH, `read file:/ws/${file}`, walking(start))
          if (alone.kind === 'deny') expect(seen).toBe(false)
          if (alone.kind === 'allow') expect(seen).toBe(true)
          if (alone.kind === 'ask' && whole.kind === 'allow') expect(seen).toBe(false)
        },
      ),
      { numRuns: 3_000 },
    )
  })
})

describe('many rules about resources', () => {
  const piece = fc.constantFrom('a', 'b', 'docs', '*', '**', '.x', 'a*', '{a,b}')
  const path = fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join('/'))
  const resource = fc
    .tuple(
      fc.constantFrom('read', 'write', '*'),
      fc.oneof(
        path,
        path.map((text) => `/ws/${text}`),
      ),
    )
    .map(([verb, text]) => `${verb} file:${text}`)
  const rule = fc
    .tuple(fc.constantFrom('allow', 'ask', 'deny'), fc.array(resource, { minLength: 1, maxLength: 2 }))
    .map(([answer, patterns]) => ({ [answer]: { resource: patterns } }) as RuleOptions)
  const touch = fc
    .tuple(
      fc.constantFrom('read', 'write'),
      fc.array(fc.constantFrom('a', 'b', 'docs', '.x', '*'), { minLength: 1, maxLength: 3 }),
    )
    .map(([verb, parts]) => `${verb} file:/ws/${parts.join('/')}`)

  test('decide as the strictest of each alone: the index leaves none out', () => {
    const weight = { allow: 0, ask: 1, deny: 2 } as const
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 20, maxLength: 60 }),
        fc.array(touch, { minLength: 1, maxLength: 2 }),
        fc.constantFrom(SEARCH, MOVE),
        (rules, touches, tool) => {
          const given = input({}, { effect: tool === SEARCH ? 'read' : 'write', touches })
          const decision = policyOf({ rules }).decide(ANA, tool, given)
          const held = rules
            .map((one) => policyOf({ rules: [one] }).decide(ANA, tool, given))
            .filter(({ by }) => by === 'rule')
          if (held.length === 0) expect(decision.by).toBe('default')
          else expect(weight[decision.kind]).toBe(Math.max(...held.map(({ kind }) => weight[kind])))
        },
      ),
      { numRuns: 300 },
    )
  })
})
