// What every store must do with contents that it keeps, told once and run against each of them. Goal: nobody gets what was
// kept for another, nothing outlives its time or its room, and what comes out is what was put in. Method: only the interface
// is used, on a clock that the test moves; refusals come first.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sha256 } from '../base/digest.ts'
import type { Artifact, ArtifactBounds, ArtifactRow, RecordDraft, Store } from '../observe/store.ts'
import { FakeClock } from '../testing/fake-clock.ts'

const ANA = { tenant: 'acme', user: 'ana', agent: 'helper' }
const ROOMY: ArtifactBounds = { bytesMax: 10_000, principalBytesMax: 5_000 }
const DAY_MS = 86_400_000

export function artifactConformance(name: string, open: (clock: FakeClock) => Promise<Store>): void {
  describe(`${name}: contents that are kept`, () => {
    let clock: FakeClock
    let store: Store

    beforeEach(async () => {
      clock = new FakeClock()
      store = await open(clock)
    })
    afterEach(async () => {
      await store.close()
    })

    const artifactOf = (id: string, text: string, principal = ANA, more: Partial<ArtifactRow> = {}): Artifact => {
      const content = Buffer.from(text)
      const row: ArtifactRow = {
        ...{ id: `art_${id}`, digest: sha256(content), principal, mediaType: 'text/plain', bytes: content.length },
        call: {
          ...{ id: `call_${id}`, session: 's1', tool: 'read_it', fingerprint: 'f', argumentsText: '{"path":"ü"}' },
          ...{ policyVersion: 'p', approved: false },
        },
        ...{ at: clock.now(), expiresAt: clock.now() + DAY_MS },
        ...more,
      }
      return { row, content }
    }
    const keep = (artifact: Artifact, bounds = ROOMY) => store.artifacts.keep(artifact, bounds)
    const find = (id: string, principal = ANA) => store.artifacts.find(`art_${id}`, principal, clock.now())
    const textOf = async (id: string, principal = ANA) => {
      const found = await find(id, principal)
      return found === undefined ? undefined : Buffer.from(found.content).toString()
    }
    const ids = async () => (await store.artifacts.list({ limit: 100 })).map(({ id }) => id.slice(4))

    test('nobody is given what was kept for another tenant, user or agent', async () => {
      await keep(artifactOf('1', 'mine'))
      for (const other of [{ tenant: 'other' }, { user: 'bob' }, { agent: 'reviewer' }])
        expect(await find('1', { ...ANA, ...other })).toBeUndefined()
      expect(await find('2')).toBeUndefined()
      expect(await textOf('1')).toBe('mine')
    })

    test('a content that is larger than what may be kept is refused in words, and nothing else goes for it', async () => {
      await keep(artifactOf('1', 'small'))
      expect(await keep(artifactOf('2', 'x'.repeat(5_001)))).toEqual({
        ...{ kind: 'refused', why: 'it has 5001 bytes, and at most 5000 are kept' },
      })
      expect(await ids()).toEqual(['1'])
    })

    test('a content is gone once its time is over, and another one takes its room', async () => {
      await keep(artifactOf('1', 'old', ANA, { expiresAt: clock.now() + 1_000 }))
      await clock.advance(999)
      expect(await textOf('1')).toBe('old')
      await clock.advance(1)
      expect(await find('1')).toBeUndefined()
      await keep(artifactOf('2', 'new'))
      expect(await ids()).toEqual(['2'])
    })

    test('dropping what is old drops contents whose time is over', async () => {
      await keep(artifactOf('1', 'old', ANA, { expiresAt: clock.now() + 1_000 }))
      await keep(artifactOf('2', 'new'))
      await clock.advance(1_000)
      await store.dropBefore(0)
      expect(await ids()).toEqual(['2'])
    })

    test('the oldest of a principal make room for its newest, and those of others stay', async () => {
      const bob = { ...ANA, user: 'bob' }
      await keep(artifactOf('b', 'b'.repeat(2_000), bob))
      for (const id of ['1', '2', '3']) await keep(artifactOf(id, id.repeat(2_000)))
      expect(await ids()).toEqual(['3', '2', 'b'])
      expect(await textOf('b', bob)).toBe('b'.repeat(2_000))
    })

    test('the oldest of all make room where everything together is too much', async () => {
      const users = ['a', 'b', 'c', 'd', 'e', 'f']
      for (const user of users) await keep(artifactOf(user, user.repeat(2_000), { ...ANA, user }))
      expect(await ids()).toEqual(['f', 'e', 'd', 'c', 'b'])
    })

    test('the same content again is kept once, for longer, under the call that it came from last', async () => {
      await keep(artifactOf('1', 'same'))
      await keep(artifactOf('2', 'other'))
      await clock.advance(DAY_MS - 1)
      const again = artifactOf('1', 'same', ANA, { bytes: 4 })
      await keep({ ...again, row: { ...again.row, call: { ...again.row.call, id: 'call_again', approved: true } } })
      await clock.advance(DAY_MS - 1)
      expect((await find('1'))?.row.call).toMatchObject({ id: 'call_again', approved: true })
      expect(await find('2')).toBeUndefined()
      await keep(artifactOf('3', 'third'))
      expect(await ids()).toEqual(['3', '1'])
    })

    test('what comes out is what was put in, whatever bytes it has', async () => {
      const texts = ['', 'a\u0000b', 'ü'.repeat(100), '\u{1f469}\u200d\u{1f469}']
      for (const [index, text] of texts.entries()) {
        const artifact = artifactOf(`t${index}`, text, ANA, { mediaType: 'application/json' })
        expect(await keep(artifact)).toEqual({ kind: 'kept' })
        const found = await find(`t${index}`)
        expect(found?.row).toEqual(artifact.row)
        expect(Buffer.from(found?.content ?? [1]).toString()).toBe(text)
      }
      const bytes = Uint8Array.from([0, 255, 128, 200])
      const binary = artifactOf('bin', '', ANA, { mediaType: 'image/png', bytes: 4, digest: sha256(bytes) })
      await keep({ ...binary, content: bytes })
      expect(Uint8Array.from((await find('bin'))?.content ?? [])).toEqual(bytes)
    })

    test('a list is the newest first, of one principal where it is asked for, and bounded', async () => {
      const bob = { ...ANA, user: 'bob' }
      await keep(artifactOf('1', 'one'))
      await keep(artifactOf('2', 'two', bob))
      await keep(artifactOf('3', 'three'))
      expect(await ids()).toEqual(['3', '2', '1'])
      expect((await store.artifacts.list({ principal: ANA, limit: 10 })).map(({ id }) => id)).toEqual([
        'art_3',
        'art_1',
      ])
      expect(await store.artifacts.list({ limit: 1 })).toEqual([artifactOf('3', 'three').row])
    })

    test('an erasure takes everything of a person, counts it, and leaves that of others', async () => {
      const bob = { ...ANA, user: 'bob' }
      await keep(artifactOf('1', 'one'))
      await keep(artifactOf('2', 'two', { ...ANA, agent: 'reviewer' }))
      await keep(artifactOf('b', 'bob', bob))
      const record: RecordDraft = { kind: 'erasure', at: clock.now(), callId: null, body: '{}' }
      expect(await store.erase({ tenant: 'acme', user: 'ana' }, record)).toMatchObject({ others: 2 })
      expect(await ids()).toEqual(['b'])
      expect(await textOf('b', bob)).toBe('bob')
      await keep(artifactOf('1', 'one'))
      expect(await textOf('1')).toBe('one')
    })

    test('a closed store keeps nothing, and says so without an error', async () => {
      await store.close()
      expect(await keep(artifactOf('1', 'one'))).toMatchObject({ kind: 'refused' })
    })
  })
}
