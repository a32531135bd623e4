import { describe, expect, test } from 'vitest'
import { sha256 } from '../base/digest.ts'
import type { Call, Trail } from '../describe/call.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { type ArtifactLimits, keepWholes } from './artifacts.ts'
import type { Artifact, ArtifactKept, ArtifactStore } from './store.ts'

const LIMITS: ArtifactLimits = { keepMs: 1_000, bytesMax: 500, principalBytesMax: 300, eachBytesMax: 100 }

type Parts = { unreadable?: string; answer?: () => Promise<ArtifactKept>; limits?: ArtifactLimits }

function keeper({ unreadable, answer = async () => ({ kind: 'kept' }), limits = LIMITS }: Parts = {}) {
  const clock = new FakeClock()
  const kept: Artifact[] = []
  const store: ArtifactStore = {
    keep: (artifact) => {
      kept.push(artifact)
      return answer()
    },
    find: async () => undefined,
    list: async () => [],
  }
  return { clock, kept, keep: keepWholes({ store, clock, limits, unreadable: () => unreadable }) }
}

/** As much of a call as keeping looks at. */
const callOf = (trail: Partial<Trail> = {}, caller: Partial<Call['caller']> = {}): Call =>
  ({
    ...{ id: 'call_1', caller: { tenant: 't', user: 'u', agent: 'a', session: 's', roles: [], ...caller } },
    trail: {
      ...{ entry: { tool: { name: 'read_it' }, fingerprint: 'f' }, input: { text: '{"a":1}' } },
      ...{ decision: { kind: 'allow', policyVersion: 'p' }, attempts: 1, marks: {}, ...trail },
    },
  }) as unknown as Call
const text = (content: string | Uint8Array) => ({ mediaType: 'text/plain', content })

describe('nothing is kept', () => {
  test('for a caller that could not read it, which hears why', async () => {
    const { keep, kept } = keeper({ unreadable: 'not for you' })
    expect(await keep(callOf(), text('x'))).toEqual({ kind: 'refused', why: 'not for you' })
    expect(kept).toEqual([])
  })

  test('that is larger than one result may be, in bytes and not in characters', async () => {
    const { keep, kept } = keeper()
    for (const content of ['x'.repeat(101), 'ü'.repeat(51), new Uint8Array(101)])
      expect(await keep(callOf(), text(content))).toMatchObject({ kind: 'refused', why: /larger than the 100 bytes/ })
    expect(kept).toEqual([])
    expect(await keep(callOf(), text('ü'.repeat(50)))).toMatchObject({ kind: 'kept' })
  })

  test.each(['entry', 'input', 'decision'])('of a call that came to no %s', async (missing) => {
    const { keep, kept } = keeper()
    expect(await keep(callOf({ [missing]: undefined }), text('x'))).toMatchObject({ kind: 'refused' })
    expect(kept).toEqual([])
  })

  test('by a store that refuses, fails or hangs: the call goes on in every case', async () => {
    const refusing = keeper({ answer: async () => ({ kind: 'refused', why: 'it is full' }) })
    expect(await refusing.keep(callOf(), text('x'))).toEqual({ kind: 'refused', why: 'it is full' })
    const failing = keeper({ answer: () => Promise.reject(new Error('disk of /var/lib')) })
    expect(await failing.keep(callOf(), text('x'))).toEqual({ kind: 'refused', why: 'it could not be kept' })
    const hanging = keeper({ answer: () => new Promise(() => {}) })
    const waiting = hanging.keep(callOf(), text('x'))
    await hanging.clock.advance(2_000)
    expect(await waiting).toEqual({ kind: 'refused', why: 'it could not be kept' })
  })
})

describe('what is kept', () => {
  test('says whose it is, of which call, and until when', async () => {
    const { keep, kept, clock } = keeper()
    const answer = await keep(callOf(), text('whole'))
    const [artifact] = kept
    expect(artifact?.row).toEqual({
      ...{ id: answer.kind === 'kept' ? answer.id : '', digest: sha256('whole'), bytes: 5, mediaType: 'text/plain' },
      principal: { tenant: 't', user: 'u', agent: 'a' },
      call: {
        ...{ id: 'call_1', session: 's', tool: 'read_it', fingerprint: 'f', argumentsText: '{"a":1}' },
        ...{ policyVersion: 'p', approved: false },
      },
      ...{ at: clock.now(), expiresAt: clock.now() + 1_000 },
    })
    expect(artifact?.row.id).toMatch(/^art_[0-9a-f]{32}$/)
    expect(Buffer.from(artifact?.content ?? []).toString()).toBe('whole')
  })

  test('has one id for the same content of the same principal, and another for everybody else', async () => {
    const { keep } = keeper()
    const idOf = async (call: Call, whole = text('whole')) => {
      const answer = await keep(call, whole)
      return answer.kind === 'kept' ? answer.id : 'refused'
    }
    const id = await idOf(callOf())
    expect(await idOf(callOf({}, { session: 'other' }))).toBe(id)
    const others = [
      ...['tenant', 'user', 'agent'].map((key) => idOf(callOf({}, { [key]: 'other' }))),
      ...[idOf(callOf(), text('else')), idOf(callOf(), { ...text('whole'), mediaType: 'application/json' })],
    ]
    expect(new Set([id, ...(await Promise.all(others))]).size).toBe(6)
  })

  test.each(['approvalId', 'grantId', 'replayOf'])('is known to be approved by %s', async (key) => {
    const { keep, kept } = keeper()
    await keep(callOf({ [key]: 'x' }), text('whole'))
    expect(kept[0]?.row.call.approved).toBe(true)
  })
})
