// What a host may say about kept results, redaction and records: refused before anything has started, and named.

import { describe, expect, test } from 'vitest'
import { GateConfigError } from '../describe/gate-config-error.ts'
import { checkGateOptions } from './gate-options-check.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')
const PEM = '-----BEGIN PRIVATE KEY-----'
const sqlite = { sqlite: 'records.db' }

function problemsOf(options: unknown): readonly string[] {
  try {
    checkGateOptions(options)
    return []
  } catch (error) {
    if (!(error instanceof GateConfigError)) throw error
    return error.problems.map(({ key, message }) => `${key}: ${message}`)
  }
}

const REFUSED: readonly (readonly [string, unknown, RegExp])[] = [
  ['`true` for artifacts, which says nothing', { artifacts: true }, /^artifacts: expected `false` or an object/],
  ['a misspelt bound', { artifacts: { bytes: 1 } }, /^artifacts\.bytes: unknown option; known: keepMs/],
  [
    'a bound that no content could have',
    { artifacts: { eachBytesMax: 1.5 } },
    /^artifacts\.eachBytesMax: expected a whole/,
  ],
  [
    'one result above what its caller may keep',
    { artifacts: { eachBytesMax: 2 ** 30 } },
    /^artifacts\.eachBytesMax: one result/,
  ],
  [
    'one caller above all',
    { artifacts: { bytesMax: 2_048, principalBytesMax: 4_096 } },
    /^artifacts\.principalBytesMax/,
  ],
  ['a rule as a text', { redaction: { on: 'jwt' } }, /^redaction\.on: expected `all`, or a list/],
  [
    'a pattern without a name',
    { redaction: { patterns: [{ pattern: 'x' }] } },
    /^redaction\.patterns: expected a list/,
  ],
  [
    'a place that there is not',
    { store: sqlite, audit: { checkpointTo: ['stdout'] } },
    /^audit\.checkpointTo: expected/,
  ],
  ['a key that is two things', { audit: { signingKey: { file: 'a', pem: PEM } } }, /^audit\.signingKey: expected/],
  ['a third way to fail', { audit: { onFailure: 'ignore' } }, /^audit\.onFailure: expected `refuse` or `reads`/],
  ['a key of another size', { store: sqlite, audit: { key: 'c2hvcnQ=' } }, /^audit\.key: expected 32 bytes in base64$/],
  ['a key for nothing sealed', { store: sqlite, audit: { key: KEY, seal: false } }, /^audit\.key: it encrypts/],
  ['sealing in memory', { audit: { seal: true } }, /^audit\.seal: records in memory are not sealed/],
  ['checkpoints that nothing signs', { audit: { checkpointEvery: 5 } }, /^audit\.checkpointEvery: nothing is signed/],
  ['telemetry that is no flag', { telemetry: {} }, /^telemetry: expected `true` or `false`/],
  ['a counter that is none', { countTokens: 4 }, /^countTokens: expected a function/],
  ['a turn smaller than any result', { limits: { turnBytes: 100 } }, /^limits\.turnBytes: expected a whole number/],
]

describe('what is set in vain is refused', () => {
  test.each(REFUSED)('%s', (_what, options, begins) => {
    const problems = problemsOf(options)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(begins)
  })
})

describe('what holds is taken', () => {
  test.each<readonly [string, unknown]>([
    ['no artifacts', { artifacts: false }],
    [
      'bounds of artifacts',
      { artifacts: { keepMs: 60_000, bytesMax: 4_096, principalBytesMax: 2_048, eachBytesMax: 1_024 } },
    ],
    [
      'redaction',
      { redaction: { on: 'all', off: ['jwt'], keys: ['pin'], patterns: [{ name: 'badge', pattern: 'B-\\d+' }] } },
    ],
    [
      'audit with a database',
      {
        store: sqlite,
        audit: {
          checkpointEvery: 1,
          checkpointMs: 5,
          checkpointTo: ['stderr', { file: 'x' }, () => {}],
          key: KEY,
          keepMs: 1_000,
          onFailure: 'reads',
        },
      },
    ],
    ['signed records in memory', { audit: { checkpointEvery: 5, signingKey: { pem: PEM } } }],
    ['telemetry and a counter', { telemetry: true, countTokens: (text: string) => text.length }],
  ])('%s', (_what, options) => {
    expect(problemsOf(options)).toEqual([])
  })
})
