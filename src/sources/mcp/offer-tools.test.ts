import { describe, expect, test } from 'vitest'
import type { OfferedTool } from '../../describe/source.ts'
import { effectRules } from './effect-rules.ts'
import { offerTools } from './offer-tools.ts'

const good = { name: 'fine', description: 'Does well.', inputSchema: { type: 'object' } }
const offer = (listed: readonly unknown[], effects = {}) =>
  offerTools(listed, {
    server: 'srv',
    rules: effectRules(effects, false),
    deadlineMs: undefined,
    idleMs: undefined,
    run: async () => 'ran',
  })

const names = (tools: readonly OfferedTool[]): readonly string[] =>
  tools.map((offered) => (offered.kind === 'tool' ? offered.tool.name : `!${offered.name}`))

/** The problem of the one tool that does not hold, beside a sibling that must stay. */
function problemOf(raw: unknown): string {
  const { tools } = offer([good, raw])
  expect(names(tools)).toContain('mcp__srv__fine')
  const [bad] = tools.filter((offered) => offered.kind === 'problem')
  return bad?.problem ?? 'none'
}

describe('a definition that does not hold is held back alone (G37)', () => {
  test.each([
    ['no object', 'x'],
    ['no name', { description: 'd', inputSchema: { type: 'object' } }],
    ['a name that is no text', { ...good, name: 5 }],
    ['a blank in the name', { ...good, name: 'a b' }],
    ['a look-alike letter in the name', { ...good, name: '\u0430dd' }],
    ['a name of every object', { ...good, name: 'constructor' }],
    ['a description that is no text', { ...good, name: 't', description: 7 }],
    ['a monstrous description', { ...good, name: 't', description: 'a'.repeat(200_000) }],
    ['no input schema', { name: 't', description: 'd' }],
    ['an input schema that is no object', { ...good, name: 't', inputSchema: 'string' }],
    ['an input schema of another type', { ...good, name: 't', inputSchema: { type: 'array' } }],
    ['an output schema that is no object', { ...good, name: 't', outputSchema: [] }],
    ['zero-width characters', { ...good, name: 't', description: 'Adds.\u200b\u200cx' }],
    ['a change of direction', { ...good, name: 't', description: 'Adds.\u202eevil' }],
    ['concealed terminal text', { ...good, name: 't', description: 'Adds.\u001b[8mhidden\u001b[0m' }],
    ['tag characters', { ...good, name: 't', description: 'Adds.\u{e0069}\u{e0067}' }],
    ['NUL', { ...good, name: 't', description: 'Adds.\u0000x' }],
    ['an overwritten line', { ...good, name: 't', description: 'Adds.\rx' }],
    ['something hidden in a title', { ...good, name: 't', title: 'T\u2060' }],
    ['something hidden in an annotation', { ...good, name: 't', annotations: { title: 'T\u2060' } }],
    [
      'something hidden in a property name',
      { ...good, name: 't', inputSchema: { type: 'object', properties: { 'a\u200b': {} } } },
    ],
    [
      'something hidden in an enum',
      { ...good, name: 't', inputSchema: { type: 'object', properties: { a: { enum: ['x', 'y\u202e'] } } } },
    ],
    [
      'something hidden in the output schema',
      { ...good, name: 't', outputSchema: { type: 'object', description: '\u{e0041}' } },
    ],
  ])('%s', (_what, raw) => {
    expect(problemOf(raw)).not.toBe('none')
  })

  test.each([
    ['accents', 'Ajoute deux nombres élèves'],
    ['a joiner that Persian needs', 'نمونه\u200cها'],
    ['emoji with joiners', 'A family: 👨‍👩‍👧'],
    ['lines and tabs', 'One.\n\tTwo.\r\nThree.'],
    ['words that only sound dangerous', 'Do not ignore previous errors; runs `rm -rf` on the build folder. IMPORTANT'],
    ['a description of 4 to 16 KiB, which is cut later', 'Long. '.repeat(1_000)],
  ])('%s: the tool can be called', (_what, description) => {
    const { tools } = offer([{ ...good, name: 't', description }])
    expect(names(tools)).toEqual(['mcp__srv__t'])
  })
})

describe('names that fall together', () => {
  test('L63: `a.b` and `a_b` would be one name: both are held back, named, and a third stays', () => {
    const { tools } = offer([
      { ...good, name: 'a.b' },
      { ...good, name: 'a_b' },
      { ...good, name: 'a-b' },
    ])
    expect(names(tools)).toEqual(['!mcp__srv__a_b', 'mcp__srv__a-b'])
    expect(tools[0]).toMatchObject({
      problem: '2 tools of `srv` cannot be told apart under this name: "a.b" and "a_b"',
    })
  })

  test('the same name listed twice, and names that differ only in case, are held back', () => {
    expect(names(offer([good, good]).tools)).toEqual(['!mcp__srv__fine'])
    expect(names(offer([good, { ...good, name: 'Fine' }]).tools)).toEqual(['!mcp__srv__fine', '!mcp__srv__Fine'])
  })

  test("a name that could be another server's is a name of this one all the same", () => {
    expect(names(offer([{ ...good, name: 'b__c' }]).tools)).toEqual(['mcp__srv__b__c'])
  })
})

describe('what is offered', () => {
  test('tools after the first 512 cannot be called, and the number is said', () => {
    const { tools, warnings } = offer(Array.from({ length: 100_000 }, (_, index) => ({ ...good, name: `t${index}` })))
    expect(tools.filter(({ kind }) => kind === 'tool')).toHaveLength(512)
    expect(tools.length).toBeLessThanOrEqual(1_024)
    expect(warnings).toEqual(['it lists 100000 tools; the first 512 can be called'])
  })

  test('L62: missing properties and a missing type are filled in, and the rest of the schema is kept word for word', () => {
    const [offered] = offer([{ name: 't', inputSchema: { required: ['a'], 'x-vendor': 1 } }]).tools
    expect(offered).toMatchObject({
      kind: 'tool',
      tool: {
        input: { type: 'object', properties: {}, required: ['a'], 'x-vendor': 1 },
        description: '`t` of srv, which does not describe it.',
      },
    })
  })

  test('a reading tool can be asked again; every other one cannot', () => {
    const { tools } = offer([good, { ...good, name: 'other' }], { fine: 'read' })
    expect(tools).toMatchObject([
      { tool: { effect: 'read', repeat: 'safe', place: 'upstream' } },
      { tool: { effect: 'undeclared', repeat: 'never' } },
    ])
  })

  test("an operator's effect that fits no tool is said", () => {
    expect(offer([good], { 'get_*': 'read' }).warnings).toEqual(['`effects` has `get_*`, which fits no tool of it'])
  })

  test('any change of a definition changes its digest, and only its own', () => {
    const before = offer([good, { ...good, name: 'other' }]).digests
    const after = offer([
      { ...good, description: 'Does better.' },
      { ...good, name: 'other' },
    ]).digests
    expect(after.get('fine')).not.toBe(before.get('fine'))
    expect(after.get('other')).toBe(before.get('other'))
  })
})
