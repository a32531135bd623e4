// The schema that editors get: the file in the package is the one that the shapes make, it takes what the reader takes,
// and it refuses what the reader refuses for its form.

import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { configurationSchema } from './config-schema.ts'

const root = new URL('../../../', import.meta.url)
const validate = new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true }).compile(configurationSchema)

describe('schema/lockgate.schema.json', () => {
  it('is what the shapes make (node scripts/write-schema.mjs)', () => {
    expect(JSON.parse(readFileSync(new URL('schema/lockgate.schema.json', root), 'utf8'))).toEqual(configurationSchema)
  })

  it('takes the quickstart', () => {
    expect(
      validate(parse(readFileSync(new URL('examples/quickstart/lockgate.yaml', root), 'utf8'))),
      JSON.stringify(validate.errors),
    ).toBe(true)
  })

  it.each([
    ['an unknown key', { version: 1, profil: 'coding' }],
    ['no version', {}],
    ['another version', { version: 2 }],
    ['a source of two kinds', { version: 1, sources: { a: { command: 'x', url: 'https://x.y' } } }],
    ['a source with `__` in its name', { version: 1, sources: { a__b: { command: 'x' } } }],
    ['a rule with two answers', { version: 1, policy: { rules: [{ allow: 'a', deny: 'b' }] } }],
    ['a rule with an unknown key', { version: 1, policy: { rules: [{ allow: 'a', wenn: 'x' }] } }],
    ['a profile that is none', { version: 1, profile: 'loose' }],
    ['an effect that is none', { version: 1, sources: { a: { command: 'x', effects: { '*': 'reed' } } } }],
    ['a deadline without a unit', { version: 1, limits: { deadline: '60' } }],
    ['a size in small letters', { version: 1, limits: { result: '48kb' } }],
    ['a word for true', { version: 1, tools: { files: 'yes' } }],
  ])('refuses %s', (_what, value) => {
    expect(validate(value)).toBe(false)
  })

  it.each([
    ['the least', { version: 1 }],
    [
      'references in place of values',
      { version: 1, limits: { deadline: '${DEADLINE}' }, sources: { a: { command: 'x', trust: '${T:-annotations}' } } },
    ],
    [
      'rules of all kinds',
      {
        version: 1,
        policy: {
          rules: [
            { allow: 'a' },
            { ask: ['a', 'b'], for: { role: 'dev' } },
            { deny: { effect: 'write' }, where: { n: 1, b: [true, 'x'] } },
          ],
        },
      },
    ],
  ])('takes %s', (_what, value) => {
    expect(validate(value), JSON.stringify(validate.errors)).toBe(true)
  })
})
