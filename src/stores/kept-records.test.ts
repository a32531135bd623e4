import { createHmac } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { sha256 } from '../base/digest.ts'
import { bodyOf, isShut } from '../observe/record-text.ts'
import type { ApprovalRow, RecordDraft, RecordQuery, Store } from '../observe/store.ts'
import { verifyRecords } from '../observe/verify.ts'
import { StoreFiles } from './conformance-files.ts'
import { createMemoryStore } from './memory-store.ts'
import { openSqliteStore } from './sqlite-store.ts'

const files = new StoreFiles()
const KEY = Buffer.alloc(32, 7).toString('base64')

async function sqlite(options: { seal?: boolean; key?: string; file?: string } = {}): Promise<Store> {
  const opened = await openSqliteStore({ file: files.file, clock: systemClock, ...options })
  if (opened.kind === 'failed') throw new Error(opened.reason)
  return opened.store
}

const AT = 1_700_000_000_000

/** An end of a call as the gate writes it. */
function endOf(
  user: string,
  callId: string,
  more: Partial<RecordDraft> & { open?: object; session?: string } = {},
): RecordDraft {
  const { open = {}, session = `s-${user}`, ...draft } = more
  return {
    ...{ kind: 'end', at: AT, callId },
    body: JSON.stringify({ tool: 'weather', source: 'host', ok: true, decision: { kind: 'allow' }, ...open }),
    personal: JSON.stringify({ tenant: 't', user, agent: 'a', session, args: { city: `Oslo of ${user}` } }),
    subject: { tenant: 't', user, session },
    ...draft,
  }
}

const erasure: RecordDraft = { kind: 'erasure', at: AT, callId: null, body: '{"by":"boss"}' }
const rowsOf = (store: Store, query: Partial<RecordQuery> = {}) => store.records({ limit: 100, ...query })
const calls = async (store: Store, query: Partial<RecordQuery> = {}) =>
  (await rowsOf(store, query)).map(({ callId }) => callId)

/** Everything that the database and what belongs to it hold on disk. */
const onDisk = (): string =>
  readdirSync(dirname(files.file))
    .map((name) => readFileSync(join(dirname(files.file), name)).toString('latin1'))
    .join()

