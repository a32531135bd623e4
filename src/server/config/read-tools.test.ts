// `tools.shell`, `tools.commands`, the bounds of calls and the guards of sources: what holds is read as it is written, and what
// does not is a problem at its place. Each form that is read has a neighbour that must not be.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { environmentOf } from './environment.ts'
import type { LockgateConfig } from './lockgate-config.ts'
import { readConfig } from './read-config.ts'

let folder = ''
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-config-')))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const reading = (text: string) => {
  writeFileSync(join(folder, 'lockgate.yaml'), `version: 1\n${text}`)
  return readConfig(join(folder, 'lockgate.yaml'), environmentOf({}))
}

function configOf(text: string): LockgateConfig {
  const read = reading(text)
  if (read.kind === 'bad') throw new Error(JSON.stringify(read.problems))
  return read.config
}

const problemsOf = (text: string): readonly string[] => {
  const read = reading(text)
  return read.kind === 'ok'
    ? []
    : read.problems.map(({ line, column, key, message }) => `${line}:${column} ${key}: ${message}`)
}

describe('`tools.shell`', () => {
  it('is off, on with everything that only reads, or what is written', () => {
    expect(configOf('tools: {}').tools.shell).toBeUndefined()
    expect(configOf('tools: { shell: false }').tools.shell).toBeUndefined()
    expect(configOf('tools: { shell: true }').tools.shell).toEqual({})
    const { shell } = configOf(`tools:
  shell:
    programs: { git: [status, log, diff], npm: { scripts: [test] }, ls: true }
    sandbox: required
    network: true
    deadline: 30s
    limits: { cpu: 10s, memory: 512MB, processes: 64, file: 10MB, openFiles: 128, output: 64KB }
    jobs: { perSession: 2, perGate: 4, deadline: 1h, idle: 5m }
    folders: [/opt/tools/bin]`).tools
    expect(shell).toEqual({
      programs: { git: ['status', 'log', 'diff'], npm: { scripts: ['test'] }, ls: true },
      ...{ sandbox: 'required', network: true, deadlineMs: 30_000, folders: ['/opt/tools/bin'] },
      limits: {
        ...{ cpuMs: 10_000, memoryBytes: 536_870_912, processes: 64 },
        ...{ fileBytes: 10_485_760, openFiles: 128, outputBytes: 65_536 },
      },
      jobs: { perSession: 2, perGate: 4, deadlineMs: 3_600_000, idleMs: 300_000 },
    })
  })

  it('a grammar of one’s own is data', () => {
    const { shell } = configOf(`tools:
  shell:
    programs:
      jq:
        reads: true
        flags: [-r, --compact-output]
        values: { --indent: { kind: number } }
        operands: [{ kind: text }, { kind: path }]
        least: 1
        more: true
        benign: [1]
      tool: { reads: false, subcommands: { list: { reads: true, operands: [{ kind: none }] } } }`).tools
    expect(shell?.programs).toMatchObject({
      jq: { reads: true, values: { '--indent': { kind: 'number' } }, least: 1, more: true, benign: [1] },
      tool: { subcommands: { list: { reads: true } } },
    })
  })

  it.each([
    ['tools: { shell: yes }', /^2:17 tools\.shell: expected `true` or `false`/],
    ['tools: { shell: { program: {} } }', /^2:19 tools\.shell\.program: .*did you mean `programs`\?/],
    ['tools: { shell: { programs: all } }', /^2:29 tools\.shell\.programs: expected one of `inspect`/],
    ['tools: { shell: { programs: { git: false } } }', /^2:36 tools\.shell\.programs\.git: expected `true`/],
    [
      'tools: { shell: { programs: { git: { scripts: [x], reads: true } } } }',
      /^2:52 tools\.shell\.programs\.git\.reads/,
    ],
    ['tools: { shell: { programs: { jq: { flags: [-r] } } } }', /^2:35 tools\.shell\.programs\.jq: `reads` is missing/],
    [
      'tools: { shell: { programs: { "/bin/sh": true } } }',
      /^2:31 tools\.shell\.programs\["\/bin\/sh"\]: expected the bare name/,
    ],
    [
      'tools: { shell: { sandbox: yes } }',
      /^2:28 tools\.shell\.sandbox: expected one of `required`, `preferred`, `off`/,
    ],
    ['tools: { shell: { deadline: 30 } }', /^2:29 tools\.shell\.deadline: expected a duration/],
    ['tools: { shell: { deadline: 11m } }', /^2:29 tools\.shell\.deadline: expected a duration from `100ms` to `10m`/],
    ['tools: { shell: { limits: { memory: 1KB } } }', /^2:37 tools\.shell\.limits\.memory: expected a size/],
    [
      'tools: { shell: { limits: { processes: 0 } } }',
      /^2:40 tools\.shell\.limits\.processes: expected a whole number from 1/,
    ],
    ['tools: { shell: { limits: { cpus: 2 } } }', /^2:29 tools\.shell\.limits\.cpus: .*did you mean `cpu`\?/],
    [
      'tools: { shell: { jobs: { perSession: 1.5 } } }',
      /^2:39 tools\.shell\.jobs\.perSession: expected a whole number/,
    ],
    ['tools: { shell: { folders: [bin] } }', /^2:29 tools\.shell\.folders\[0\]: expected an absolute path/],
  ])('closed: %s is a problem at its place', (text, problem) => {
    expect(problemsOf(text)).toEqual([expect.stringMatching(problem)])
  })
})

