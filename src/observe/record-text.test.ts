import { expect, test } from 'vitest'
import { bodyOf, isShut } from './record-text.ts'

test('what is no object is empty, and nothing throws', () => {
  for (const body of ['', 'x', '[]', 'null', '1', '{"a":']) expect(bodyOf({ body })).toEqual({})
  expect(bodyOf({ body: '{"a":1}', personal: 'x' })).toEqual({ a: 1 })
})

test('halves are joined one level deep, and the sealed text is not among the members', () => {
  const body = '{"tool":"t","error":{"type":"timeout"},"subject":"id","sealed":"AAAA"}'
  expect(bodyOf({ body, personal: '{"user":"eva","error":{"message":"m"}}' })).toEqual({
    ...{ tool: 't', user: 'eva', error: { type: 'timeout', message: 'm' } },
  })
})

test('a row that nobody can open says so, and whose it was by an id alone', () => {
  const body = '{"tool":"t","subject":"id","sealed":"AAAA"}'
  expect(bodyOf({ body })).toEqual({ tool: 't', subject: 'id' })
  expect(isShut({ body })).toBe(true)
  expect(isShut({ body, personal: '{}' })).toBe(false)
  expect(isShut({ body: '{"tool":"t"}' })).toBe(false)
})