describe.each([
  ['memory', async () => createMemoryStore({ clock: systemClock })],
  ['sealed', () => sqlite()],
  ['sealed, with a key of the operator', () => sqlite({ key: KEY })],
  ['unsealed', () => sqlite({ seal: false })],
])('records: %s', (name, open) => {
  let store: Store
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  test('both halves of a record are read as one', async () => {
    store.append(
      endOf('eva', 'c1', {
        body: '{"tool":"weather","ok":false,"error":{"type":"timeout"}}',
        personal: '{"user":"eva","error":{"message":"too late"},"__proto__":{"a":1}}',
      }),
    )
    const [row] = await rowsOf(store)
    expect(row && bodyOf(row)).toEqual(
      JSON.parse(
        '{"tool":"weather","ok":false,"error":{"type":"timeout","message":"too late"},"user":"eva","__proto__":{"a":1}}',
      ),
    )
    expect(row).toMatchObject({ seq: 1, position: expect.any(Number), kind: 'end', callId: 'c1' })
    expect(await verifyRecords(store)).toMatchObject({ kind: 'ok', rows: 1 })
  })

  test('texts that are not kept leave what proves them', async () => {
    const argumentsText = '{"city":"Oslo"}'
    const resultText = '{"degrees":"-3 °C"}'
    store.append(endOf('eva', 'c1', { argumentsText, resultText }))
    store.append(endOf('eva', 'c2', { argumentsText }))
    store.append(endOf('eva', 'c3', { argumentsText: '{"city":"oslo"}' }))
    store.append({ kind: 'end', at: AT, callId: 'c4', body: '{"tool":"a"}', argumentsText, resultText })
    const [first, second, third, open] = (await rowsOf(store)).map(bodyOf)
    expect(first).toMatchObject({ result: { bytes: 20, digest: sha256(resultText) } })
    expect(first?.argsHmac).toMatch(/^[0-9a-f]{64}$/)
    expect(second?.argsHmac).toBe(first?.argsHmac)
    expect(third?.argsHmac).not.toBe(first?.argsHmac)
    expect(open).toMatchObject({ argsHmac: first?.argsHmac, result: first?.result })
    // Keyed: nobody finds what was said by trying.
    expect(first?.argsHmac).not.toBe(sha256(argumentsText))
    expect(first?.argsHmac).not.toBe(createHmac('sha256', '').update(argumentsText).digest('hex'))
  })

  test('a record with personal members and nobody whose they are is refused', () => {
    const { subject: _, ...draft } = endOf('eva', 'c1')
    expect(() => store.append(draft)).toThrow(/subject/)
    expect(() => store.append({ ...endOf('eva', 'c1'), body: '[]' })).toThrow(/object/)
  })

  test('filters join: person, session, agent, tool, source, end, decision, time', async () => {
    store.append(endOf('eva', 'c1', { at: AT + 1 }))
    store.append(endOf('bob', 'c2', { at: AT + 2, open: { tool: 'mail', source: 'm' } }))
    store.append(endOf('eva', 'c3', { at: AT + 3, session: 'other', open: { ok: false, error: { type: 'timeout' } } }))
    store.append(endOf('eva', 'c4', { at: AT + 4, open: { ok: false, decision: { kind: 'deny' } } }))
    store.append({ kind: 'gate', at: AT + 5, callId: null, body: '{"what":"tool weather of eva"}' })
    for (const [query, found] of [
      [{ user: 'eva' }, ['c1', 'c3', 'c4']],
      [{ tenant: 't' }, ['c1', 'c2', 'c3', 'c4']],
      [{ tenant: 'x', user: 'eva' }, []],
      [{ user: 'eva', newestFirst: true, limit: 2 }, ['c4', 'c3']],
      [{ session: 's-eva' }, ['c1', 'c4']],
      [{ session: 's-ev' }, []],
      [{ session: 'other', user: 'bob' }, []],
      [{ agent: 'a' }, ['c1', 'c2', 'c3', 'c4']],
      [{ agent: 'b' }, []],
      [{ agent: 'a', limit: 1 }, ['c1']],
      [{ tool: 'mail' }, ['c2']],
      [{ tool: 'mai' }, []],
      [{ source: 'host', ok: true }, ['c1']],
      [{ ok: false }, ['c3', 'c4']],
      [{ errorType: 'timeout' }, ['c3']],
      [{ decision: 'deny' }, ['c4']],
      [{ since: AT + 2, until: AT + 4 }, ['c2', 'c3']],
      [{ kind: 'gate', since: AT + 5 }, [null]],
      [{ kind: 'gate', user: 'eva' }, []],
    ] as const) {
      expect(await calls(store, query), JSON.stringify(query)).toEqual(found)
    }
  })

  test('pages go on after a position, in both directions, and meet every row once', async () => {
    for (let n = 0; n < 25; n += 1) store.append(endOf(n % 2 === 0 ? 'eva' : 'bob', `c${n}`))
    for (const query of [{}, { user: 'eva' }, { agent: 'a' }, { session: 's-eva' }]) {
      for (const newestFirst of [false, true]) {
        const all = await calls(store, { ...query, newestFirst })
        const met: (string | null)[] = []
        for (let after: number | undefined; ; ) {
          const page = await store.records({
            ...{ ...query, newestFirst, limit: 4 },
            ...(after === undefined ? {} : { afterPosition: after }),
          })
          met.push(...page.map(({ callId }) => callId))
          after = page.at(-1)?.position
          if (page.length < 4) break
        }
        expect(met).toEqual(all)
      }
    }
    expect(await calls(store)).toHaveLength(25)
  })

  test('heads are the last rows of all chains', async () => {
    expect(await store.heads()).toEqual([])
    for (let n = 0; n < 3; n += 1) store.append(endOf('eva', `c${n}`))
    const rows = await rowsOf(store)
    expect(await store.heads()).toEqual([{ chain: store.chain, seq: 3, hash: rows.at(-1)?.hash }])
  })

  test('old rows go from the beginning of their chain, and the rest says where it begins', async () => {
    for (let n = 0; n < 6; n += 1) store.append(endOf('eva', `c${n}`, { at: AT + n }))
    // The clock stepped back for one: what stands behind a younger row stays.
    store.append(endOf('eva', 'c6', { at: AT }))
    const before = await rowsOf(store)
    expect(await store.dropBefore(AT - 1)).toEqual([])
    expect(await store.dropBefore(AT + 3)).toEqual([{ chain: store.chain, seq: 3, hash: before[2]?.hash }])
    const after = await rowsOf(store)
    expect(after.map(({ seq }) => seq)).toEqual([4, 5, 6, 7, 8])
    expect(after.slice(0, 4)).toEqual(before.slice(3))
    expect(after.at(-1)).toMatchObject({ kind: 'retention' })
    expect(after.at(-1) && bodyOf(after.at(-1) ?? { body: '' })).toMatchObject({ before: AT + 3, floors: [{ seq: 3 }] })
    expect(await store.dropBefore(AT + 3)).toEqual([])
  })

  test('rows of open intents stay, and so does the newest checkpoint with all that follows', async () => {
    store.append(endOf('eva', 'c0'))
    const { record, ...intent } = {
      callId: 'c1',
      tool: 'w',
      effect: 'write',
      argumentsText: '{}',
      record: endOf('eva', 'c1'),
    }
    await store.intend({ ...intent, record: { ...record, kind: 'intent' } })
    store.append(endOf('eva', 'c2'))
    expect(await store.dropBefore(AT + 1)).toMatchObject([{ seq: 1 }])
    expect(await store.dropBefore(AT + 1)).toEqual([])
    store.append(endOf('eva', 'c1'), 'c1')
    store.append({ kind: 'checkpoint', at: AT, callId: null, body: '{}' })
    store.append(endOf('eva', 'c4'))
    await store.dropBefore(Date.now() + 60_000)
    expect((await rowsOf(store)).map(({ kind }) => kind).filter((kind) => kind !== 'retention')).toEqual([
      'checkpoint',
      'end',
    ])
  })

  test('an erasure takes what is about one person, and nothing of another', async () => {
    store.append(endOf('eva', 'c1', { argumentsText: '{"city":"Oslo"}' }))
    store.append(endOf('bob', 'c2'))
    await store.intend({
      ...{
        callId: 'c3',
        tool: 'w',
        effect: 'write',
        argumentsText: '{}',
        record: { ...endOf('eva', 'c3'), kind: 'intent' },
      },
      ask: { open: approvalOf('eva') },
    })
    await store.images.keep({
      ...{ callId: 'c1', principal: { tenant: 't', user: 'eva', agent: 'a' }, at: AT, tool: 'write_file' },
      files: [{ path: '/a', before: Buffer.from('before'), afterHash: 'x' }],
    })
    // Rows that nobody has read and rows that were read.
    if (name === 'memory') expect(await calls(store, { callId: 'c1' })).toEqual(['c1'])
    const erased = await store.erase({ tenant: 't', user: 'eva' }, erasure)
    const isSealed = name.startsWith('sealed')
    expect(erased).toMatchObject({ others: 2, unsealed: name === 'unsealed' ? 2 : 0 })
    expect(erased.records).toBe(name === 'unsealed' ? 0 : 2)
    expect(await store.approvals({ limit: 10 })).toEqual([])
    expect(await store.images.find('c1')).toBeUndefined()
    expect(await verifyRecords(store)).toMatchObject({ kind: 'ok' })
    const texts = JSON.stringify(await rowsOf(store))
    if (name !== 'unsealed') expect(texts).not.toContain('Oslo of eva')
    // A row in memory that was shown takes all before it along.
    if (name !== 'memory') expect(texts).toContain('Oslo of bob')
    expect((await rowsOf(store)).at(-1)).toMatchObject({ kind: 'erasure' })
    if (name !== 'unsealed') expect(await calls(store, { user: 'eva' })).toEqual([])
    if (isSealed) {
      const [first] = await rowsOf(store, { callId: 'c1' })
      expect(first && isShut(first)).toBe(true)
      expect(first && bodyOf(first)).toMatchObject({ tool: 'weather', ok: true })
      expect(await calls(store, { session: 's-eva' })).toEqual([])
    }
    // The same person may come again, and is somebody new.
    store.append(endOf('eva', 'c9'))
    expect(await calls(store, { user: 'eva', kind: 'end' })).toContain('c9')
  })

  test('an erasure of somebody nobody knows erases nothing and is recorded', async () => {
    store.append(endOf('bob', 'c2'))
    expect(await store.erase({ tenant: 'x', user: 'bob' }, erasure)).toEqual({ records: 0, others: 0, unsealed: 0 })
    expect(await calls(store, { user: 'bob' })).toEqual(['c2'])
  })
})