describe('`tools.commands`', () => {
  const COMMAND = 'program: npm, args: [test, --, "{target}"], effect: execute'

  it('is read as it is written', () => {
    const { commands } = configOf(`tools:
  commands:
    run_tests:
      program: npm
      args: [test, --, '{target}', '--level={level}', '{count}', '{name}']
      inputs:
        target: { path: true, optional: true }
        level: { oneOf: [low, high] }
        count: { number: true, min: 1, max: 5 }
        name: { text: true, pattern: '[a-z]+' }
      effect: execute
      deadline: 5m
      description: Run the tests.
      sandbox: required
      network: false
      limits: { processes: 100 }
      benign: [1]
      runsWorkspaceCode: true`).tools
    expect(commands.run_tests).toEqual({
      ...{
        program: 'npm',
        args: ['test', '--', '{target}', '--level={level}', '{count}', '{name}'],
        effect: 'execute',
        deadlineMs: 300_000,
      },
      inputs: {
        target: { path: true, optional: true },
        level: { oneOf: ['low', 'high'] },
        count: { number: true, min: 1, max: 5 },
        name: { text: true, pattern: '[a-z]+' },
      },
      ...{ description: 'Run the tests.', sandbox: 'required', network: false, limits: { processes: 100 } },
      ...{ benign: [1], runsWorkspaceCode: true },
    })
  })

  it.each([
    [
      `{ a: { ${COMMAND.replace('effect: execute', 'effect: run')} } }`,
      /^2:79 tools\.commands\.a\.effect: expected one of/,
    ],
    [`{ a: { ${COMMAND}, shell: true } }`, /tools\.commands\.a\.shell: .*does not know/],
    ['{ a: { args: [], effect: read } }', /^2:25 tools\.commands\.a: `program` is missing/],
    ['{ a: { program: x, args: [], effect: undeclared } }', /tools\.commands\.a\.effect: expected one of/],
    [
      `{ a: { ${COMMAND}, inputs: { target: { path: false } } } }`,
      /tools\.commands\.a\.inputs\.target\.path: expected `true`/,
    ],
    [
      `{ a: { ${COMMAND}, inputs: { target: {} } } }`,
      /tools\.commands\.a\.inputs\.target: expected exactly one of `path`, `text`/,
    ],
    [
      `{ a: { ${COMMAND}, inputs: { target: { path: true, text: true } } } }`,
      /inputs\.target: expected exactly one of/,
    ],
    [`{ a: { ${COMMAND}, deadline: 0s } }`, /tools\.commands\.a\.deadline: expected a duration/],
    [
      `{ a: { ${COMMAND.replace('{target}', '{goal}')} } }`,
      /^2:58 tools\.commands\.a\.args\.2: there is no input `goal`/,
    ],
    [
      `{ run_command: { ${COMMAND}, inputs: { target: { path: true } } } }`,
      /^2:35 tools\.commands\.run_command: expected another name/,
    ],
    [`{ "a b": { ${COMMAND} } }`, /^2:22 tools\.commands\["a b"\]: expected the name of a tool/],
  ])('closed: %s is a problem at its place', (text, problem) => {
    expect(problemsOf(`tools: { commands: ${text} }`)).toContainEqual(expect.stringMatching(problem))
  })
})

describe('bounds of calls', () => {
  it('L51: are taken exactly as they are written', () => {
    expect(configOf('limits: { parallel: 2, perMinute: 600 }').limits).toEqual({ parallel: 2, perMinute: 600 })
    const written = 'limits: { perMinute: { caller: 60, tenant: 600, tools: { "mail_*": 5, constructor: 1 } } }'
    expect(configOf(written).limits.perMinute).toEqual({
      ...{ caller: 60, tenant: 600 },
      tools: { 'mail_*': 5, constructor: 1 },
    })
  })

  it.each([
    ['limits: { parallel: 0 }', /^2:21 limits\.parallel: expected a whole number from 1 to 256, got the number `0`/],
    ['limits: { parallel: 2.5 }', /^2:21 limits\.parallel: expected a whole number/],
    [
      'limits: { parallel: many }',
      /^2:21 limits\.parallel: expected a whole number from 1 to 256, got the text `many`/,
    ],
    ['limits: { perMinute: 0 }', /^2:22 limits\.perMinute: expected a whole number/],
    ['limits: { perMinute: {} }', /^2:22 limits\.perMinute: it bounds nothing/],
    ['limits: { perMinute: { user: 5 } }', /^2:24 limits\.perMinute\.user: .*does not know/],
    ['limits: { perMinute: { tools: { a: -1 } } }', /^2:36 limits\.perMinute\.tools\.a: expected a whole number/],
  ])('closed: %s is a problem at its place', (text, problem) => {
    expect(problemsOf(text)).toEqual([expect.stringMatching(problem)])
  })
})

