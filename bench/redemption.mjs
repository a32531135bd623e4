// A person's answer put to use: a write call that redeems its approval, or that a grant covers, with its durable intent on
// SQLite. Beside it the same call where nothing is asked, one at a time, interleaved.

import { median, row } from './measure.mjs'
import { writeGate } from './write-gate.mjs'

const COUNT = 500
const { gate, session, close } = await writeGate(['asked', 'granted', 'free'], {
  defaults: { write: 'ask' },
  rules: [{ allow: 'free' }],
})

const ask = async (name, n) => (await session.call({ name, arguments: { n } })).error.details.approvalId
const timeOf = async (name, n) => {
  const start = process.hrtime.bigint()
  const outcome = await session.call({ name, arguments: { n } })
  const us = Number(process.hrtime.bigint() - start) / 1_000
  if (!outcome.ok) throw new Error(`${name}: ${outcome.error.message}`)
  return us
}
await gate.approvals.decide(await ask('granted', -1), { decision: 'approve', by: 'bench', scope: 'session' })
await timeOf('granted', -1)

const times = { free: [], asked: [], granted: [] }
const names = Object.keys(times)
for (let n = 0; n < COUNT; n++) {
  await gate.approvals.decide(await ask('asked', n), { decision: 'approve', by: 'bench' })
  // Records of the calls before are still on their way to the disk: each is the first as often as the others.
  for (let turn = 0; turn < names.length; turn++) {
    const name = names[(n + turn) % names.length]
    times[name].push(await timeOf(name, n))
  }
}
row('write call that asks nothing', median(times.free), 'us')
row('write call that redeems its approval', median(times.asked), 'us', 1_000)
row('write call that a grant covers', median(times.granted), 'us', 1_000)
await close()
