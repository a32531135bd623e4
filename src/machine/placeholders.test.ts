// Goal: an empty folder that a command of a killed gate left is cleared up and never taken for a real one, and two gates on one
// workspace leave each other's alone. Method: notes as other processes would have written them, in a temporary folder of our own.

import { type ChildProcess, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { pathKind } from './path-kind.ts'
import { holdPlaceholders, sweepPlaceholders } from './placeholders.ts'

const isLinux = process.platform === 'linux'
const given = process.env.TMPDIR
let base: string
let notes: string
let workspace: string
let other: ChildProcess

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'placeholders-')))
  process.env.TMPDIR = base
  notes = join(base, `lockgate-held-${process.getuid?.() ?? 0}`)
  workspace = join(base, 'ws')
  fs.mkdirSync(workspace)
  fs.mkdirSync(notes, { mode: 0o700 })
  other = spawn('sleep', ['60'], { stdio: 'ignore' })
})
afterEach(() => {
  other.kill('SIGKILL')
  if (given === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = given
  fs.rmSync(base, { recursive: true, force: true })
})

const path = (name: string): string => join(workspace, name)
const put = (name: string): string => {
  fs.mkdirSync(path(name), { recursive: true })
  return path(name)
}
const boot = (): string => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').replace(/[^0-9a-f]/g, '')
const space = (): string => /\d+/.exec(fs.readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
const startOf = (pid: number): string => {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

type Who = { readonly boot?: string; readonly space?: string; readonly pid?: number; readonly start?: string }
/** A note of the other process, or of one like it. */
function noted(holds: readonly string[], who: Who = {}, leaving: readonly string[] = []): string {
  const pid = who.pid ?? other.pid ?? 0
  const name = [who.boot ?? boot(), who.space ?? space(), pid, who.start ?? startOf(pid), '0'].join('-')
  const file = join(notes, `${name}.json`)
  fs.writeFileSync(file, JSON.stringify({ holds, leaving }), { mode: 0o600 })
  return file
}
const DEAD: Who = { start: '1' }

describe.skipIf(!isLinux)('the note of a process', () => {
  test('is there before anything is made, readable for its user only, and gone with the last command', async () => {
    fs.rmdirSync(notes)
    const first = holdPlaceholders([path('.vscode')])
    const second = holdPlaceholders([path('.vscode'), path('.npmrc')])
    const [name = ''] = fs.readdirSync(notes)
    expect(fs.statSync(notes).mode & 0o777).toBe(0o700)
    expect(fs.statSync(join(notes, name)).mode & 0o777).toBe(0o600)
    expect(name).toContain(`-${process.pid}-${startOf(process.pid)}-`)
    expect(JSON.parse(fs.readFileSync(join(notes, name), 'utf8'))).toEqual({
      holds: [path('.vscode'), path('.npmrc')],
      leaving: [],
    })
    await first.giveBack()
    expect(JSON.parse(fs.readFileSync(join(notes, name), 'utf8')).holds).toEqual([path('.vscode'), path('.npmrc')])
    second.giveBackNow()
    expect(fs.readdirSync(notes)).toEqual([])
  })

  test('that cannot be written refuses nothing, and what is held is removed all the same', async () => {
    fs.chmodSync(notes, 0o777)
    const held = holdPlaceholders([put('.vscode')])
    expect(fs.readdirSync(notes)).toEqual([])
    expect(pathKind(path('.vscode'))).toBe('absent')
    await held.giveBack()
    expect(fs.existsSync(path('.vscode'))).toBe(false)
  })
})

describe.skipIf(!isLinux)('what a dead process left', () => {
  test('is removed, the deepest first, and its note with it', () => {
    const file = noted([put('.git'), put('.git/hooks'), path('gone')], DEAD)
    sweepPlaceholders()
    expect([fs.readdirSync(workspace), fs.existsSync(file)]).toEqual([[], false])
  })

  test('stays where something stands in it, where it is no folder, and where nobody noted it', () => {
    put('.git/hooks')
    put('.idea')
    fs.writeFileSync(path('.npmrc'), '')
    noted([path('.git'), path('.npmrc')], DEAD)
    sweepPlaceholders()
    expect(fs.readdirSync(workspace).sort()).toEqual(['.git', '.idea', '.npmrc'])
  })

  test('stays while a living process holds it too, and a process id that is used again is no life', () => {
    noted([put('.git'), put('.idea')], DEAD)
    const living = noted([path('.git')])
    sweepPlaceholders()
    expect(fs.readdirSync(workspace)).toEqual(['.git'])
    expect(fs.existsSync(living)).toBe(true)
  })

  test('is told by the run of the machine too; of a process in another container nobody can tell', () => {
    const before = noted([put('.git')], { boot: 'abc' })
    const elsewhere = noted([put('.idea')], { space: '1', start: '1' })
    sweepPlaceholders()
    expect(fs.readdirSync(workspace)).toEqual(['.idea'])
    expect([before, elsewhere].map((file) => fs.existsSync(file))).toEqual([false, true])
  })

  test('is not looked for through a link that has come in between, nor in notes that others could have written', () => {
    fs.mkdirSync(join(base, 'elsewhere/git'), { recursive: true })
    fs.symlinkSync(join(base, 'elsewhere'), path('.config'))
    noted([path('.config/git')], DEAD)
    sweepPlaceholders()
    expect(fs.existsSync(join(base, 'elsewhere/git'))).toBe(true)
    noted([put('.git')], DEAD)
    fs.chmodSync(notes, 0o770)
    sweepPlaceholders()
    expect(fs.existsSync(path('.git'))).toBe(true)
  })

  test('counts as absent until then; a real folder does not', () => {
    put('.git/hooks')
    noted([put('.idea'), path('.git')], DEAD)
    put('.vscode')
    const kinds = ['.idea', '.git', '.vscode'].map((name) => pathKind(path(name)))
    expect(kinds).toEqual(['absent', 'folder', 'folder'])
  })
})

describe.skipIf(!isLinux)('two living gates on one workspace', () => {
  test('the first that ends leaves what the other still needs, and the last one removes it', async () => {
    const file = noted([put('.git')])
    const ours = holdPlaceholders([path('.git'), put('.idea')])
    await ours.giveBack()
    expect(fs.readdirSync(workspace)).toEqual(['.git'])
    const again = holdPlaceholders([path('.git')])
    again.giveBackNow()
    expect(fs.readdirSync(workspace)).toEqual(['.git'])
    const last = holdPlaceholders([path('.git')])
    fs.rmSync(file)
    await last.giveBack()
    expect(fs.readdirSync(workspace)).toEqual([])
  })

  test('who holds a path waits for another one that is just removing it, for a bounded time', () => {
    noted([], {}, [put('.git')])
    const held = holdPlaceholders([path('.git')])
    expect(pathKind(path('.git'))).toBe('absent')
    held.giveBackNow()
    expect(fs.existsSync(path('.git'))).toBe(false)
  })
})
