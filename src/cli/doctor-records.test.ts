// What `doctor` says of records: a key that others can read, a place that cannot be written and a full disk are said, with how
// to mend them.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditFindings, roomFinding } from './doctor-records.ts'

let folder = ''
let database = ''
let key = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockgate-doctor-'))
  mkdirSync(join(folder, 'state'))
  mkdirSync(join(folder, 'elsewhere'))
  database = join(folder, 'state', 'lockgate.db')
  key = join(folder, 'state', 'key.pem')
  writeFileSync(key, 'a key', { mode: 0o600 })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Audit = Parameters<typeof auditFindings>[0]['audit']
const findings = (audit: Audit, name: string) =>
  auditFindings({ database, signingKey: key, audit }).filter((finding) => finding.name === name)
const states = (audit: Audit, name: string) => findings(audit, name).map(({ state }) => state)

describe('what is weak or broken is said, with how to mend it', () => {
  test('checkpoints of which no copy goes anywhere, or only beside the database', () => {
    expect(states({}, 'checkpoints')).toEqual(['warning'])
    expect(states({ checkpointTo: [] }, 'checkpoints')).toEqual(['warning'])
    expect(states({ checkpointTo: [{ file: join(folder, 'state', 'notes') }] }, 'checkpoints')).toEqual(['warning'])
    expect(states({ checkpointTo: ['stderr', { file: join(folder, 'elsewhere', 'notes') }] }, 'checkpoints')).toEqual([
      'ok',
      'ok',
    ])
  })

  test('a place that is not there any more', () => {
    expect(states({ checkpointTo: [{ file: join(folder, 'gone', 'notes') }] }, 'checkpoints')).toEqual(['failed'])
  })

  test('a signing key that others can read, or that is a link', () => {
    expect(states({}, 'signing key')).toEqual(['ok'])
    chmodSync(key, 0o644)
    expect(states({}, 'signing key')).toEqual([process.getuid === undefined ? 'ok' : 'failed'])
    chmodSync(key, 0o600)
    symlinkSync(key, join(folder, 'link.pem'))
    const linked = auditFindings({ database, signingKey: join(folder, 'link.pem'), audit: {} })
    expect(linked.find(({ name }) => name === 'signing key')?.state).toBe('failed')
  })

  test('records that are not sealed', () => {
    expect(states({ seal: false }, 'sealing')).toEqual(['warning'])
    expect(states({}, 'sealing')).toEqual(['ok'])
  })

  test('a disk with little room, and one with none', () => {
    const MIB = 1_048_576
    expect([600, 500, 20].map((free) => roomFinding('/x', free * MIB).state)).toEqual(['ok', 'warning', 'failed'])
    expect(findings({}, 'disk')).toHaveLength(1)
  })

  test('whatever is not well says how to mend it', () => {
    const all = auditFindings({ database, signingKey: key, audit: { seal: false, checkpointTo: [{ file: '/no/n' }] } })
    for (const { state, mend } of all) if (state !== 'ok') expect(mend).toBeTruthy()
  })
})

test('in memory and without a key there is nothing to say', () => {
  expect(auditFindings({ database: undefined, signingKey: undefined, audit: {} })).toEqual([])
})
