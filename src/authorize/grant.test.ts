// Goal: a wider answer covers exactly what the person was shown, and nothing that the rules deny. Method: offers are made from
// real decisions, turned into grants, and held against calls that differ in one thing at a time.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileGlob } from '../base/glob.ts'
import type { JsonObject } from '../base/json-value.ts'
import type { Decision, Reach } from '../describe/decision.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import type { Tool } from '../describe/tool.ts'
import { type AskingCall, type Granted, grantCovers } from './grant.ts'
import { type Offer, offersFor } from './grant-offers.ts'
import { ANA, caller, entry, input, ROOTS } from './policy.fixture.ts'

const HOUR_MS = 3_600_000
const EDIT = entry('edit_file', { source: 'files', resolve: ((args: unknown) => args) as Tool['resolve'] })
const FETCH = entry('fetch', { effect: 'external' })

const asked = (reach: Reach | undefined): Decision =>
  Object.freeze({ kind: 'ask', by: 'default', reason: 'asked', policyVersion: 'v1', ...(reach && { reach }) })

/** A call of a file tool, which says what it touches. */
function edit(path: string, more: Partial<AskingCall> = {}, args: JsonObject = {}): AskingCall {
  const absolute = path.startsWith('/') ? path : `/ws/${path}`
  return {
    ...{ caller: ANA, workspace: 'main=/ws', entry: EDIT, decision: asked('pattern'), roots: ROOTS },
    askedBy: ['default write'],
    input: input({ path, ...args }, { touches: [`read file:${absolute}`, `write file:${absolute}`] }),
    ...more,
  }
}

function fetching(args: JsonObject, effect: DeclaredEffect = 'external'): AskingCall {
  return { ...edit('x'), entry: FETCH, input: input(args, { effect }) }
}

const offered = (call: AskingCall): readonly Reach[] => offersFor(call, HOUR_MS).map(({ reach }) => reach)

function offer(call: AskingCall, reach: Reach): Offer {
  const found = offersFor(call, HOUR_MS).find((one) => one.reach === reach)
  if (found === undefined) throw new Error(`no offer of ${reach}`)
  return found
}

/** The grant that this answer to this call leaves. */
function grantOf(call: AskingCall, reach: 'session' | 'pattern'): Granted {
  const { where, onlyNamed } = offer(call, reach)
  const { tenant, user, agent, session, task } = call.caller
  return {
    ...{ reach, tenant, user, agent, workspace: call.workspace },
    ...(reach === 'session' && { session }),
    ...(task && { task: task.name }),
    ...{ tool: call.entry.tool.name, fingerprint: call.entry.fingerprint, effect: call.input.effect },
    ...(where && { where }),
    ...(onlyNamed && { onlyNamed }),
    policyVersion: call.decision.policyVersion,
    askedBy: call.askedBy,
  }
}

test('a grant is good for what asked when it was given, and for nothing that asks besides', () => {
  const grant = grantOf(edit('docs/a.md'), 'session')
  expect(grantCovers(grant, edit('docs/b.md'))).toBe(true)
  expect(grantCovers(grant, edit('docs/b.md', { askedBy: ['rule 1'] }))).toBe(false)
  expect(grantCovers(grant, edit('docs/b.md', { askedBy: ['default write', 'rule 1'] }))).toBe(false)
  expect(grantCovers(grant, edit('docs/b.md', { askedBy: [] }))).toBe(false)
  expect(grantCovers({ ...grant, askedBy: [] }, edit('docs/b.md'))).toBe(false)
  const wider = { ...grant, askedBy: ['default write', 'rule 1'] }
  expect(grantCovers(wider, edit('docs/b.md', { askedBy: ['rule 1'] }))).toBe(true)
})

