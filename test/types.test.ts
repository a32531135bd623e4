// Goal: the types of a tool follow from its schemas, for calls and for `run` alike. Method: what must not compile is marked, and
// the compiler, which `npm test` runs over this file, complains of a mark where nothing is wrong.

import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { createGate, defineTool, type Outcome } from '../src/index.ts'

const greet = defineTool({
  name: 'greet',
  version: '1.0.0',
  description: 'Greets somebody.',
  input: z.object({ who: z.string(), how: z.string().default('hello') }),
  output: z.object({ text: z.string() }),
  effect: 'read',
  run: async ({ who, how }) => ({ text: `${how}, ${who}` }),
})
const count = defineTool({
  name: 'count',
  version: '1.0.0',
  description: 'Counts.',
  input: z.object({ words: z.array(z.string()) }),
  effect: 'read',
  run: async ({ words }) => words.length,
})

test('a call takes what the schema takes, and gives what the output or `run` gives', async () => {
  const gate = await createGate({ tools: [greet, count] })
  const session = gate.session()
  const greeted = await session.call(greet, { who: 'Ana' })
  const counted = await session.call(count, { words: ['a', 'b'] })
  expectTypeOf(greeted).toEqualTypeOf<Outcome<{ text: string }>>()
  expectTypeOf(counted).toEqualTypeOf<Outcome<number>>()
  expect(greeted.ok && greeted.value.text).toBe('hello, Ana')
  expect(counted.ok && counted.value).toBe(2)
  await gate.close()
})

test('what does not fit does not compile', () => {
  const wrongRun = () =>
    defineTool({
      name: 'wrong',
      version: '1.0.0',
      description: 'Wrong.',
      input: z.object({}),
      // @ts-expect-error what `run` gives does not fit this
      output: z.object({ text: z.string() }),
      effect: 'read',
      run: async () => ({ text: 5 }),
    })
  expect(wrongRun).toBeTypeOf('function')
})
