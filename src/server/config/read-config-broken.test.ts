// Goal: a configuration with any mistake gives no configuration, and names file, line, column, key, what was expected and
// what came. Method: one table of broken files, each with the place and the words that its problem has to show. Their twins,
// which must be read, stand in `read-config.test.ts`.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { environmentOf } from './environment.ts'
import { type ConfigReading, readConfig } from './read-config.ts'

let folder = ''
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-config-')))
  mkdirSync(join(folder, 'docs'))
  writeFileSync(join(folder, 'tools.js'), 'export const tools = []\n')
  writeFileSync(join(folder, 'bad-rules.yaml'), 'rules:\n  - deny: a_tool\n    becuase: typo\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const VARIABLES = { SET: 'value' }

function read(text: string | Uint8Array, name = 'lockgate.yaml'): ConfigReading {
  writeFileSync(join(folder, name), text)
  return readConfig(join(folder, name), environmentOf(VARIABLES))
}

function problemsOf(text: string | Uint8Array): readonly string[] {
  const reading = read(text)
  if (reading.kind === 'ok') throw new Error('the configuration was taken')
  return reading.problems.map(
    ({ file, line, column, key, message }) =>
      `${file === join(folder, 'lockgate.yaml') ? '' : `${file?.slice(folder.length + 1)}:`}${line ?? '-'}:${column ?? '-'} ${key ?? '-'}: ${message}`,
  )
}

/** What is wrong, the file, and how each problem has to begin: `line:column key: words`. */
const BROKEN: readonly (readonly [string, string, ...RegExp[]])[] = [
  ['an empty file', '', /^1:1 -: expected a map .* got nothing/],
  ['no version', 'workspace: .', /^1:1 -: `version` is missing; expected the number `1`/],
  ['another version', 'version: 2', /^1:10 version: expected the number `1`, got the number `2`/],
  ['a version in quotes', 'version: "1"', /^1:10 version: expected the number `1`, got the text `1`/],
  [
    'a key that nobody knows',
    'version: 1\nwrokspace: .',
    /^2:1 wrokspace: .* `wrokspace` here; did you mean `workspace`\?/,
  ],
  [
    'a key of another version',
    'version: 1\nsecrets: {}',
    /^2:1 secrets: this version of Lockgate does not know the key `secrets` here/,
  ],
  [
    'a family of another version',
    'version: 1\ntools: { http: true }',
    /^2:10 tools\.http: this version of Lockgate does not know/,
  ],
  [
    'a key named like a member of every object',
    'version: 1\nconstructor: 1\ntoString: 1',
    /^2:1 constructor: .*does not know/,
    /^3:1 toString: .*does not know/,
  ],
  ['a key `__proto__`', 'version: 1\n__proto__: { workspace: . }', /^2:1 __proto__: .*does not know/],
  ['a key twice', 'version: 1\nworkspace: .\nworkspace: docs', /^3:1 workspace: this key stands twice/],
  ['a key twice in JSON', '{"version": 1, "version": 1}', /^1:16 version: this key stands twice/],
  ['broken YAML', 'version: 1\nsources: [', /^2:\d+ -: not valid YAML/],
  ['two documents', 'version: 1\n---\nversion: 1', /^2:1 -: one file holds one document/],
  ['a tag', 'version: !!int 1', /^1:\d+ version: tags are not read/],
  ['an unknown tag', 'version: !danger 1', /^1:\d+ -: not valid YAML/],
  [
    'a merge key',
    'version: 1\nlimits: &l { result: 1KB }\ntools: { <<: *l }',
    /^3:10 tools\[?.*<<.*does not know the key `<<`/,
  ],
  ['an anchor that is not there', 'version: 1\nworkspace: *gone', /^2:12 workspace: no anchor is named `gone`/],
  ['a value that holds itself', 'version: 1\nsources: &a { b: *a }', /nested more than 32 deep/],
  ['YAML of another version', '%YAML 1.1\n---\nversion: 1', /^1:1 -: only YAML 1\.2/],
  [
    'bytes that are no text',
    new Uint8Array([0x76, 0xff, 0xfe]) as unknown as string,
    /^-:- -: the file is not valid UTF-8/,
  ],
  ['a file over 1 MiB', `version: 1\n#${'x'.repeat(1_048_576)}`, /^-:- -: the file is larger than 1048576 bytes/],
  [
    'more aliases than anybody needs',
    `version: 1\nsources: { a: { command: &c x, args: [${'*c, '.repeat(101)}*c] } }`,
    /at most 100 aliases/,
  ],
  ['aliases that multiply', bomb(), /at most (100 aliases|20000 values)/],
  [
    'a workspace that is not there',
    'version: 1\nworkspace: ./gone',
    /^2:12 workspace: expected the path of a folder, got `\.\/gone` \(ENOENT\)/,
  ],
  [
    'a workspace that is a file',
    'version: 1\nworkspace: tools.js',
    /^2:12 workspace: expected the path of a folder, got `tools\.js`, which is something else/,
  ],
  [
    'a workspace of another kind',
    'version: 1\nworkspace: [.]',
    /^2:12 workspace: expected a path, or a map, got a list/,
  ],
  ['a home folder in short', 'version: 1\nworkspace: ~/docs', /^2:12 workspace: `~` stands for nothing here/],
  [
    'a name for a root that is none',
    'version: 1\nworkspace: { "a b": . }',
    /^2:14 workspace\["a b"\]: expected a name/,
  ],
  [
    'a store that is misspelled',
    'version: 1\nstore: sqlit',
    /^2:8 store: expected `sqlite`, .*did you mean `sqlite`\?/,
  ],
  ['a store of another version', 'version: 1\nstore: postgres://localhost/x', /^2:8 store: expected `sqlite`/],
  [
    'a store in a folder that is not there',
    'version: 1\nstore: gone/x.db',
    /^2:8 store: the folder of the database `gone\/x\.db` does not exist/,
  ],
  [
    'a word for true',
    'version: 1\ntools: { files: yes }',
    /^2:17 tools\.files: expected `true` or `false`, got the text `yes`/,
  ],
  [
    'a source of no kind',
    'version: 1\nsources: { a: {} }',
    /^2:15 sources\.a: expected exactly one of `command`, `url`, `module`, got an empty map/,
  ],
  [
    'a source of two kinds',
    'version: 1\nsources: { a: { command: x, url: "https://x.y" } }',
    /^2:15 sources\.a: expected exactly one of .* got `command` and `url`/,
  ],
  [
    'a source of a kind of another version',
    'version: 1\nsources: { a: { openapi: ./x.yaml } }',
    /^2:15 sources\.a: expected exactly one of .* got a map with `openapi`/,
  ],
  [
    'a source with `__` in its name',
    'version: 1\nsources: { a__b: { command: x } }',
    /^2:12 sources\.a__b: expected a source name/,
  ],
  [
    'a source named `__proto__`',
    'version: 1\nsources: { __proto__: { command: x } }',
    /^2:12 sources\.__proto__: expected a source name/,
  ],
  [
    'a source under a name of the gate',
    'version: 1\nsources: { builtin: { command: x } }',
    /^2:12 sources\.builtin: expected a source name/,
  ],
  [
    'a source under too long a name',
    `version: 1\nsources: { ${'a'.repeat(33)}: { command: x } }`,
    /^2:12 sources\.a+: expected a source name/,
  ],
  [
    'a number as an argument',
    'version: 1\nsources: { a: { command: x, args: [-p, 80] } }',
    /^2:40 sources\.a\.args\[1\]: expected a text, got the number `80`; put it in quotes/,
  ],
  [
    'a command in one line',
    'version: 1\nsources: { a: { command: [x, y] } }',
    /^2:26 sources\.a\.command: expected a program, got a list/,
  ],
  [
    'a folder of a source that is not there',
    'version: 1\nsources: { a: { command: x, cwd: ./gone } }',
    /^2:34 sources\.a\.cwd: expected the path of a folder/,
  ],
  [
    'an effect that is none',
    'version: 1\nsources: { a: { command: x, effects: { "*": reed } } }',
    /^2:45 sources\.a\.effects\["\*"\]: expected one of `read`.*got `reed`; did you mean `read`\?/,
  ],
  [
    'a glob of effects that is none',
    'version: 1\nsources: { a: { command: x, effects: { "[": read } } }',
    /^2:15 sources\.a: effects: `\[` is no glob/,
  ],
  [
    'trust in something else',
    'version: 1\nsources: { a: { command: x, trust: all } }',
    /^2:36 sources\.a\.trust: expected one of `annotations`, got `all`/,
  ],
  [
    'an address of another scheme',
    'version: 1\nsources: { a: { url: "file:///etc" } }',
    /^2:22 sources\.a\.url: expected an address that starts with/,
  ],
  [
    'an address with a password',
    'version: 1\nsources: { a: { url: "https://u:p@x.y/" } }',
    /^2:15 sources\.a: url: expected an http or https address without user and password/,
  ],
  [
    'a module that is not there',
    'version: 1\nsources: { a: { module: ./gone.js } }',
    /^2:25 sources\.a\.module: expected the path of a file, got `\.\/gone\.js` \(ENOENT\)/,
  ],
  [
    'a source twice',
    'version: 1\nsources: { a: { command: x } }\nmcpServers: { a: { command: y } }',
    /^3:18 mcpServers\.a: a source of this name stands under `sources` already/,
  ],
  [
    'a key of some clients',
    'version: 1\nmcpServers: { a: { command: y, autoApprove: [x] } }',
    /^2:32 mcpServers\.a\.autoApprove: .*does not know/,
  ],
  [
    'a rule without an answer',
    'version: 1\npolicy: { rules: [{ because: x }] }',
    /^2:19 policy\.rules\[0\]: expected exactly one of `allow`, `ask`, `deny`, got a map with `because`/,
  ],
  [
    'a rule with two answers',
    'version: 1\npolicy: { rules: [{ allow: a, deny: b }] }',
    /^2:19 policy\.rules\[0\]: expected exactly one of/,
  ],
  [
    'a rule with a key that nobody knows',
    'version: 1\npolicy:\n  rules:\n    - deny: a\n      wher: { path: x }',
    /^5:7 policy\.rules\[0\]\.wher: .*did you mean `where`\?/,
  ],
  [
    'a rule with a key of another version',
    'version: 1\npolicy: { rules: [{ deny: a, unless: "true" }] }',
    /^2:30 policy\.rules\[0\]\.unless: .*does not know/,
  ],
  [
    'a rule about an effect that is none',
    'version: 1\npolicy: { rules: [{ deny: { effect: wirte } }] }',
    /^2:37 policy\.rules\[0\]\.deny\.effect: expected one of .*did you mean `write`\?/,
  ],
  [
    'a glob that is none',
    'version: 1\npolicy: { rules: [{ deny: a, where: { path: "[" } }] }',
    /^2:45 policy\.rules\[0\]\.where\.path: `\[` is no glob/,
  ],
  [
    'a resource that is none',
    'version: 1\npolicy: { rules: [{ deny: { resource: [".env"] } }] }',
    /^2:3\d policy\.rules\[0\]\.deny\.resource: `\.env` must have the form/,
  ],
  [
    'a subject that says nothing',
    'version: 1\npolicy: { rules: [{ allow: {} }] }',
    /^2:28 policy\.rules\[0\]\.allow: says nothing/,
  ],
  [
    'a default that is no answer',
    'version: 1\npolicy: { defaults: { read: yes } }',
    /^2:29 policy\.defaults\.read: expected one of `allow`, `ask`, `deny`/,
  ],
  [
    'a default for no effect',
    'version: 1\npolicy: { defaults: { reads: allow } }',
    /^2:23 policy\.defaults\.reads: .*did you mean `read`\?/,
  ],
  [
    'a file of rules that is not there',
    'version: 1\npolicy: { files: [gone.yaml] }',
    /^2:19 policy\.files\[0\]: expected the path of a file/,
  ],
  [
    'a file of rules that does not hold',
    'version: 1\npolicy: { files: [bad-rules.yaml] }',
    /^bad-rules\.yaml:3:5 rules\[0\]\.becuase: .*did you mean `because`\?/,
  ],
  [
    'a question that stays open for ever',
    'version: 1\napprovals: { expires: 31d }',
    /^2:23 approvals\.expires: expected a duration from `1s` to `30d`.* got the text `31d`/,
  ],
  [
    'a channel that nobody knows',
    'version: 1\napprovals: { channels: [terminal, mail] }',
    /^2:35 approvals\.channels\[1\]: expected .*`terminal`.*`console`/,
  ],
  ['a profile that nobody knows', 'version: 1\nprofile: codign', /^2:10 profile: .*did you mean `coding`\?/],
  [
    'a profile under which nothing is inherited, with something to inherit',
    'version: 1\nprofile: platform\ncallers: { default: { roles: [dev] } }',
    /^2:10 callers\.default\.roles: under the profile `platform` nobody inherits a role/,
  ],
  [
    'a loop guard that refuses before it warns',
    'version: 1\nlimits: { repeats: { warn: 6, refuse: 6 } }',
    /^2:20 limits\.repeats: `refuse` \(6\) must be more than `warn` \(6\)/,
  ],
  [
    'a loop guard that refuses the second call',
    'version: 1\nlimits: { repeats: { warn: 1 } }',
    /^2:28 limits\.repeats\.warn: expected a whole number from 2/,
  ],
  [
    'an activation that looks outside the workspace',
    'version: 1\nsources: { a: { command: x, activation: { workspace: [../.git] } } }',
    /sources\.a\.activation\.workspace\[0\]: expected a relative path inside the workspace/,
  ],
  [
    'an activation that says nothing',
    'version: 1\nsources: { a: { command: x, activation: {} } }',
    /sources\.a\.activation: it says nothing/,
  ],
  [
    'a name that is an address of a page',
    'version: 1\nserver: { names: ["https://x.y"] }',
    /server\.names\[0\]: expected a host/,
  ],
  [
    'a file of rules of somebody else than there is',
    'version: 1\npolicy: { files: [{ file: x.yaml, origin: session }] }',
    /policy\.files\[0\]\.origin: expected/,
  ],
  [
    'a deadline of nothing',
    'version: 1\nlimits: { deadline: 0s }',
    /^2:21 limits\.deadline: expected a duration from `1ms` to `1d`/,
  ],
  [
    'a deadline without a unit',
    'version: 1\nlimits: { deadline: 60 }',
    /^2:21 limits\.deadline: expected a duration .* got the number `60`/,
  ],
  [
    'a deadline with parts of a millisecond',
    'version: 1\nlimits: { deadline: 0.5ms }',
    /^2:21 limits\.deadline: expected a duration/,
  ],
  ['a deadline below nothing', 'version: 1\nlimits: { deadline: -5s }', /^2:21 limits\.deadline: expected a duration/],
  [
    'a size in small letters',
    'version: 1\nlimits: { result: 48kb }',
    /^2:19 limits\.result: expected a size .* got the text `48kb`/,
  ],
  [
    'a size over the bound',
    'version: 1\nlimits: { arguments: 2MB }',
    /^2:22 limits\.arguments: expected a size from `2B` to `1MB`.* got the text `2MB`/,
  ],
  ['a port alone', 'version: 1\nserver: { listen: 7420 }', /^2:19 server\.listen: expected `HOST:PORT`/],
  [
    'a port that is none',
    'version: 1\nserver: { listen: "127.0.0.1:70000" }',
    /^2:19 server\.listen: expected `HOST:PORT`/,
  ],
  [
    'a caller with a key that nobody knows',
    'version: 1\ncallers: { default: { rolse: [dev] } }',
    /^2:23 callers\.default\.rolse: .*did you mean `roles`\?/,
  ],
  [
    'a caller that hides something',
    'version: 1\ncallers: { default: { user: "an\\u200ba" } }',
    /^2:21 callers\.default: `user` holds an invisible character/,
  ],
  [
    'a task whose list is no list of globs',
    'version: 1\ncallers: { default: { task: { name: t, allow: ["["] } } }',
    /^2:21 callers\.default: `task\.allow`: `\[` is no glob/,
  ],
  [
    'roles that are no list',
    'version: 1\ncallers: { default: { roles: dev } }',
    /^2:30 callers\.default\.roles: expected a list/,
  ],
  [
    'a variable that is not set',
    'version: 1\nworkspace: "${GONE}/x"',
    /^2:12 workspace: the environment variable `GONE` is not set/,
  ],
  [
    'a variable named like a member of every object',
    'version: 1\nworkspace: "${toString}"',
    /^2:12 workspace: the environment variable `toString` is not set/,
  ],
  [
    'a secret',
    'version: 1\nsources: { a: { command: x, env: { T: "${secret:T}" } } }',
    /^2:39 sources\.a\.env\.T: `\$\{secret:T\}` cannot be given: this version .* no secrets broker/,
  ],
  [
    'a reference of another kind',
    'version: 1\nworkspace: "${file:/etc/x}"',
    /^2:12 workspace: `\$\{file:\/etc\/x\}` is not known/,
  ],
  ['a reference without an end', 'version: 1\nworkspace: "${SET"', /^2:12 workspace: `\$\{SET` has no closing brace/],
  ['two problems', 'version: 2\nlimits: { deadline: 0s }', /^1:10 version/, /^2:21 limits\.deadline/],
]

function bomb(): string {
  const lines = ['version: 1', 'sources:', '  a: &a0 { command: x, args: [a, b, c, d, e, f, g, h, i] }']
  for (let level = 1; level < 9; level++)
    lines.push(
      `  b${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
    )
  return lines.join('\n')
}

describe('a broken configuration gives no configuration and says where', () => {
  it.each(BROKEN.map(([what, text, ...expected]) => ({ what, text, expected })))('$what', ({ text, expected }) => {
    const problems = problemsOf(text)
    expect(problems).toHaveLength(expected.length)
    for (const [index, pattern] of expected.entries()) expect(problems[index]).toMatch(pattern)
  })

  it('a file that is not there, a folder and a link to nothing are problems and no exceptions', () => {
    symlinkSync(join(folder, 'nowhere'), join(folder, 'link.yaml'))
    for (const name of ['gone.yaml', 'docs', 'link.yaml']) {
      const reading = readConfig(join(folder, name), environmentOf({}))
      expect(reading).toMatchObject({
        kind: 'bad',
        problems: [{ file: join(folder, name), message: expect.stringMatching(/cannot be read|not a regular file/) }],
      })
    }
  })
})
