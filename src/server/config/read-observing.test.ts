// Goal: what is said about kept results, redaction, records and the log is taken as it is meant, or names its place. Method: two
// tables, of what has to be refused and of what has to be read, over one small folder.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { environmentOf } from './environment.ts'
import { type ConfigReading, readConfig } from './read-config.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')

let folder = ''
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-observing-')))
  for (const name of ['ws', 'keys', 'a-folder']) mkdirSync(join(folder, name))
  symlinkSync(join(folder, 'ws'), join(folder, 'way-in'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function read(text: string): ConfigReading {
  writeFileSync(join(folder, 'lockgate.yaml'), `version: 1\nworkspace: ws\n${text}\n`)
  return readConfig(join(folder, 'lockgate.yaml'), environmentOf({ KEY }))
}

const config = (text: string) => {
  const reading = read(text)
  if (reading.kind === 'bad') throw new Error(JSON.stringify(reading.problems))
  return reading.config
}

const BROKEN: readonly (readonly [string, string, RegExp])[] = [
  ['a turn smaller than any result', 'limits: { turn: 100B }', /^3:17 limits\.turn: expected a size from `512B`/],
  ['results that shall be kept without saying how', 'artifacts: true', /^3:12 artifacts: .*`false`, or a map/],
  [
    'a key of artifacts that nobody knows',
    'artifacts: { kept: 1d }',
    /^3:14 artifacts\.kept: .*\(known: keep, total, perCaller, each/,
  ],
  ['a time for nothing', 'artifacts: { keep: 0s }', /^3:20 artifacts\.keep: expected a duration from `1s`/],
  [
    'one caller who may keep more than all',
    'artifacts: { total: 1MB, perCaller: 2MB }',
    /^3:37 artifacts\.perCaller: one caller may keep 2097152 bytes, all together 1048576/,
  ],
  [
    'one result larger than what its caller may keep',
    'artifacts: { perCaller: 1MB, each: 2MB }',
    /^3:36 artifacts\.each: one result may have 2097152 bytes, and its caller may keep 1048576/,
  ],
  [
    'a rule that there is not',
    'redaction: { on: [no-such-rule] }',
    /^3:18 redaction\.on: there is no rule `no-such-rule`; there are /,
  ],
  ['a pattern that is none', "redaction: { patterns: { x: '(' } }", /^3:24 redaction\.patterns: `x`: /],
  [
    'a pattern that finds nothing',
    "redaction: { patterns: { x: 'a*' } }",
    /^3:24 redaction\.patterns: `x`: it matches/,
  ],
  ['another word for all rules', 'redaction: { on: everything }', /^3:18 redaction\.on: expected one of `all`/],
  [
    'a name for a rule that could not be shown',
    'redaction: { patterns: { "a]b": x } }',
    /^3:26 redaction\.patterns\["a\]b"\]: expected the name of a rule/,
  ],
  [
    'no rows between checkpoints',
    'audit: { checkpointEvery: 0 }',
    /^3:27 audit\.checkpointEvery: expected a whole number from 1/,
  ],
  ['a number without unit', 'audit: { checkpointAfter: 60 }', /^3:27 audit\.checkpointAfter: expected a duration/],
  [
    'a place that there is not',
    'audit: { checkpointTo: [stdout] }',
    /^3:25 audit\.checkpointTo\[0\]: expected `stderr` or a path/,
  ],
  [
    'an address as a place',
    'audit: { checkpointTo: ["https://x.example/n"] }',
    /^3:25 audit\.checkpointTo\[0\]: expected `stderr` or a path/,
  ],
  [
    'a copy inside the workspace',
    'audit: { checkpointTo: [./ws/notes] }',
    /^3:25 audit\.checkpointTo\[0\]: `\.\/ws\/notes` lies inside the workspace/,
  ],
  ['a copy inside the workspace by a link', 'audit: { checkpointTo: [./way-in/notes] }', /lies inside the workspace/],
  [
    'a copy over the signing key',
    'audit: { signingKey: ./both.pem, checkpointTo: [./both.pem] }',
    /^3:49 audit\.checkpointTo\[0\]: `\.\/both\.pem` is a file of Lockgate's own already/,
  ],
  [
    'two copies in one file',
    'audit: { checkpointTo: [notes.txt, ./notes.txt] }',
    /^3:36 audit\.checkpointTo\[1\]: .* own already/,
  ],
  [
    'a copy over the database',
    'store: ./records.db\naudit: { checkpointTo: [./records.db] }',
    /^4:25 audit\.checkpointTo\[0\]: .* own already/,
  ],
  [
    'a copy over the configuration itself',
    'audit: { checkpointTo: [./lockgate.yaml] }',
    /^3:25 audit\.checkpointTo\[0\]: .* own already/,
  ],
  ['a copy that is a folder', 'audit: { checkpointTo: [./a-folder] }', /which is something else/],
  [
    'a copy in a folder that is not there',
    'audit: { checkpointTo: [./nowhere/notes] }',
    /the folder of `\.\/nowhere\/notes` does not exist/,
  ],
  [
    'a signing key inside the workspace',
    'audit: { signingKey: ws/key.pem }',
    /^3:22 audit\.signingKey: `ws\/key\.pem` lies inside the workspace/,
  ],
  ['another way to fail', 'audit: { onFailure: ignore }', /^3:21 audit\.onFailure: expected one of `refuse`, `reads`/],
  ['a key that is too short', 'audit: { key: c2hvcnQ= }', /^3:15 audit\.key: expected 32 bytes in base64, such as/],
  [
    'a key for what is not sealed',
    `audit: { seal: false, key: "${KEY}" }`,
    /^3:28 audit\.key: it encrypts the keys of sealed records/,
  ],
  [
    'sealed records in memory',
    'store: memory\naudit: { seal: true }',
    /^4:16 audit\.seal: records in memory are not sealed/,
  ],
  ['a key in memory', `store: memory\naudit: { key: "${KEY}" }`, /^4:15 audit\.key: records in memory are not sealed/],
  [
    'checkpoints in memory that nothing signs',
    'store: memory\naudit: { checkpointTo: [stderr] }',
    /^4:24 audit\.checkpointTo: nothing is signed without a key/,
  ],
  ['telemetry in a word', 'telemetry: yes please', /^3:12 telemetry: expected `true` or `false`/],
  ['a level that there is not', 'log: { level: loud }', /^3:15 log\.level: expected one of `error`, `warning`, `info`/],
  ['a format that there is not', 'log: { format: xml }', /^3:16 log\.format: expected one of `text`, `json`/],
]

describe('what does not hold names its place', () => {
  it.each(BROKEN)('%s', (_what, text, begins) => {
    const reading = read(text)
    if (reading.kind === 'ok') throw new Error('the configuration was taken')
    const [problem] = reading.problems
    expect(`${problem?.line}:${problem?.column} ${problem?.key}: ${problem?.message}`).toMatch(begins)
    expect(reading.problems).toHaveLength(1)
  })

  it('a key is never repeated in a problem', () => {
    const nearly = Buffer.alloc(31, 7).toString('base64')
    expect(JSON.stringify(read(`audit: { key: "${nearly}" }`))).not.toContain(nearly)
  })
})

describe('what holds is taken as it is meant', () => {
  it('nothing said is nothing set', () => {
    const { artifacts, redaction, audit, telemetry, log } = config('')
    expect({ artifacts, redaction, audit, telemetry, log }).toEqual({
      artifacts: undefined,
      redaction: undefined,
      audit: {},
      telemetry: false,
      log: {},
    })
  })

  it('artifacts', () => {
    expect(config('artifacts: false').artifacts).toBe(false)
    expect(config('artifacts: { keep: 2h, total: 8MB, perCaller: 4MB, each: 1MB }').artifacts).toEqual({
      keepMs: 7_200_000,
      bytesMax: 8_388_608,
      principalBytesMax: 4_194_304,
      eachBytesMax: 1_048_576,
    })
  })

  it('redaction', () => {
    const text = "redaction: { on: all, keys: [pin_code], patterns: { badge: 'B-([0-9]{6})' } }"
    expect(config(text).redaction).toEqual({
      on: 'all',
      keys: ['pin_code'],
      patterns: [{ name: 'badge', pattern: 'B-([0-9]{6})' }],
    })
  })

  it('audit, and its files are out of reach of every tool', () => {
    const read = config(
      [
        'audit:',
        '  checkpointEvery: 10',
        '  checkpointAfter: 5s',
        '  checkpointTo: [stderr, ./keys/notes]',
        '  signingKey: keys/signing.pem',
        '  onFailure: reads',
        '  keep: 90d',
        "  key: '${env:KEY}'",
      ].join('\n'),
    )
    expect(read.audit).toEqual({
      checkpointEvery: 10,
      checkpointMs: 5_000,
      checkpointTo: ['stderr', { file: join(folder, 'keys/notes') }],
      signingKey: { file: join(folder, 'keys/signing.pem') },
      onFailure: 'reads',
      keepMs: 90 * 86_400_000,
      key: KEY,
    })
    for (const name of ['keys/notes', 'keys/signing.pem']) expect(read.ownFiles).toContain(join(folder, name))
  })

  it('a signing key makes checkpoints of records in memory possible', () => {
    const { audit } = config('store: memory\naudit: { checkpointEvery: 5, signingKey: keys/signing.pem }')
    expect(audit).toMatchObject({ checkpointEvery: 5 })
  })

  it('limits.turn, telemetry, log', () => {
    expect(config('limits: { turn: 64KB }').limits).toEqual({ turnBytes: 65_536 })
    expect(config('telemetry: true').telemetry).toBe(true)
    expect(config('log: { level: info, format: json }').log).toEqual({ level: 'info', format: 'json' })
  })
})