describe('what a person may choose from', () => {
  test('L18: where the rules say once, or nothing, nothing wider is offered; nor to a call that is not asked', () => {
    expect(offered(edit('docs/a.md', { decision: asked(undefined) }))).toEqual(['once'])
    expect(offered(edit('docs/a.md', { decision: asked('once') }))).toEqual(['once'])
    for (const kind of ['allow', 'deny'] as const)
      expect(offered(edit('docs/a.md', { decision: { ...asked('pattern'), kind } }))).toEqual(['once'])
  })

  test.each(['destructive', 'undeclared'] as const)(
    'a call that is %s is answered once, whatever the rules say',
    (effect) => {
      expect(offered(fetching({ url: 'a' }, effect))).toEqual(['once'])
      const call = fetching({ url: 'a' })
      expect(grantCovers({ ...grantOf(call, 'session'), effect }, fetching({ url: 'a' }, effect))).toBe(false)
    },
  )

  test('as far as the rules say and no further; `once` comes first and is one call', () => {
    expect(offered(edit('docs/a.md', { decision: asked('session') }))).toEqual(['once', 'session'])
    expect(offered(edit('docs/a.md'))).toEqual(['once', 'session', 'pattern'])
    expect(offer(edit('docs/a.md'), 'once')).toEqual({ reach: 'once', shown: 'this one call' })
  })

  test('a file tool is offered the folder of the file; a file at the top is offered by itself', () => {
    expect(offer(edit('docs/deep/a.md'), 'pattern')).toEqual({
      reach: 'pattern',
      where: { path: ['docs/deep/**'] },
      shown:
        'calls of `edit_file` with effect write by helper for ana in any session, where `path` is "docs/deep" or anything below it, however deep, whatever the other arguments are, for 1 h after the answer',
    })
    expect(offer(edit('a.md'), 'pattern').where).toEqual({ path: ['a.md'] })
    expect(offer(edit('docs/a.md', {}, { root: 'main' }), 'pattern').where).toEqual({
      path: ['docs/**'],
      root: ['main'],
    })
  })

  test('a tool that walks a folder is offered that folder, and not the one above it', () => {
    const walk = (path: string): AskingCall =>
      edit(path, { input: input({ path }, { effect: 'read', touches: [`read file:/ws/${path}/*`] }) })
    const grant = grantOf(walk('docs/deep'), 'pattern')
    expect(grant.where).toEqual({ path: ['docs/deep', 'docs/deep/**'] })
    expect(['docs/deep', 'docs/deep/er', 'docs', 'docs/other'].map((path) => grantCovers(grant, walk(path)))).toEqual([
      ...[true, true, false, false],
    ])
    const top = edit('.', { input: input({ path: '.' }, { effect: 'read', touches: ['read file:/ws/*'] }) })
    expect(offer(top, 'pattern').where).toEqual({ path: ['.'] })
  })

  test('another tool is offered exactly its values', () => {
    expect(offer(fetching({ url: 'https://a.test/x', tries: 3, follow: true }), 'pattern')).toEqual({
      reach: 'pattern',
      where: { url: ['https://a.test/x'], tries: ['3'], follow: ['true'] },
      onlyNamed: true,
      shown:
        'calls of `fetch` with effect external by helper for ana in any session, where `url` is exactly "https://a.test/x" and `tries` is exactly 3 and `follow` is exactly true and there are no other arguments, for 1 h after the answer',
    })
  })

  test('L21: where the values cannot be put into words, no pattern is kept: lists, objects, long texts, none at all', () => {
    const calls: readonly JsonObject[] = [
      { program: '/bin/zsh', args: ['-lc', 'whoami'] },
      { program: '/bin/zsh', options: { login: true } },
      { command: 'x'.repeat(201) },
      { command: '' },
      { command: null },
      {},
      Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`a${index}`, 'x'])),
      { 'a.b': 'x' },
    ]
    for (const args of calls) expect([args, offered(fetching(args))]).toEqual([args, ['once', 'session']])
  })

  test('a file tool that touches another file besides is offered no folder', () => {
    const two = edit('docs/a.md', {
      input: input({ path: 'docs/a.md', to: 'x' }, { touches: ['read file:/ws/docs/a.md', 'write file:/ws/x'] }),
    })
    expect(offer(two, 'pattern').onlyNamed).toBe(true)
    expect(grantCovers(grantOf(edit('docs/a.md'), 'pattern'), two)).toBe(false)
  })

  test('what hides in a name or value is written out in what is shown', () => {
    const call = fetching({ url: 'a\u202eb' })
    expect(offer(call, 'pattern').shown).toContain('"a\\u{202e}b"')
    expect(offer({ ...call, caller: caller({ user: 'ana\u200b' }) }, 'session').shown).toContain('ana\\u{200b}')
  })
})

