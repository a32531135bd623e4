// Groups of commands, on the hierarchies that this machine has and on written ones: they are found, kept small, and gone again.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { systemClock } from '../base/clock.ts'
import type { GroupParent } from './abilities.ts'
import { ControlGroup, sweepGroups } from './control-group.ts'
import { hierarchies } from './group-places.ts'
import { machineAbilities } from './probe-machine.ts'

const { groups = [] } = await machineAbilities()

function made(parents: readonly GroupParent[] = groups): ControlGroup {
  const group = ControlGroup.make(parents, { tree: true, processes: 10, memoryBytes: 50_000_000, cpuMs: 1_000 })
  if (!(group instanceof ControlGroup)) throw new Error(`no group was made: ${group}`)
  return group
}

const foldersOf = (group: ControlGroup): readonly string[] => group.doors.map((door) => dirname(door))

describe('where groups can be made', () => {
  const unified = '25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw'

  test('version 2, as most machines have it', () => {
    expect(hierarchies('0::/user.slice/a.scope\n', unified)).toEqual([
      { version: 'cgroup v2', controllers: [''], folder: '/sys/fs/cgroup/user.slice/a.scope' },
    ])
  })

  test('version 1: only the controllers that keep something for a command', () => {
    const mounts = [
      '32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu',
      '35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
      '39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids',
    ].join('\n')
    expect(hierarchies('8:pids:/\n4:memory:/a/b\n1:cpu:/\n', mounts).map(({ folder }) => folder)).toEqual([
      '/sys/fs/cgroup/pids/',
      '/sys/fs/cgroup/memory/a/b',
    ])
  })

  test('a container that sees a part of the hierarchy finds itself in it, and never leaves it', () => {
    const mount = '25 20 0:22 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw'
    const at = (path: string) => hierarchies(`0::${path}\n`, mount).map(({ folder }) => folder)
    expect(at('/docker/abc/in')).toEqual(['/sys/fs/cgroup/in'])
    expect(at('/elsewhere')).toEqual(['/sys/fs/cgroup'])
  })

  test('what cannot be read is nowhere', () => {
    expect(hierarchies('', '')).toEqual([])
    expect(hierarchies('nonsense\n:::\n', 'more nonsense\n - \n')).toEqual([])
    expect(hierarchies('0::/\n', '25 20 0:22 / /proc rw - proc proc rw')).toEqual([])
  })
})

describe('a place where no group can be made', () => {
  test('is told, and nothing of a half made one stays', () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-groups-')))
    const parents: readonly GroupParent[] = [
      { folder, version: 'cgroup v2', keeps: ['cpuMs'] },
      { folder: join(folder, 'absent'), version: 'cgroup v1', keeps: ['processes'] },
    ]
    expect(typeof ControlGroup.make(parents, { tree: true, processes: 10 })).toBe('string')
    expect(readdirSync(folder)).toEqual([])
    rmSync(folder, { recursive: true })
  })

  test('nothing is made where nothing is wanted', () => {
    expect(ControlGroup.make([], { tree: true, processes: 10 })).toBeUndefined()
    expect(ControlGroup.make(groups, { tree: false })).toBeUndefined()
  })
})

describe.skipIf(groups.length === 0)('a group', () => {
  test('is removed when it is let go, and told to have hit nothing', async () => {
    const group = made()
    const folders = foldersOf(group)
    expect(folders.every(existsSync)).toBe(true)
    expect(group.hits()).toEqual([])
    expect(group.isEmpty).toBe(true)
    await new Promise<void>((resolve) => group.remove(systemClock, resolve))
    expect(folders.filter(existsSync)).toEqual([])
  })

  test('one that somebody else removed is empty, ends nobody, and is no error', async () => {
    const group = made()
    for (const folder of foldersOf(group)) rmdirSync(folder)
    expect([group.isEmpty, group.hits(), group.cpuMs()]).toEqual([true, [], undefined])
    group.kill()
    group.removeNow()
    await new Promise<void>((resolve) => group.remove(systemClock, resolve))
  })

  test('sweeping takes groups of gates that are gone, and leaves those of this one and of other namespaces', async () => {
    const group = made()
    const [own = ''] = foldersOf(group)
    const parent = dirname(own)
    const [, space] = /lockgate-(\d+)-/.exec(own) ?? []
    const dead = join(parent, `lockgate-${space}-999999-1-0-1`)
    const foreign = join(parent, `lockgate-1-999999-1-0-1`)
    for (const path of [dead, foreign]) mkdirSync(path)
    sweepGroups(groups)
    await vi.waitFor(() => expect(existsSync(dead)).toBe(false))
    expect([existsSync(own), existsSync(foreign)]).toEqual([true, true])
    rmdirSync(foreign)
    await new Promise<void>((resolve) => group.remove(systemClock, resolve))
  })
})
