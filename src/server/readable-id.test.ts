import { expect, test } from 'vitest'
import { readableId } from './readable-id.ts'

test.each([
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1,"a":2}}', 1],
  ['{"jsonrpc":"2.0","id":"one","method":"x","params":{"__proto__":{}}}', 'one'],
  ['{"method":"x","params":{"id":7,"id":8},"id":1}', 1],
  ['{"method":"x","a":"\\"id\\":2","id":1,"b":["id","id"],"c":"id"}', 1],
  ['{"method":"x","method":"y","id":1}', 1],
])('the id of %s can be read', (text, id) => {
  expect(readableId(text)).toBe(id)
})

test.each([
  '{"id":1,"id":2,"method":"x"}',
  '{"id":1,"id":1,"method":"x"}',
  '{"id":1,"\\u0069d":2,"method":"x"}',
  `{"id":1,"id"${' '.repeat(10)}:2,"method":"x"}`,
  `{"id":1,"id"${' '.repeat(100)}:2,"method":"x"}`,
  '{"method":"x","params":{"id":1}}',
  '{"id":1.5,"method":"x"}',
  '{"id":9007199254740993,"method":"x"}',
  '{"id":null,"method":"x"}',
  '{"id":{},"method":"x"}',
  `{"id":"${'x'.repeat(257)}","method":"x"}`,
  '{"id":1,"result":{"a":1,"a":2}}',
  '{"__proto__":{"id":1},"method":"x"}',
  '{"id":1,"method":"x"',
  '[{"id":1,"method":"x"}]',
  '7',
  'null',
])('%s has none that is safe to name', (text) => {
  expect(readableId(text)).toBeUndefined()
})