describe('guards of a source', () => {
  it('are those of the gate, for this source, outermost first', () => {
    const { guards } = configOf(
      'sources: { a: { command: x, attempt: 2s, retry: { times: 3, backoff: 1s }, tries: 10s, breaker: { failures: 3, cool: 5s } }, b: { url: "http://x.y", retry: {} }, c: { command: x } }',
    )
    expect(guards).toEqual([
      { for: { source: 'a' }, guard: 'breaker', failures: 3, coolMs: 5_000 },
      { for: { source: 'a' }, guard: 'tries', ms: 10_000 },
      { for: { source: 'a' }, guard: 'retry', times: 3, backoffMs: 1_000 },
      { for: { source: 'a' }, guard: 'attempt', ms: 2_000 },
      { for: { source: 'b' }, guard: 'retry', times: 2 },
    ])
  })

  it.each([
    ['retry: { times: 11 }', /sources\.a\.retry\.times: expected a whole number from 1 to 10/],
    ['retry: 3', /sources\.a\.retry: expected a map/],
    ['breaker: { failures: 0 }', /sources\.a\.breaker\.failures: expected a whole number from 1/],
    ['attempt: 500', /sources\.a\.attempt: expected a duration/],
    ['timeout: 5s', /sources\.a\.timeout: .*does not know/],
    ['attempt: 2m', /^2:15 sources\.a\.attempt: it never comes before `limits\.deadline`, 60000 ms/],
    ['tries: 5s, deadline: 5s', /^2:15 sources\.a\.tries: it never comes before the `deadline` of the source, 5000 ms/],
    ['idle: 2m', /^2:15 sources\.a\.idle: it never comes before `limits\.deadline`/],
  ])('closed: %s is a problem at its place', (text, problem) => {
    expect(problemsOf(`sources: { a: { command: x, ${text} } }`)).toEqual([expect.stringMatching(problem)])
  })
})

describe('what keeps a server', () => {
  it('is read as it is written, its paths from the folder of the file', () => {
    const text =
      'sources: { a: { command: x, sandbox: required, readable: [.], writable: [.], network: false, limits: { memory: 256MB, processes: 20 }, idle: 30s } }'
    expect(configOf(text).sources).toMatchObject([
      {
        idleMs: 30_000,
        bounds: {
          ...{ sandbox: 'required', readable: [folder], writable: [folder], network: false },
          limits: { memoryBytes: 268_435_456, processes: 20 },
        },
      },
    ])
    expect(configOf('sources: { a: { command: x } }').sources).toMatchObject([{ bounds: {} }])
  })

  it.each([
    ['sandbox: true', /sources\.a\.sandbox: expected one of `required`/],
    ['sandbox: required, readable: [./gone]', /sources\.a\.readable\[0\]: expected the path of a file or folder/],
    ['network: false', /sources\.a: network: it means something only in a sandbox/],
    ['limits: { cpu: 5s }', /sources\.a\.limits\.cpu: .*does not know/],
    ['idle: 5m, deadline: 2m', /sources\.a: idleMs: expected less than `deadlineMs`/],
  ])('closed: %s is a problem at its place', (text, problem) => {
    expect(problemsOf(`sources: { a: { command: x, ${text} } }`)).toEqual([expect.stringMatching(problem)])
  })

  it('closed: a server elsewhere takes no sandbox', () => {
    expect(problemsOf('sources: { a: { url: "http://x.y", sandbox: required } }')).toEqual([
      expect.stringMatching(/sources\.a\.sandbox: .*does not know/),
    ])
  })
})

describe('rules about programs and places', () => {
  it('are read as they are written', () => {
    const { policy } = configOf(
      'policy: { rules: [{ allow: { tool: run_command, program: [git, rg], reads: true }, place: [sandbox, worker] }] }',
    )
    expect(policy.rules).toMatchObject([
      { allow: { tool: 'run_command', program: ['git', 'rg'], reads: true }, place: ['sandbox', 'worker'] },
    ])
  })

  it.each([
    ['{ allow: { reads: "true" } }', /^2:37 policy\.rules\[0\]\.allow\.reads: expected `true` or `false`/],
    ['{ allow: { program: /bin/sh } }', /^2:39 policy\.rules\[0\]\.allow\.program: .*bare program/],
    ['{ allow: a, place: sandbx }', /^2:38 policy\.rules\[0\]\.place: expected one of .*did you mean `sandbox`\?/],
    ['{ deny: a, place: sandbox }', /policy\.rules\[0\]\.place: .*does not know/],
  ])('closed: %s is a problem at its place', (rule, problem) => {
    expect(problemsOf(`policy: { rules: [${rule}] }`)).toContainEqual(expect.stringMatching(problem))
  })
})
