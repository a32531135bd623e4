// A gate in a process of its own for the crash test: makes the keyed calls that are not over yet, many at once, and logs each
// before it is made and when it is over. It is killed at any moment. Usage: crash-process FOLDER ROUND KEYS

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool } from '../src/describe/define-tool.ts'
import type { Outcome } from '../src/describe/outcome.ts'
import { createGate } from '../src/gate.ts'

const [, , folder = '', round = '', keyCount = '0'] = process.argv
const AT_ONCE = 8
const log = join(folder, 'log.txt')

const linesOf = (name: string): readonly string[] => {
  const file = join(folder, name)
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
}
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.random() * 4))

/** One line for each time that it acts: the effect that must not come twice. */
const noting = (name: string, happened?: (args: { readonly key: string }) => boolean) =>
  defineTool({
    ...{ name, version: '1.0.0', description: 'Notes a line.', effect: 'write' },
    input: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
    touches: (args: { readonly key: string }) => [`write note:${args.key}`],
    run: async (args: { readonly key: string }) => {
      await pause()
      appendFileSync(join(folder, `${name}.txt`), `${args.key}\n`)
      await pause()
      return { noted: args.key }
    },
    ...(happened === undefined ? {} : { happened }),
  } as never)

const gate = await createGate({
  // `known` can tell what it did, `blind` cannot.
  tools: [noting('known', ({ key }) => linesOf('known.txt').includes(key)), noting('blind')],
  store: { sqlite: join(folder, 'state', 'lockgate.db') },
  policy: { defaults: { write: 'allow' } },
})
const session = gate.session({ user: 'ana' })

function howOf(outcome: Outcome): string {
  if (outcome.ok) return outcome.meta.attempts === 0 ? 'replayed' : 'ran'
  const { type, effect } = outcome.error
  return type === 'outcome_unknown' ? `outcome-${effect}` : `${type}-${effect}`
}

async function make(call: string): Promise<void> {
  const [name = '', key = ''] = call.split(' ')
  appendFileSync(log, `start ${process.pid} ${call}\n`)
  const outcome = await session.call({ name, arguments: { key }, idempotencyKey: key })
  appendFileSync(log, `end ${process.pid} ${call} ${howOf(outcome)}\n`)
}

const logged = linesOf('log.txt').map((line) => line.split(' '))
const over = new Set(logged.filter(([what]) => what === 'end').map(([, , name, key]) => `${name} ${key}`))
const begun = logged.filter(([what]) => what === 'start').map(([, , name, key]) => `${name} ${key}`)
const fresh = Array.from(
  { length: Number(keyCount) },
  (_, index) => `${index % 2 ? 'known' : 'blind'} ${round}-${index}`,
)
const open = [...new Set([...begun, ...fresh])].filter((call) => !over.has(call))
// Another process has the same calls to make, in an order of its own.
const queue = open.map((call) => ({ call, order: Math.random() })).sort((one, other) => one.order - other.order)

process.stdout.write('ready\n')
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) await make(next.call)
  }),
)
await gate.close()
process.stdout.write('finished\n')
