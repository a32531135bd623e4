// One value in three shapes: all of it for a program, the beginning for a model, a table for a person; and what was cut, read on
// and handed on. `test/examples-observe.test.ts` runs each of these; docs/results.md shows them.

import { z } from 'zod'
import { createGate, defineTool, type Outcome } from '../../src/index.ts'

type Print = (line: string) => void

const Order = z.object({ id: z.number(), customer: z.string(), total: z.number() })
const orders = Array.from({ length: 5_000 }, (_, index) => ({
  id: index + 1,
  customer: `customer ${(index % 7) + 1}`,
  total: ((index * 37) % 900) + 100,
}))

const listOrders = defineTool({
  name: 'list_orders',
  version: '1.0.0',
  description: 'List orders from an id on.',
  input: z.object({ after: z.number().optional() }),
  output: z.object({ rows: z.array(Order), total: z.number(), nextCursor: z.string() }),
  effect: 'read',
  run: async () => ({ rows: orders, total: 12_000, nextCursor: 'after=5000' }),
})

const sumOrders = defineTool({
  name: 'sum_orders',
  version: '1.0.0',
  description: 'Add the totals of orders.',
  input: z.object({ orders: z.object({ rows: z.array(Order), total: z.number(), nextCursor: z.string() }) }),
  effect: 'read',
  run: async ({ orders: { rows } }) => rows.reduce((sum, { total }) => sum + total, 0),
})

/** A query of 5,000 rows: the program has them all, the model twenty and a cursor, the console a table. */
export async function shapes(print: Print): Promise<void> {
  const gate = await createGate({ tools: [listOrders] })
  try {
    const outcome = await gate.session({ user: 'ana' }).call(listOrders, {})
    if (!outcome.ok) return print(outcome.error.message)
    print(`program: ${outcome.value.rows.length} rows of ${outcome.value.total}, then ${outcome.value.nextCursor}`)
    print(
      `model: ${
        textOf(outcome)
          .split('\n')
          .filter((line) => /customer \d/.test(line)).length
      } rows`,
    )
    print(
      `model: ${/after=5000/.test(textOf(outcome)) ? 'the cursor' : 'no cursor'}, ${textOf(outcome).length < 2_000}`,
    )
    const { display, meta } = outcome
    if (display?.kind === 'table')
      print(`person: ${display.columns.join(', ')}; ${display.rows.length} of ${display.total}`)
    print(`cut by ${meta.truncated?.layer}, ${meta.truncated?.originalUnits} ${meta.truncated?.unit}`)
  } finally {
    await gate.close()
  }
}

/** What was cut is kept whole for its caller: paged, queried, handed on, and for nobody else. */
export async function artifacts(print: Print): Promise<void> {
  const gate = await createGate({ tools: [listOrders, sumOrders] })
  try {
    const session = gate.session({ user: 'ana' })
    const { meta } = await session.call(listOrders, {})
    const id = meta.artifact ?? ''
    const page = await session.call({
      name: 'read_artifact',
      arguments: { id, unit: 'rows', from: 4_998, count: 2 },
    })
    print(`the last two: ${textOf(page).includes('5000')}`)
    const large = await session.call({
      name: 'read_artifact',
      arguments: { id, query: 'rows[?total > `995`].id | [:3]' },
    })
    print(`the first over 995: ${textOf(large).split('\n').slice(1).join(', ')}`)

    // The whole goes into another call; the model has only written its id.
    const sum = await session.call({ name: 'sum_orders', arguments: { orders: { $artifact: id } } })
    print(sum.ok ? `sum ${sum.value}` : sum.error.message)

    const other = await gate.session({ user: 'ben' }).call({ name: 'read_artifact', arguments: { id } })
    print(`for somebody else: ${other.ok ? 'ok' : other.error.type}`)
  } finally {
    await gate.close()
  }
}

/** A secret in what a tool reads does not leave the gate, and is said to have been there. */
export async function secrets(print: Print): Promise<void> {
  const readConfig = defineTool({
    name: 'read_config',
    version: '1.0.0',
    description: 'Read the configuration of the service.',
    input: z.object({}),
    effect: 'read',
    run: async () => ({ url: 'https://api.example.com', password: 'correct horse battery', token_count: 12 }),
  })
  const gate = await createGate({ tools: [readConfig] })
  try {
    const outcome = await gate.session({ user: 'ana' }).call(readConfig, {})
    print(outcome.ok ? JSON.stringify(outcome.value) : outcome.error.message)
    print(`taken out: ${outcome.meta.redacted?.join(', ')}`)
  } finally {
    await gate.close()
  }
}

/** The results of one turn share a budget: short ones stay whole, long ones get the same. */
export async function turns(print: Print): Promise<void> {
  const say = defineTool({
    name: 'say',
    version: '1.0.0',
    description: 'Say a word so many times.',
    input: z.object({ times: z.number() }),
    effect: 'read',
    run: async ({ times }) => 'word\n'.repeat(times),
  })
  const gate = await createGate({ tools: [say], limits: { turnBytes: 20_000 } })
  try {
    const outcomes = await gate.session({ user: 'ana' }).turn([
      { name: 'say', arguments: { times: 100 } },
      { name: 'say', arguments: { times: 5_000 } },
      { name: 'say', arguments: { times: 6_000 } },
    ])
    const bytes = outcomes.map((outcome) => Buffer.byteLength(textOf(outcome)))
    print(`within the budget: ${bytes.reduce((sum, each) => sum + each, 0) <= 20_000}`)
    print(outcomes.map(({ meta }) => meta.truncated?.layer ?? 'whole').join(', '))
  } finally {
    await gate.close()
  }
}

const textOf = ({ content }: Outcome): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
