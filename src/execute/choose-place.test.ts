// Goal: a call runs where its contract, the rules and the machine agree that it may, and nowhere else.

import { describe, expect, test } from 'vitest'
import type { Decision } from '../describe/decision.ts'
import type { Place } from '../describe/place.ts'
import type { MachineAbilities } from '../machine/abilities.ts'
import { choosePlace, type PlaceTool } from './choose-place.ts'
import { errorOf, setUp } from './executor.fixture.ts'

const enforced = { kind: 'enforced', by: 'prlimit' } as const
const LIMITS = {
  ...{ cpuMs: enforced, memoryBytes: enforced, fileBytes: enforced, openFiles: enforced },
  processes: { kind: 'unenforced', reason: 'no control groups', mend: 'mount them' },
} as const
const READY: MachineAbilities = {
  sandbox: { kind: 'ready', by: 'bwrap', path: '/usr/bin/bwrap' },
  limits: LIMITS,
  tree: 'group',
}
const BARE: MachineAbilities = {
  sandbox: { kind: 'missing', reason: 'bwrap is not installed', mend: 'install it' },
  limits: LIMITS,
  tree: 'group',
}
const rule = (...place: readonly Place[]): Decision => ({
  ...{ kind: 'allow', by: 'rule', reason: '', policyVersion: 'v', place },
  rule: { text: 'allow probe place=sandbox' },
})

function placeOf(tool: PlaceTool, machine: MachineAbilities | undefined, decision?: Decision): string {
  const choice = choosePlace(tool, decision, machine)
  return choice.kind === 'chosen' ? choice.chosen.place : (errorOf(choice.ending)?.type ?? '')
}

describe('without a rule', () => {
  test('a tool that is no command runs where it says', () => {
    for (const place of ['process', 'worker', 'upstream'] as const) expect(placeOf({ place }, undefined)).toBe(place)
    expect(placeOf({}, undefined)).toBe('process')
  })

  test('a command goes into a sandbox where there is one, unless that is off', () => {
    expect(placeOf({ place: 'child' }, READY)).toBe('sandbox')
    expect(placeOf({ place: 'child', sandbox: 'required' }, READY)).toBe('sandbox')
    expect(placeOf({ place: 'child', sandbox: 'off' }, READY)).toBe('child')
  })

  test('closed: without a sandbox one that needs it does not run, and one that prefers it says why it runs without', () => {
    expect(placeOf({ place: 'child', sandbox: 'required' }, BARE)).toBe('unavailable')
    expect(placeOf({ place: 'child', sandbox: 'required' }, undefined)).toBe('unavailable')
    const choice = choosePlace({ place: 'child' }, undefined, BARE)
    expect(choice).toMatchObject({ chosen: { place: 'child', why: expect.stringContaining('bwrap is not installed') } })
  })

  test('a bound that the machine cannot keep refuses where the sandbox is required, and nowhere else', () => {
    const limits = { processes: 10 }
    expect(placeOf({ place: 'child', sandbox: 'required', limits }, READY)).toBe('unavailable')
    expect(placeOf({ place: 'child', sandbox: 'required', limits: { cpuMs: 10 } }, READY)).toBe('sandbox')
    expect(placeOf({ place: 'child', limits }, READY)).toBe('sandbox')
  })
})

describe('what a rule demands', () => {
  test('closed: a tool that runs elsewhere is not run', () => {
    expect(placeOf({}, undefined, rule('sandbox'))).toBe('permission_denied')
    expect(placeOf({ place: 'upstream' }, undefined, rule('process', 'worker'))).toBe('permission_denied')
    expect(placeOf({ place: 'child' }, READY, rule('worker'))).toBe('permission_denied')
    expect(placeOf({ place: 'worker' }, undefined, rule())).toBe('permission_denied')
  })

  test('one that runs there is', () => {
    expect(placeOf({}, undefined, rule('process'))).toBe('process')
    expect(placeOf({ place: 'worker' }, undefined, rule('sandbox', 'worker'))).toBe('worker')
  })

  test('a demanded sandbox holds also where the tool has it off, and a missing one is not gone without', () => {
    expect(placeOf({ place: 'child', sandbox: 'off' }, READY, rule('sandbox'))).toBe('sandbox')
    expect(placeOf({ place: 'child' }, BARE, rule('sandbox'))).toBe('unavailable')
    expect(placeOf({ place: 'child' }, READY, rule('child'))).toBe('sandbox')
    expect(placeOf({ place: 'child' }, BARE, rule('child'))).toBe('child')
  })
})

describe('in front of the tool', () => {
  const child = (machine: MachineAbilities, more: object = {}) =>
    setUp((_args, { place }) => place.place, {
      tool: { place: 'child', ...more },
      executor: { machine: async () => machine },
    })

  test('the tool is told its place, and the trail keeps it with the reason', async () => {
    const { call, start } = child(READY)
    expect(await start()).toEqual({ kind: 'value', value: 'sandbox' })
    expect(call.trail.place).toEqual({ place: 'sandbox', why: expect.stringContaining('preferred') })
  })

  test('a refused place runs nothing, and the model hears nothing of the machine', async () => {
    const { call, start } = child(BARE, { sandbox: 'required' })
    const error = errorOf(await start())
    expect(error).toMatchObject({ type: 'unavailable', effect: 'none', help: 'bwrap is not installed' })
    expect(error?.message).not.toContain('bwrap')
    expect(call.trail).toMatchObject({ attempts: 0 })
    expect(call.trail.place).toBeUndefined()
  })

  test('closed: a machine that cannot be looked at refuses', async () => {
    const { call, start } = setUp(() => 'ran', {
      tool: { place: 'child' },
      executor: { machine: () => Promise.reject(new Error('broken')) },
    })
    expect(errorOf(await start())?.effect).toBe('none')
    expect(call.trail.attempts).toBe(0)
  })

  test('last-check: bound text that has changed since the decision stops the call, and so does one that cannot be read', async () => {
    const BOUND = [{ title: 'test', text: 'vitest run' }]
    const bound = (binds: () => never[] | typeof BOUND) =>
      setUp(() => 'ran', { binds: BOUND, tool: { binds } as never })
    const same = bound(() => [{ title: 'test', text: 'vitest run' }])
    expect(await same.start()).toEqual({ kind: 'value', value: 'ran' })
    for (const changed of [
      bound(() => [{ title: 'test', text: 'curl' }]),
      bound(() => []),
      bound(() => {
        throw new Error('gone')
      }),
    ]) {
      expect(errorOf(await changed.start())).toMatchObject({
        type: 'unavailable',
        effect: 'none',
        retry: { advice: 'safe' },
      })
      expect(changed.call.trail.attempts).toBe(0)
    }
  })
})
