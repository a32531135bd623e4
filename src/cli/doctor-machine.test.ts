// What `doctor` says of a machine's abilities: nothing that is missing stays unsaid, and each of it comes with how to mend it.

import { describe, expect, test } from 'vitest'
import type { MachineAbilities } from '../machine/abilities.ts'
import { abilityFindings } from './doctor-machine.ts'

const unkept = { kind: 'unenforced', reason: 'nobody counts', mend: 'let somebody count' } as const
const bare: MachineAbilities = {
  sandbox: { kind: 'missing', reason: 'bubblewrap is not installed', mend: 'install bubblewrap' },
  limits: { cpuMs: unkept, memoryBytes: unkept, processes: unkept, fileBytes: unkept, openFiles: unkept },
  tree: 'group',
}
const byGroup = { kind: 'enforced', by: 'cgroup v2' } as const
const able: MachineAbilities = {
  sandbox: { kind: 'ready', by: 'bwrap', path: '/usr/bin/bwrap' },
  limits: { cpuMs: byGroup, memoryBytes: byGroup, processes: byGroup, fileBytes: byGroup, openFiles: byGroup },
  tree: 'cgroup',
}
const states = (abilities: MachineAbilities, name: string) =>
  abilityFindings(abilities)
    .filter((finding) => finding.name === name)
    .map(({ state }) => state)

describe('what a machine can do for commands', () => {
  test('what is missing is a warning that says how to mend it, and fails nothing', () => {
    for (const name of ['sandbox', 'limits', 'process trees']) expect(states(bare, name)).toEqual(['warning'])
    for (const { state, mend } of abilityFindings(bare)) {
      expect(state).not.toBe('failed')
      if (state === 'warning') expect(mend).toBeTruthy()
    }
  })

  test('what is there is told with what does it', () => {
    for (const name of ['sandbox', 'limits', 'process trees']) expect(states(able, name)).toEqual(['ok'])
    expect(abilityFindings(able).map(({ detail }) => detail)).toContain('bwrap, /usr/bin/bwrap')
  })

  test('a limit that is not kept stands apart from those that are, by its name', () => {
    const some = { ...able, limits: { ...able.limits, processes: unkept } }
    expect(states(some, 'limits')).toEqual(['ok', 'warning'])
    const [, warning] = abilityFindings(some).filter(({ name }) => name === 'limits')
    expect(warning?.detail).toBe('not kept: processes; nobody counts')
  })
})
