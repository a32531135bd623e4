// Goal: an answer is bound to exactly one call, and the person who gives it has seen all of that call. Method: change one
// thing at a time and compare digests; render hostile arguments and look for what could be hidden or forged.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../base/digest.ts'
import type { JsonObject } from '../base/json-value.ts'
import { type BoundCall, callDigest, openApproval } from './approval.ts'
import { offersFor } from './grant-offers.ts'
import { ANA, caller, entry, input, policyOf, ROOTS } from './policy.fixture.ts'
import { renderCall } from './render-call.ts'

const TOOL = entry('write_file', { source: 'files' })

describe('the digest of a call', () => {
  const bound: BoundCall = {
    caller: caller({ task: { name: 'triage' } }),
    workspace: 'main=/ws',
    fingerprint: 'f',
    argumentsText: '{"path":"a"}',
    policyVersion: 'v',
  }
  const withCaller = (more: Parameters<typeof caller>[0]): BoundCall => ({
    ...bound,
    caller: caller({ task: { name: 'triage' }, ...more }),
  })

  test('is another one for another caller, task, step, parent, workspace, definition, argument or policy', () => {
    const parent = caller({ task: { name: 'triage' } })
    const digests = [
      bound,
      withCaller({ tenant: 'other' }),
      withCaller({ user: 'bo' }),
      withCaller({ agent: 'other' }),
      withCaller({ task: { name: 'other' } }),
      { ...bound, caller: ANA },
      withCaller({ step: 'change' }),
      withCaller({ step: 'publish' }),
      withCaller({ parent }),
      withCaller({ parent: caller({ ...parent, agent: 'other' }) }),
      withCaller({ parent: caller({ ...parent, user: 'bo' }) }),
      withCaller({ parent: caller({ ...parent, step: 'change' }) }),
      withCaller({ parent: caller({ ...parent, task: { name: 'other' } }) }),
      withCaller({ parent: caller({ ...parent, parent }) }),
      { ...bound, workspace: 'main=/other' },
      { ...bound, fingerprint: 'g' },
      { ...bound, argumentsText: '{"path":"b"}' },
      { ...bound, argumentsText: '{"path":"a" }' },
      { ...bound, policyVersion: 'w' },
    ].map(callDigest)
    expect(new Set(digests).size).toBe(digests.length)
    for (const digest of digests) expect(digest).toMatch(/^[0-9a-f]{64}$/)
  })

  test('is the same for an equal call of another conversation, role or task list: these narrow, and are decided anew', () => {
    expect(callDigest(withCaller({ session: 's2', roles: [], task: { name: 'triage', allow: ['*'] } }))).toBe(
      callDigest(bound),
    )
  })

  test('a child is not its parent, and no step is not a step called `null`', () => {
    const child = { ...bound, caller: caller({ parent: ANA }) }
    expect(callDigest(child)).not.toBe(callDigest({ ...bound, caller: ANA }))
    expect(callDigest(withCaller({ step: 'null' }))).not.toBe(callDigest(bound))
  })

  test('a caller whose task is called `null` is not one without a task', () => {
    expect(callDigest(withCaller({ task: { name: 'null' } }))).not.toBe(callDigest({ ...bound, caller: ANA }))
  })

  test('nothing can be moved from one part into the next', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '[', '\\', '\n', '\ud800'), maxLength: 4 })
    const call = fc.record({ tenant: text, user: text, agent: text, workspace: text, fingerprint: text })
    const digestOf = ({
      tenant,
      user,
      agent,
      workspace,
      fingerprint,
    }: {
      tenant: string
      user: string
      agent: string
      workspace: string
      fingerprint: string
    }) => callDigest({ ...bound, caller: caller({ tenant, user, agent }), workspace, fingerprint })
    fc.assert(
      fc.property(call, call, (one, other) => {
        expect(digestOf(one) === digestOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('the question', () => {
  const decision = policyOf({}).decide(ANA, TOOL, input({ path: 'a' }))
  const parts = {
    call: { caller: ANA },
    entry: TOOL,
    input: input({ path: 'a' }),
    decision,
    workspace: 'main=/ws',
    askedBy: ['default write'],
    roots: ROOTS,
    digest: 'd',
    openedAt: 1_000,
  }

  test('holds the call, the reason and what is shown, and ends after an hour', () => {
    expect(openApproval(parts)).toEqual({
      id: expect.stringMatching(/^apr_[0-9a-f]{32}$/),
      digest: 'd',
      state: 'open',
      tenant: 'acme',
      user: 'ana',
      agent: 'helper',
      session: 's1',
      tool: 'write_file',
      fingerprint: TOOL.fingerprint,
      effect: 'write',
      policyVersion: decision.policyVersion,
      reason: decision.reason,
      shown: renderCall(TOOL, parts.input),
      workspace: 'main=/ws',
      askedBy: ['default write'],
      offers: offersFor({ ...parts, caller: ANA }, 12 * 3_600_000),
      openedAt: 1_000,
      expiresAt: 3_601_000,
    })
    expect(openApproval({ ...parts, expiresMs: 5 }).expiresAt).toBe(1_005)
    expect(openApproval({ ...parts, call: { caller: caller({ task: { name: 'triage' } }) } }).task).toBe('triage')
    expect(openApproval(parts).id).not.toBe(openApproval(parts).id)
  })

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'an end after %s ms is a fault of whoever asks for it',
    (expiresMs) => {
      expect(() => openApproval({ ...parts, expiresMs })).toThrow(RangeError)
    },
  )
})

describe('what a person is shown', () => {
  const show = (args: JsonObject): string => renderCall(TOOL, input(args))
  const lines = (args: JsonObject): readonly string[] => show(args).split('\n')

  test('every argument, with tool, source, effect and the digest of all arguments', () => {
    const given = input({
      path: 'docs/a.md',
      all: true,
      count: 5,
      none: null,
      tags: ['a', 'b'],
      author: { name: 'ana' },
    })
    expect(renderCall(TOOL, given).split('\n')).toEqual([
      'write_file 1.0.0, source files, effect write',
      'path: "docs/a.md"',
      'all: true',
      'count: 5',
      'none: null',
      'tags: ["a","b"]',
      'author: {"name":"ana"}',
      `arguments: ${given.text.length} bytes, sha256 ${sha256(given.text)}`,
    ])
  })

  test('a text of several lines cannot pass for an argument or for the end', () => {
    const content = 'x\npath: "docs/ok.md"\narguments: 2 bytes, sha256 0\n… 5 of 6 characters are not shown …'
    const shown = lines({ path: 'src/evil', content })
    expect(shown).toContain('| path: "docs/ok.md"')
    expect(shown.filter((line) => line.startsWith('path: '))).toEqual(['path: "src/evil"'])
    expect(shown.filter((line) => line.startsWith('arguments: '))).toHaveLength(1)
    expect(shown.filter((line) => line.startsWith('… '))).toHaveLength(0)
  })

  test('what hides is written out and flagged at the top', () => {
    const shown = lines({ path: 'a\u202egpj.exe', content: 'one\u200b\ntwo\u001b[2K\r\n', 'na\u0000me': 'p\u0430th' })
    expect(shown[0]).toBe('! 6 hidden or misleading characters are written out as \\u{…}')
    expect(shown).toContain('path: "a\\u{202e}gpj.exe"')
    expect(shown).toContain('| one\\u{200b}')
    expect(shown).toContain('| two\\u{1b}[2K\\u{d}')
    expect(shown).toContain('"na\\u{0}me": "p\\u{430}th"')
    expect(lines({ path: 'plain' })[0]).toBe('write_file 1.0.0, source files, effect write')
  })

  test('a quote or a typed escape does not end a value or pass for a character', () => {
    expect(lines({ path: 'a" all: "x' })).toContain('path: "a\\" all: \\"x"')
    expect(lines({ path: 'a\\u{202e}b' })).toContain('path: "a\\\\u{202e}b"')
    expect(lines({ path: 'a\tb\u0007' })).toEqual(expect.arrayContaining(['path: "a\\u{9}b\\u{7}"']))
  })

  test('controls inside nested values are counted, typed escapes are not', () => {
    expect(lines({ nested: ['\u0007', '\u202e'] })[0]).toContain('! 2 hidden')
    expect(lines({ nested: ['\\u0007', 'a\nb'] })[0]).toContain('write_file')
  })

  test('nothing that is shown hides, whatever stands in the arguments', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string({ unit: 'binary', maxLength: 8 }),
          fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.jsonValue()),
          { maxKeys: 6 },
        ),
        (args) => {
          for (const line of show(args as JsonObject).split('\n'))
            expect(line.replaceAll('\t', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('L82: what the decision rests on is shown as it is, even where it looks like a secret or like a mask', () => {
    const args = {
      path: 'secrets/token.txt',
      command: 'curl -H "Authorization: Bearer sk-live-0123456789abcdef"; rm -rf build',
      password: 'hunter2',
      apiKey: '***',
      url: 'https://ana:pw@example.com/x?token=abc',
    }
    const shown = show(args)
    for (const value of Object.values(args)) expect(shown).toContain(JSON.stringify(value))
    for (const name of Object.keys(args)) expect(shown).toContain(`${name}: `)
  })

  test('a long value is its beginning and its end, with size and digest of the whole, and the cut is said', () => {
    const content = `START${'x'.repeat(50_000)}rm -rf /END`
    const shown = lines({ path: 'a', content })
    expect(shown).toContain(`content (text, ${content.length} characters, sha256 ${sha256(content)}):`)
    expect(shown.some((line) => line.startsWith('| START'))).toBe(true)
    expect(shown.some((line) => line.endsWith('rm -rf /END'))).toBe(true)
    expect(shown).toContain(`… ${content.length - 4_000} of ${content.length} characters are not shown …`)
    expect(show({ path: 'a', content }).length).toBeLessThan(6_000)
  })

  test('a cut never splits a character, and long JSON is cut like text', () => {
    const shown = show({
      content: `x${'\u{1f600}'.repeat(40_000)}`,
      list: Array.from({ length: 5_000 }, (_, index) => index),
    })
    expect(shown).not.toContain('\\u{d83d}')
    expect(shown).not.toContain('\\u{de00}')
    expect(shown).toMatch(/^list \(JSON, \d+ characters, sha256 [0-9a-f]{64}\):$/m)
  })

  test('a small value beside a huge one is shown whole', () => {
    const shown = lines({ aaa: 'x'.repeat(900_000), path: 'p'.repeat(190), zzz: 'y'.repeat(900_000) })
    expect(shown).toContain(`path: "${'p'.repeat(190)}"`)
  })

  test('many arguments stay bounded, and how many are left out is said', () => {
    const args = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 'v'.repeat(100)]))
    const shown = lines(args)
    expect(shown).toContain('… 9744 of 10000 arguments are not shown …')
    expect(shown.some((line) => line.startsWith('k0 '))).toBe(true)
    expect(shown.some((line) => line.startsWith('k9999 '))).toBe(true)
    expect(show(args).length).toBeLessThan(64_000)
    const all = lines(Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`k${index}`, 1])))
    expect(all.filter((line) => line.startsWith('k'))).toHaveLength(256)
  })

  test('a long name is cut and said, and a name with a line break stays on its line', () => {
    const shown = lines({ ['n'.repeat(5_000)]: 1, 'a\npath': 'x', '': 2 })
    expect(shown).toContain(`"${'n'.repeat(120)}"… (a name of 5000 characters): 1`)
    expect(shown).toContain('"a\\u{a}path": "x"')
    expect(shown).toContain('"": 2')
  })

  test('a name of a prototype member is a name', () => {
    expect(lines(JSON.parse('{"__proto__":"x","constructor":1}'))).toEqual(
      expect.arrayContaining(['__proto__: "x"', 'constructor: 1']),
    )
  })
})
