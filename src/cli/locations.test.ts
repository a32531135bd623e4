import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { foldersAround, locateConfig, stateFolderOf, stateRoot } from './locations.ts'

let base = ''
let work = ''
let home = ''
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-locations-')))
  work = join(base, 'work')
  home = join(base, 'home')
  for (const folder of [work, join(home, '.config', 'lockgate'), join(base, 'xdg', 'lockgate'), join(base, 'empty')])
    mkdirSync(folder, { recursive: true })
  for (const folder of [work, join(home, '.config', 'lockgate'), join(base, 'xdg', 'lockgate')])
    writeFileSync(join(folder, 'lockgate.yaml'), 'version: 1\n')
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

describe('which configuration a command works with', () => {
  it('`--config` comes before LOCKGATE_CONFIG, and both are the word of the operator', () => {
    expect(locateConfig('a.yaml', work, { LOCKGATE_CONFIG: 'b.yaml', HOME: home })).toEqual({
      file: join(work, 'a.yaml'),
      by: 'named',
    })
    expect(locateConfig(undefined, work, { LOCKGATE_CONFIG: 'b.yaml', HOME: home })).toEqual({
      file: join(work, 'b.yaml'),
      by: 'named',
    })
  })

  it('one in the working directory is only found, also where the user has one of their own', () => {
    expect(locateConfig(undefined, work, { HOME: home, LOCKGATE_CONFIG: '' })).toEqual({
      file: join(work, 'lockgate.yaml'),
      by: 'found',
    })
  })

  it('the user’s own is taken where the working directory has none; XDG paths must be absolute', () => {
    const empty = join(base, 'empty')
    const own = { file: join(home, '.config', 'lockgate', 'lockgate.yaml'), by: 'user' }
    expect(locateConfig(undefined, empty, { HOME: home })).toEqual(own)
    expect(locateConfig(undefined, empty, { HOME: home, XDG_CONFIG_HOME: '../xdg' })).toEqual(own)
    expect(locateConfig(undefined, empty, { HOME: home, XDG_CONFIG_HOME: join(base, 'xdg') })).toEqual({
      file: join(base, 'xdg', 'lockgate', 'lockgate.yaml'),
      by: 'user',
    })
  })

  it('without any, the places that were looked at are named', () => {
    expect(locateConfig(undefined, join(base, 'empty'), { HOME: work })).toEqual({
      looked: [join(base, 'empty', 'lockgate.yaml'), join(work, '.config', 'lockgate', 'lockgate.yaml')],
    })
  })
})

describe('where state is kept', () => {
  it('LOCKGATE_STATE, else the state folder of the user', () => {
    expect(stateRoot(work, { LOCKGATE_STATE: 'state', HOME: home })).toBe(join(work, 'state'))
    expect(stateRoot(work, { HOME: home })).toBe(join(home, '.local', 'state', 'lockgate'))
    expect(stateRoot(work, { HOME: home, XDG_STATE_HOME: '/var/state' })).toBe('/var/state/lockgate')
  })

  it('each configuration has a folder of its own, the same one under every link to it', () => {
    symlinkSync(work, join(base, 'linked'))
    const folder = stateFolderOf('/state', join(work, 'lockgate.yaml'))
    expect(folder).toMatch(/^\/state\/work-[0-9a-f]{16}$/)
    expect(stateFolderOf('/state', join(base, 'linked', 'lockgate.yaml'))).toBe(folder)
    expect(stateFolderOf('/state', join(base, 'xdg', 'lockgate', 'lockgate.yaml'))).not.toBe(folder)
  })

  it('a root that a folder lies in is found, a sibling that starts alike is not', () => {
    expect(foldersAround('/ws/state', ['/ws', '/ws-evil', '/w', '/'])).toEqual(['/ws', '/'])
    expect(foldersAround('/ws', ['/ws', '/ws/sub'])).toEqual(['/ws'])
  })
})
