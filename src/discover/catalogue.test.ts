// Goal: exactly one entry answers to a name, a clash sinks nobody else, and what is listed is what can be called.

import { describe, expect, test } from 'vitest'
import type { Caller } from '../describe/caller.ts'
import { defineTool } from '../describe/define-tool.ts'
import type { Entry } from '../describe/entry.ts'
import type { Layer } from '../describe/layer.ts'
import type { Tool } from '../describe/tool.ts'
import { Catalogue } from './catalogue.ts'
import { Views } from './view.ts'

const tool = (name: string, more: object = {}): Tool =>
  defineTool({
    name,
    version: '1.0.0',
    description: `Does ${name}.`,
    input: { type: 'object' },
    effect: 'read',
    run: () => name,
    ...more,
  }) as Tool
const origin = (source: string, layer: Layer = 'domain') => ({ source, layer, identity: source, foreign: true })
const offer = (...tools: Tool[]) => tools.map((one) => ({ kind: 'tool', tool: one }) as const)
const caller = Object.freeze({ tenant: 't', user: 'u', agent: 'a', roles: [], session: 's' })
const views = (catalogue: Catalogue, admits: (asking: Caller, entry: Entry) => boolean = () => true) =>
  new Views({
    catalogue,
    denies: (asking, entry) => (admits(asking, entry) ? undefined : DENIED),
    hides: () => undefined,
    version: () => 0,
    inWorkspace: () => false,
  })
const DENIED = { kind: 'deny', by: 'rule', reason: 'no', policyVersion: 'v' } as const
const names = (catalogue: Catalogue) =>
  views(catalogue)
    .list(caller)
    .map(({ name }) => name)

describe('find', () => {
  test('names match exactly: no folding of case, no guess, no word of other tools', () => {
    const catalogue = new Catalogue()
    catalogue.replace(origin('one'), offer(tool('read_file')))
    const found = catalogue.find('Read_File')
    expect(found).toMatchObject({ kind: 'missing', code: 'not_found' })
    expect(JSON.stringify(found)).not.toContain('read_file')
    expect(catalogue.find('read_file').kind).toBe('found')
  })

  test('L04: names of Object members are ordinary names, and unknown until somebody registers them', () => {
    const catalogue = new Catalogue()
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(catalogue.find(name)).toMatchObject({ kind: 'missing' })
      catalogue.replace(origin(`s-${name}`), offer(tool(name)))
      expect(catalogue.find(name)).toMatchObject({ kind: 'found', entry: { tool: { name } } })
    }
  })

  test('a retired tool is not found', () => {
    const catalogue = new Catalogue()
    catalogue.add(origin('one'), tool('a'))
    expect(catalogue.retire('one', 'a')).toBe(true)
    expect(catalogue.find('a')).toMatchObject({ kind: 'missing', code: 'not_found' })
    expect(catalogue.retire('one', 'a')).toBe(false)
  })

  test('while a source starts, a name that nobody knows is unavailable, not missing', () => {
    const catalogue = new Catalogue()
    catalogue.starting('slow', true)
    expect(catalogue.find('a')).toMatchObject({ code: 'unavailable' })
    catalogue.starting('slow', false)
    expect(catalogue.find('a')).toMatchObject({ code: 'not_found' })
  })
})

describe('layers', () => {
  test('a stronger layer shadows a weaker one, visibly, in whatever order they come', () => {
    for (const order of [
      ['strong', 'weak'],
      ['weak', 'strong'],
    ]) {
      const catalogue = new Catalogue()
      for (const source of order)
        catalogue.replace(origin(source, source === 'strong' ? 'system' : 'discovered'), offer(tool('a')))
      expect(catalogue.find('a')).toMatchObject({ entry: { source: 'strong' } })
      expect(catalogue.items().find(({ entry }) => entry.source === 'weak')?.shadowedBy).toBe('strong')
    }
  })

  test('a clash inside one layer holds both back, names both sources and leaves all others working', () => {
    const catalogue = new Catalogue()
    catalogue.replace(origin('one'), offer(tool('a'), tool('b')))
    catalogue.replace(origin('two'), offer(tool('a'), tool('c')))
    expect(catalogue.find('a')).toMatchObject({ kind: 'missing', code: 'unavailable' })
    expect(
      catalogue
        .items()
        .filter(({ entry }) => entry.tool.name === 'a')
        .map(({ entry }) => entry.state),
    ).toEqual([
      { kind: 'held', reason: expect.stringContaining('one and two') },
      { kind: 'held', reason: expect.stringContaining('one and two') },
    ])
    expect(names(catalogue)).toEqual(['b', 'c'])
  })

  test('of several versions of one source the newest answers', () => {
    const catalogue = new Catalogue()
    catalogue.replace(
      origin('one'),
      offer(tool('a', { version: '1.9.0' }), tool('a', { version: '1.10.0' }), tool('a', { version: '1.10.0-beta' })),
    )
    expect(catalogue.find('a')).toMatchObject({ entry: { tool: { version: '1.10.0' } } })
  })
})

