import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { principalDigest, requestDigest, type SealedState, SealedStates } from './sealed-state.ts'

const clock = new FakeClock()
const key = randomBytes(32)
const states = new SealedStates(clock, key)
const bound = { principal: 'p'.repeat(64), call: 'c'.repeat(64) }
const state: SealedState = { ...bound, runId: 'run_1', approvalId: 'apr_1', expiresAt: clock.now() + 1_000 }

describe('a sealed state', () => {
  test('opens for the caller and the call that it was made for, also in another process with the same key', () => {
    expect(states.open(states.seal(state), bound)).toEqual({ kind: 'ok', state })
    expect(new SealedStates(clock, key).open(states.seal(state), bound)).toEqual({ kind: 'ok', state })
  })

  test('says nothing to whoever carries it, and is another one each time', () => {
    const sealed = states.seal(state)
    const text = Buffer.from(sealed.slice(3), 'base64url').toString('latin1')
    for (const word of [state.principal, state.runId, state.approvalId]) expect(text).not.toContain(word)
    expect(states.seal(state)).not.toBe(sealed)
  })

  test('state-bound: another caller or another call opens nothing', () => {
    const sealed = states.seal(state)
    for (const other of [
      { ...bound, principal: 'q'.repeat(64) },
      { ...bound, call: 'd'.repeat(64) },
    ])
      expect(states.open(sealed, other)).toEqual({ kind: 'refused', why: 'other' })
  })

  test('a change of any one byte makes it foreign', () => {
    const sealed = Buffer.from(states.seal(state).slice(3), 'base64url')
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(states.open(`v1.${changed.toString('base64url')}`, bound)).toEqual({ kind: 'refused', why: 'foreign' })
    }
  })

  test.each([
    ['none', ''],
    ['no text', 7],
    ['nothing', undefined],
    ['a header alone', 'v1.'],
    ['too short', `v1.${Buffer.alloc(28).toString('base64url')}`],
    ['its content in plain', `v1.${Buffer.from(JSON.stringify(state)).toString('base64url')}`],
    ['too long', `v1.${'A'.repeat(5_000)}`],
    ['of another version', states.seal(state).replace('v1.', 'v2.')],
    ['cut', states.seal(state).slice(0, -1)],
    ['padded', `${states.seal(state)}=`],
    ['with a blank', ` ${states.seal(state)}`],
    ['of another key', new SealedStates(clock).seal(state)],
  ])('%s is foreign', (_name, text) => {
    expect(states.open(text, bound)).toEqual({ kind: 'refused', why: 'foreign' })
  })

  test('is good for as long as its question, and not a millisecond longer', async () => {
    const sealed = states.seal({ ...state, expiresAt: clock.now() + 1_000 })
    await clock.advance(999)
    expect(states.open(sealed, bound).kind).toBe('ok')
    await clock.advance(1)
    expect(states.open(sealed, bound)).toEqual({ kind: 'refused', why: 'expired' })
  })

  test('a key of another length is none', () => {
    expect(() => new SealedStates(clock, randomBytes(16))).toThrow(RangeError)
  })
})

describe('what a state is bound to', () => {
  const caller = { tenant: 't', user: 'u', agent: 'a' }

  test('a caller: credential, tenant, user, agent, task, step and conversation each count', () => {
    const digests = [
      principalDigest('tok_1', caller, undefined),
      principalDigest('tok_2', caller, undefined),
      principalDigest('tok_1', { ...caller, tenant: 'x' }, undefined),
      principalDigest('tok_1', { ...caller, user: 'x' }, undefined),
      principalDigest('tok_1', { ...caller, agent: 'x' }, undefined),
      principalDigest('tok_1', { ...caller, task: { name: 'x' } }, undefined),
      principalDigest('tok_1', { ...caller, step: 'x' }, undefined),
      principalDigest('tok_1', caller, 'x'),
    ]
    expect(new Set(digests).size).toBe(digests.length)
  })

  test('a call: its name and arguments, whatever the order of their keys', () => {
    expect(requestDigest('t', { a: 1, b: { c: 2, d: 3 } })).toBe(requestDigest('t', { b: { d: 3, c: 2 }, a: 1 }))
    const others = [
      requestDigest('t', { a: 1 }),
      requestDigest('u', { a: 1 }),
      requestDigest('t', { a: '1' }),
      requestDigest('t', [['a', 1]]),
      requestDigest('t', { a: 1, b: null }),
      requestDigest('t', '{"a":1}'),
    ]
    expect(new Set(others).size).toBe(others.length)
  })
})
