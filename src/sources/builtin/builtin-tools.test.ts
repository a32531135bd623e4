import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { GateConfigError } from '../../describe/gate-config-error.ts'
import { NO_REDACTION } from '../../describe/redactor.ts'
import type { SourceState } from '../../describe/source.ts'
import { type BuiltinFamily, builtinTools } from './builtin-tools.ts'
import { FileFixture, KeptImages, validatorOf } from './files/file-tools.fixture.ts'

let files: FileFixture

beforeEach(async () => {
  files = await new FileFixture().start()
})
afterEach(() => files.close())

it('a family that does not exist is a configuration error', () => {
  expect(() => builtinTools(['files', 'magic' as BuiltinFamily])).toThrow(GateConfigError)
  expect(() => builtinTools(['constructor' as BuiltinFamily])).toThrow(/`constructor`/)
})

it('offers each file tool with its effect', () => {
  expect(files.tools.map(({ name, effect, repeat }) => `${name} ${String(effect)} ${repeat}`)).toEqual([
    'read_file read safe',
    'list_dir read safe',
    'find_files read safe',
    'search_text read safe',
    'write_file write safe',
    'edit_file write never',
    'move_file write never',
    'delete_file destructive never',
    'undo_change write never',
  ])
})

it('no families, no tools', async () => {
  const offered: unknown[] = []
  await builtinTools([]).start({
    workspace: { roots: new Map(), own: { paths: () => [] } },
    images: new KeptImages(),
    redactor: NO_REDACTION,
    clock: systemClock,
    machine: () => Promise.reject(new Error('nobody asks for it here')),
    offer: (tools) => offered.push(...tools),
    report: () => {},
    log: () => {},
  })
  expect(offered).toEqual([])
})

it('a root that is gone fails the source and says why', async () => {
  const states: SourceState[] = []
  await builtinTools(['files']).start({
    workspace: { roots: new Map([['main', `${files.base}/absent`]]), own: { paths: () => [] } },
    images: new KeptImages(),
    redactor: NO_REDACTION,
    clock: systemClock,
    machine: () => Promise.reject(new Error('nobody asks for it here')),
    offer: () => {},
    report: (state) => states.push(state),
    log: () => {},
  })
  expect(states).toEqual([{ kind: 'failed', reason: expect.stringContaining('absent') }])
})

describe('every file tool', () => {
  it('refuses unknown fields, and takes its own examples', () => {
    for (const tool of files.tools) {
      const validate = validatorOf(tool.input)
      for (const example of tool.examples ?? []) {
        expect(validate(example), tool.name).toBe(true)
        expect(validate({ ...(example as object), more: 1 }), tool.name).toBe(false)
      }
      expect(tool.examples?.length, tool.name).toBeGreaterThan(0)
    }
  })

  it('has `root` only where there are several roots', async () => {
    expect(JSON.stringify(files.tools)).not.toContain('"root"')
    const two = await new FileFixture().start({ roots: ['ws', 'docs'] })
    const withRoot = two.tools.filter(({ input }) => JSON.stringify(input).includes('"root"')).map(({ name }) => name)
    expect(withRoot).toEqual(two.tools.map(({ name }) => name).filter((name) => name !== 'undo_change'))
    two.close()
  })
})