describe('registering', () => {
  test('L65: a schema that does not compile makes its tool uncallable, says why, and sinks no sibling', () => {
    const catalogue = new Catalogue()
    catalogue.replace(
      origin('one'),
      offer(tool('bad', { input: { type: 'object', properties: { a: { $ref: '#/$defs/missing' } } } }), tool('good')),
    )
    expect(catalogue.find('bad')).toMatchObject({ kind: 'missing', code: 'unavailable' })
    expect(catalogue.warnings().join()).toContain('`bad`')
    expect(names(catalogue)).toEqual(['good'])
  })

  test('an example that its own schema refuses holds the tool', () => {
    const catalogue = new Catalogue()
    const input = { type: 'object', properties: { n: { type: 'integer' } } } as const
    catalogue.replace(
      origin('one'),
      offer(tool('a', { input, examples: [{ n: 1 }] }), tool('b', { input, examples: [{ n: 'x' }] })),
    )
    expect(names(catalogue)).toEqual(['a'])
  })

  test('registering again swaps listing, check and fingerprint in one step', () => {
    const catalogue = new Catalogue()
    catalogue.add(origin('one'), tool('a'))
    const before = catalogue.find('a')
    catalogue.add(origin('one'), tool('a', { description: 'Does something else.' }))
    const after = catalogue.find('a')
    if (before.kind !== 'found' || after.kind !== 'found') throw new Error('expected both')
    expect(after.entry.fingerprint).not.toBe(before.entry.fingerprint)
    expect(after.entry.listing?.description).toBe('Does something else.')
    expect(names(catalogue)).toEqual(['a'])
  })

  test('the fingerprint covers schemas, effect and source, not the order of keys', () => {
    const print = (source: string, more: object) => {
      const catalogue = new Catalogue()
      catalogue.replace(origin(source), offer(tool('a', more)))
      const found = catalogue.find('a')
      return found.kind === 'found' ? found.entry.fingerprint : ''
    }
    const plain = print('one', { input: { type: 'object', title: 'x' } })
    expect(print('one', { input: { title: 'x', type: 'object' } })).toBe(plain)
    for (const other of [
      print('two', { input: { type: 'object', title: 'x' } }),
      print('one', { input: { type: 'object', title: 'y' } }),
      print('one', { input: { type: 'object', title: 'x' }, effect: 'write' }),
    ]) {
      expect(other).not.toBe(plain)
    }
  })

  test('a description above its budget is cut, and both the model and the author are told', () => {
    const catalogue = new Catalogue()
    catalogue.add(origin('one'), tool('a', { description: 'One sentence. '.repeat(600) }))
    const found = catalogue.find('a')
    const text = found.kind === 'found' ? (found.entry.listing?.description ?? '') : ''
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096)
    expect(text).toContain('One sentence.\n[cut')
    expect(catalogue.warnings().join()).toContain('is cut')
  })
})

describe('views', () => {
  test('seen-is-callable: the listing holds what find answers and the policy admits, in a stable order', () => {
    const catalogue = new Catalogue()
    catalogue.replace(origin('one'), offer(tool('c'), tool('a'), tool('b')))
    const seen = views(catalogue, (_caller, entry) => entry.tool.name !== 'b')
    expect(seen.list(caller).map(({ name }) => name)).toEqual(['a', 'c'])
    expect(seen.list(caller)).toBe(seen.list(caller))
    catalogue.retire('one', 'a')
    expect(seen.list(caller).map(({ name }) => name)).toEqual(['c'])
  })

  test('a tool with an admit of its own is asked each time', () => {
    const catalogue = new Catalogue()
    let open = true
    catalogue.replace(origin('one'), offer(tool('a', { admit: () => open })))
    const seen = views(catalogue, (asking, { tool: asked }) => asked.admit?.(asking) === true)
    expect(seen.list(caller)).toHaveLength(1)
    open = false
    expect(seen.list(caller)).toHaveLength(0)
  })
})

test('a command that leaves its sandbox is another definition; the bounds of its time are not part of it', () => {
  const fingerprintOf = (more: object): string | undefined => {
    const catalogue = new Catalogue()
    const command = defineTool({
      ...{ name: 'command', version: '1.0.0', description: 'Runs.', input: { type: 'object' }, effect: 'execute' },
      run: () => 1,
      ...more,
    } as never) as Tool
    return catalogue.add({ source: 'host', layer: 'user', identity: '', foreign: false }, command).fingerprint
  }
  const places = [{}, { place: 'child' }, { place: 'child', sandbox: 'required' }, { place: 'child', sandbox: 'off' }]
  expect(new Set(places.map(fingerprintOf)).size).toBe(4)
  expect(fingerprintOf({ place: 'child', sandbox: 'preferred' })).toBe(fingerprintOf({ place: 'child' }))
  expect(fingerprintOf({ deadlineMs: 5, retry: { times: 1 } })).toBe(fingerprintOf({}))
})