const approvalOf = (user: string): ApprovalRow => ({
  ...{ id: 'apr_1', digest: 'd', state: 'open', tenant: 't', user, agent: 'a', session: 's', tool: 'w' },
  ...{ fingerprint: 'f', effect: 'write', policyVersion: 'p', reason: 'r', shown: 'shown', workspace: '', askedBy: [] },
  ...{ offers: [{ reach: 'once', shown: 'this' }], openedAt: AT, expiresAt: 9_999_999_999_999 },
})

describe('sealing on disk', () => {
  test('nothing personal can be read in the files, and after an erasure the key is in none of them', async () => {
    const store = await sqlite()
    store.append(endOf('eva', 'c1', { argumentsText: '{"iban":"secret-iban"}' }))
    await store.flush()
    expect(onDisk()).not.toContain('Oslo of eva')
    expect(onDisk()).not.toContain('s-eva')
    const database = await files.connect()
    const [kept] = database.prepare('SELECT hex(key) AS key FROM subjects').all([])
    database.close()
    const key = Buffer.from(String(kept?.key), 'hex').toString('latin1')
    expect(onDisk()).toContain(key)
    await store.erase({ tenant: 't', user: 'eva' }, erasure)
    expect(onDisk()).not.toContain(key)
    expect(onDisk()).not.toContain('eva')
    await store.close()
  })

  test('after an erasure no file holds anything of calls that had ended long before it', async () => {
    const store = await sqlite()
    for (let call = 0; call < 60; call += 1) {
      const callId = `c${call}`
      const key = { key: `key-of-eva-${call}`, tenant: 't', user: 'eva', agent: 'a', tool: 'w', digest: 'd' }
      await store.intend({
        ...{ callId, tool: 'w', effect: 'write', argumentsText: `{"iban":"secret-iban-${call}"}`, journal: key },
        record: { ...endOf('eva', callId), kind: 'intent' },
      })
      store.append(endOf('eva', callId), callId)
      await store.flush()
    }
    await store.erase({ tenant: 't', user: 'eva' }, erasure)
    await store.close()
    expect(onDisk().match(/key-of-eva|secret-iban/g) ?? []).toEqual([])
  })

  test('a copy of the file from before an erasure is what still can be read, and no file from after it', async () => {
    const store = await sqlite()
    store.append(endOf('eva', 'c1'))
    await store.close()
    const copy = files.next()
    const before = await sqlite()
    await before.erase({ tenant: 't', user: 'eva' }, erasure)
    await before.close()
    const again = await sqlite()
    const [row] = await rowsOf(again, { callId: 'c1' })
    expect(row && isShut(row)).toBe(true)
    await again.close()
    expect(() => copyFileSync(files.file, copy)).toThrow()
  })

  test('a sealed body that is moved to another row, or changed, opens for nobody', async () => {
    const store = await sqlite()
    store.append(endOf('eva', 'c1'))
    store.append(endOf('bob', 'c2'))
    await store.close()
    const database = await files.connect()
    const [one] = database
      .prepare(`SELECT substr(body, instr(body, '"sealed"')) AS text FROM records WHERE seq = 1`)
      .all([])
    database
      .prepare(`UPDATE records SET body = substr(body, 1, instr(body, '"sealed"') - 1) || ? WHERE seq = 2`)
      .run([String(one?.text)])
    database.close()
    const reader = await sqlite()
    const rows = await rowsOf(reader)
    expect(rows[0]?.personal).toContain('eva')
    expect(rows[1]?.personal).toBeUndefined()
    expect(await verifyRecords(reader)).toMatchObject({ kind: 'broken', seq: 2 })
    await reader.close()
  })

  test('the key of the operator is needed, and no other one; keys from before it are taken along', async () => {
    const first = await sqlite()
    first.append(endOf('eva', 'c1', { argumentsText: '{}' }))
    await first.close()
    const second = await sqlite({ key: KEY })
    second.append(endOf('eva', 'c2', { argumentsText: '{}' }))
    const [one, two] = (await rowsOf(second)).map(bodyOf)
    expect(one?.argsHmac).toBe(two?.argsHmac)
    await second.close()
    await expect(sqlite()).rejects.toThrow(/audit key .* needed/)
    await expect(sqlite({ key: Buffer.alloc(32, 8).toString('base64') })).rejects.toThrow(/not the one/)
    await expect(sqlite({ key: 'c2hvcnQ=' })).rejects.toThrow(/32 bytes/)
    const third = await sqlite({ key: KEY })
    expect(JSON.stringify(await rowsOf(third))).toContain('Oslo of eva')
    await third.close()
  })

  test('another process that has the key at hand neither reads nor writes with it after an erasure', async () => {
    const [one, other] = [await sqlite(), await sqlite()]
    other.append(endOf('eva', 'c1'))
    expect(await calls(other, { user: 'eva' })).toEqual(['c1'])
    await one.erase({ tenant: 't', user: 'eva' }, erasure)
    const [row] = await rowsOf(other, { callId: 'c1' })
    expect(row?.personal).toBeUndefined()
    other.append(endOf('eva', 'c2'))
    await other.flush()
    expect(await calls(one, { user: 'eva' })).toEqual(['c2'])
    await one.close()
    await other.close()
  })

  test('rows are not opened for whoever looks at the chain alone', async () => {
    const store = await sqlite()
    store.append(endOf('eva', 'c1'))
    const [row] = await rowsOf(store, { unopened: true })
    expect(row?.personal).toBeUndefined()
    expect(row?.body).toContain('"sealed"')
    await store.close()
  })
})
