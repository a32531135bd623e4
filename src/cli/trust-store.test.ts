import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkTrust, recordTrust, trustFile } from './trust-store.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lockgate-trust-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const CONFIG = { path: '/a/lockgate.yaml', digest: '1'.repeat(64) }
const RULES = { path: '/a/rules.yaml', digest: '2'.repeat(64) }
const other = (file: { path: string }) => ({ ...file, digest: '9'.repeat(64) })

describe('trust in a configuration', () => {
  it('nothing is trusted that was not recorded, and recording one trusts no other', () => {
    expect(checkTrust(root, [CONFIG])).toEqual({ kind: 'unknown' })
    recordTrust(root, [CONFIG])
    expect(checkTrust(root, [{ ...CONFIG, path: '/b/lockgate.yaml' }])).toEqual({ kind: 'unknown' })
    expect(checkTrust(root, [CONFIG])).toEqual({ kind: 'trusted' })
  })

  it('a changed, a new and a missing file each take the trust away and are named', () => {
    recordTrust(root, [CONFIG, RULES])
    expect(checkTrust(root, [CONFIG, RULES])).toEqual({ kind: 'trusted' })
    expect(checkTrust(root, [other(CONFIG), RULES])).toEqual({
      kind: 'changed',
      changes: [{ path: CONFIG.path, what: 'changed' }],
    })
    expect(checkTrust(root, [CONFIG, other(RULES)])).toEqual({
      kind: 'changed',
      changes: [{ path: RULES.path, what: 'changed' }],
    })
    expect(checkTrust(root, [CONFIG])).toEqual({ kind: 'changed', changes: [{ path: RULES.path, what: 'gone' }] })
    expect(checkTrust(root, [CONFIG, RULES, { path: '/a/tools.js', digest: '3'.repeat(64) }])).toEqual({
      kind: 'changed',
      changes: [{ path: '/a/tools.js', what: 'new' }],
    })
  })

  it('a record that cannot be read, or has another form, trusts nothing', () => {
    recordTrust(root, [CONFIG])
    const good = readFileSync(trustFile(root), 'utf8')
    for (const text of [
      '',
      '{',
      'null',
      '[]',
      '{"version":2,"configurations":{}}',
      good.replace('"version": 1', '"version": 2'),
      '{"version":1,"configurations":{"/a/lockgate.yaml":[]}}',
      '{"version":1,"configurations":{"__proto__":{"/a/lockgate.yaml":1}}}',
    ]) {
      writeFileSync(trustFile(root), text)
      expect(checkTrust(root, [CONFIG]).kind, text).not.toBe('trusted')
    }
    writeFileSync(trustFile(root), good)
    expect(checkTrust(root, [CONFIG])).toEqual({ kind: 'trusted' })
  })

  it('a configuration named like a member of every object is one like any other', () => {
    for (const path of ['__proto__', 'constructor', 'toString']) {
      const file = { path, digest: '4'.repeat(64) }
      expect(checkTrust(root, [file])).toEqual({ kind: 'unknown' })
      recordTrust(root, [file])
      expect(checkTrust(root, [file])).toEqual({ kind: 'trusted' })
      expect(checkTrust(root, [other(file)])).toMatchObject({ kind: 'changed' })
    }
  })

  it('the record is readable by its owner only, and later ones keep the earlier', () => {
    recordTrust(root, [CONFIG])
    recordTrust(root, [RULES])
    expect(statSync(trustFile(root)).mode & 0o777).toBe(0o600)
    expect(checkTrust(root, [CONFIG])).toEqual({ kind: 'trusted' })
  })
})
