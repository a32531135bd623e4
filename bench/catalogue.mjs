// A thousand tools: what registering one costs, and what a caller's view costs cold and warm.

import { createGate, defineTool } from '../dist/index.js'
import { median, row } from './measure.mjs'

const COUNT = 1_000
const make = (index) =>
  defineTool({
    name: `tool_${index}`,
    version: '1.0.0',
    description: `Looks up records in collection ${index}, filters them, and returns a page of them.`,
    input: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Words that a record must contain.', maxLength: 200 },
        filter: { type: 'object', additionalProperties: { type: 'string' } },
        order: { type: 'string', enum: ['newest', 'oldest', 'relevance'] },
        limit: { type: 'integer', minimum: 1, maximum: 100 },
        code: { type: 'string', pattern: `^[A-Z]{2}-[0-9]{1,${(index % 9) + 1}}$` },
      },
      required: ['query'],
      additionalProperties: false,
    },
    effect: 'read',
    run: async () => 'ok',
  })

const registrations = []
const cold = []
const warm = []
for (let round = 0; round < 5; round++) {
  const gate = await createGate({
    policy: { rules: [{ deny: 'admin_*' }, { deny: 'tool_*', where: { query: 'secret*' } }] },
  })
  const tools = Array.from({ length: COUNT }, (_, index) => make(index + round * COUNT))
  const start = performance.now()
  for (const tool of tools) gate.catalogue.register(tool)
  registrations.push((performance.now() - start) / COUNT)
  const session = gate.session()
  const first = performance.now()
  if (session.tools().length !== COUNT) throw new Error('the view is not whole')
  cold.push(performance.now() - first)
  const again = performance.now()
  for (let index = 0; index < 100; index++) session.tools()
  warm.push(((performance.now() - again) * 1_000) / 100)
  await gate.close()
}
row('registering one of 1,000 tools', median(registrations), 'ms', 1)
row('view of 1,000 tools, cold', median(cold), 'ms', 2)
row('view of 1,000 tools, warm', median(warm), 'us', 50)