describe('what a grant covers', () => {
  const first = edit('docs/a.md')
  const session = grantOf(first, 'session')
  const pattern = grantOf(first, 'pattern')

  test('L18: a deny stays a deny, and an ask that reaches less far stays an ask', () => {
    for (const grant of [session, pattern]) {
      expect(grantCovers(grant, edit('docs/a.md', { decision: { ...asked('pattern'), kind: 'deny' } }))).toBe(false)
      expect(grantCovers(grant, edit('docs/a.md', { decision: asked('once') }))).toBe(false)
    }
    expect(grantCovers(pattern, edit('docs/a.md', { decision: asked('session') }))).toBe(false)
    expect(grantCovers(session, edit('docs/a.md', { decision: asked('session') }))).toBe(true)
  })

  test('calls of the same caller, session, tool, definition, task, workspace and rules, and no others', () => {
    const others: readonly AskingCall[] = [
      edit('docs/a.md', { caller: caller({ tenant: 'x' }) }),
      edit('docs/a.md', { caller: caller({ user: 'x' }) }),
      edit('docs/a.md', { caller: caller({ agent: 'x' }) }),
      edit('docs/a.md', { caller: caller({ task: { name: 'x' } }) }),
      edit('docs/a.md', { workspace: 'main=/other' }),
      edit('docs/a.md', { entry: { ...EDIT, fingerprint: 'x' } }),
      edit('docs/a.md', { entry: entry('write_file', { resolve: EDIT.tool.resolve }) }),
      edit('docs/a.md', { decision: { ...asked('pattern'), policyVersion: 'v2' } }),
      edit('docs/a.md', {
        input: input({ path: 'docs/a.md' }, { effect: 'execute', touches: ['write file:/ws/docs/a.md'] }),
      }),
    ]
    for (const grant of [session, pattern]) {
      expect(grantCovers(grant, first)).toBe(true)
      for (const other of others) expect(grantCovers(grant, other)).toBe(false)
    }
    const elsewhere = edit('docs/a.md', { caller: caller({ session: 's2' }) })
    expect([grantCovers(session, elsewhere), grantCovers(pattern, elsewhere)]).toEqual([false, true])
  })

  test.each(['src/a.md', 'docsx/a.md', 'a.md', 'docs/../src/a', '/etc/docs/a.md', '.'])(
    'a folder pattern never covers %s',
    (path) => {
      expect(grantCovers(pattern, edit(path))).toBe(false)
    },
  )

  test.each(['docs/b.md', 'docs/deep/er/b.md'])('a folder pattern covers %s, whatever the other arguments', (path) => {
    expect(grantCovers(pattern, edit(path, {}, { find: 'x', replace: 'y' }))).toBe(true)
  })

  test('in another root it covers nothing', () => {
    const rooted = grantOf(edit('docs/a.md', {}, { root: 'main' }), 'pattern')
    expect(grantCovers(rooted, edit('docs/b.md', {}, { root: 'main' }))).toBe(true)
    expect(grantCovers(rooted, edit('docs/b.md', {}, { root: 'other' }))).toBe(false)
    expect(grantCovers(rooted, edit('docs/b.md'))).toBe(false)
  })

  test('L21: exact values cover no other value, no further argument and no argument less', () => {
    const call = fetching({ url: 'https://a.test/x', tries: 3 })
    const grant = grantOf(call, 'pattern')
    expect(grantCovers(grant, call)).toBe(true)
    for (const args of [
      { url: 'https://a.test/xy', tries: 3 },
      { url: 'https://a.test/x', tries: 4 },
      { url: 'https://a.test/x' },
      { url: 'https://a.test/x', tries: 3, method: 'DELETE' },
      { url: ['https://a.test/x'], tries: 3, more: [] },
      {},
    ])
      expect([args, grantCovers(grant, fetching(args))]).toEqual([args, false])
  })

  test('L21: exact values cover no other spelling, no list of them, and no text for a number or a number for a text', () => {
    const text = grantOf(fetching({ query: 's/x', code: '5' }), 'pattern')
    const number = grantOf(fetching({ query: 's/x', code: 5 }), 'pattern')
    expect(grantCovers(text, fetching({ code: '5', query: 's/x' }))).toBe(true)
    expect(grantCovers(number, fetching({ code: 5, query: 's/x' }))).toBe(true)
    expect(grantCovers(text, fetching({ query: 's/x', code: 5 }))).toBe(false)
    expect(grantCovers(number, fetching({ query: 's/x', code: '5' }))).toBe(false)
    for (const query of ['s/x//', './s/x', 's//x', 's/x/.', '/ws/s/x', ['s/x'], ['s/x', 's/x'], [], { a: 's/x' }, null])
      expect([query, grantCovers(number, fetching({ query, code: 5 }))]).toEqual([query, false])
    expect(grantCovers(number, fetching({ query: 's/x', code: [5, 5] }))).toBe(false)
    const flag = grantOf(fetching({ force: true }), 'pattern')
    expect([true, 'true', [true]].map((force) => grantCovers(flag, fetching({ force })))).toEqual([true, false, false])
  })

  test('a grant without a pattern is good for its session alone; globs that cannot be read cover nothing', () => {
    const { where: _, ...open } = pattern
    expect(grantCovers(open, first)).toBe(false)
    expect(grantCovers({ ...pattern, where: {} }, first)).toBe(false)
    expect(grantCovers({ ...pattern, where: { path: ['docs/['] } }, first)).toBe(false)
    expect(grantCovers({ ...pattern, where: { path: [] } }, first)).toBe(false)
    expect(grantCovers({ ...session, reach: 'once' }, first)).toBe(false)
  })

  test('never wider than shown: exact values cover equal values alone, whatever stands in them', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '*', '?', '[', ']', '{', '}', ',', '!', '\\', '/', '-', ' '),
      maxLength: 6,
    })
    fc.assert(
      fc.property(text, text, (one, other) => {
        const call = fetching({ value: one })
        if (!offered(call).includes('pattern')) return
        const grant = grantOf(call, 'pattern')
        expect(grantCovers(grant, fetching({ value: other }))).toBe(one === other)
        const [glob = ''] = grant.where?.value ?? []
        const compiled = compileGlob(glob)
        expect(compiled.kind === 'ok' && compiled.matches(other)).toBe(one === other)
      }),
      { numRuns: 500 },
    )
  })
})
