import { expect, test } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { artifactConformance } from './artifact-conformance.ts'
import { MemoryArtifacts } from './memory-artifacts.ts'
import { createMemoryStore } from './memory-store.ts'

artifactConformance('memory', async (clock) => createMemoryStore({ clock }))

test('memory is bounded whatever a gate is allowed to keep, and buffers are copied on the way in and out', async () => {
  const clock = new FakeClock()
  const artifacts = new MemoryArtifacts(10, () => undefined)
  const principal = { tenant: 't', user: 'u', agent: 'a' }
  const call = { id: 'c', session: 's', tool: 't', fingerprint: 'f', argumentsText: '{}', policyVersion: 'p' }
  const rowOf = (id: string, bytes: number) => ({
    ...{ id, digest: 'd', principal, call: { ...call, approved: false }, mediaType: 'text/plain', bytes },
    ...{ at: clock.now(), expiresAt: clock.now() + 1_000 },
  })
  const bounds = { bytesMax: 1_000, principalBytesMax: 1_000 }
  expect(await artifacts.keep({ row: rowOf('a', 11), content: new Uint8Array(11) }, bounds)).toMatchObject({
    kind: 'refused',
  })
  const given = Uint8Array.from([1, 2, 3])
  expect(await artifacts.keep({ row: rowOf('b', 3), content: given }, bounds)).toEqual({ kind: 'kept' })
  given[0] = 9
  const first = await artifacts.find('b', principal, clock.now())
  expect(first?.content).toEqual(Uint8Array.from([1, 2, 3]))
  if (first !== undefined) first.content[1] = 9
  expect((await artifacts.find('b', principal, clock.now()))?.content).toEqual(Uint8Array.from([1, 2, 3]))
  expect(await artifacts.keep({ row: rowOf('c', 8), content: new Uint8Array(8) }, bounds)).toEqual({ kind: 'kept' })
  expect(await artifacts.find('b', principal, clock.now())).toBeUndefined()
})
