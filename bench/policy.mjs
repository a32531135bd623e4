// One decision of a policy with a thousand rules: about tools, about resources, and with a condition in CEL. The policy is
// asked itself, without the rest of a call. Figures are medians of single decisions over many of them.

import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { median, row } from './measure.mjs'

const built = new URL('../dist/bench-policy.mjs', import.meta.url)
const bundle = await rolldown({
  input: fileURLToPath(new URL('../src/authorize/policy.ts', import.meta.url)),
  platform: 'node',
  external: [/^node:/, '@marcbachmann/cel-js', 're2js'],
})
await bundle.write({ file: fileURLToPath(built), format: 'esm', codeSplitting: false })
await bundle.close()
const { loadPolicy } = await import(built)
rmSync(built)

const RULES = 1_000
const BATCH = 100
const BATCHES = 100
const roots = new Map([['main', '/ws']])
const caller = Object.freeze({ tenant: 'acme', user: 'ana', agent: 'helper', roles: ['dev'], session: 's1' })

const policyOf = (rules) => {
  const loaded = loadPolicy({ rules }, { roots })
  if (loaded.kind === 'bad') throw new Error(JSON.stringify(loaded.problems))
  return loaded.policy
}

const entryOf = (name, effect = 'write') => ({
  tool: Object.freeze({ name, version: '1.0.0', description: 'x', input: {}, effect, resolve: (args) => args }),
  source: 'files',
  layer: 'builtin',
  state: { kind: 'active' },
  fingerprint: name,
})

const resource = (text) => ({ verb: text.split(' ')[0], key: text.slice(text.indexOf(' ') + 1), text })

const inputOf = (args, touches) => ({
  kind: 'ok',
  args,
  text: JSON.stringify(args),
  effect: 'write',
  touches: touches === undefined ? { kind: 'unknown' } : { kind: 'known', resources: touches.map(resource) },
})

function measure(name, target, rules, entry, inputs, expected) {
  const policy = policyOf(rules)
  const found = inputs.map((input) => policy.decide(caller, entry, input).kind)
  if (found.join() !== expected.join()) throw new Error(`${name}: ${found.join()}`)
  const batches = []
  for (let batch = 0; batch < BATCHES + 50; batch++) {
    const start = process.hrtime.bigint()
    for (let index = 0; index < BATCH; index++) policy.decide(caller, entry, inputs[index % inputs.length])
    if (batch >= 50) batches.push(Number(process.hrtime.bigint() - start) / 1_000 / BATCH)
  }
  row(name, median(batches), 'us', target)
}

const numbers = Array.from({ length: RULES }, (_, index) => index)
const write = entryOf('write_file')

measure(
  '1,000 rules about tools',
  3,
  numbers
    .map((index) => ({ deny: `tool_${index}`, where: { path: 'secret/**' } }))
    .concat([
      { deny: 'write_file', where: { path: '**/*.lock' } },
      { allow: 'write_file', where: { path: 'docs/**' } },
    ]),
  write,
  [inputOf({ path: 'docs/a.md', content: 'x' }), inputOf({ path: 'src/yarn.lock', content: 'x' })],
  ['allow', 'deny'],
)

measure(
  '1,000 rules about resources, by literal path prefixes',
  3,
  numbers
    .map((index) => ({ deny: { resource: `write file:packages/part-${index}/secret/**` } }))
    .concat([{ allow: { resource: 'write file:docs/**' } }, { deny: { resource: '* file:**/.env' } }]),
  write,
  [
    inputOf({ path: 'docs/a.md' }, ['write file:/ws/docs/a.md']),
    inputOf({ path: 'packages/part-7/secret/a' }, ['write file:/ws/packages/part-7/secret/a']),
  ],
  ['allow', 'deny'],
)

measure(
  '1,000 rules about paths of one tool, by literal path prefixes',
  undefined,
  numbers
    .map((index) => ({ deny: 'write_file', where: { path: `packages/part-${index}/secret/**` } }))
    .concat([{ allow: 'write_file', where: { path: 'docs/**' } }]),
  write,
  [inputOf({ path: 'docs/a.md' }), inputOf({ path: 'packages/part-7/secret/a' })],
  ['allow', 'deny'],
)

measure(
  '1,000 rules about tools, and a condition in CEL',
  10,
  numbers
    .map((index) => ({ deny: `tool_${index}`, when: 'args.title.size() > 0' }))
    .concat([{ allow: 'write_file', when: 'args.title.size() > 0 && args.count < 10 && caller.user == "ana"' }]),
  write,
  [inputOf({ title: 'a title', count: 3, body: 'x'.repeat(2_000) }), inputOf({ title: 'a title', count: 30 })],
  ['allow', 'ask'],
)
