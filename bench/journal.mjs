// An idempotency key on SQLite: what its claim and its end cost. A write call with a key beside the same call without one,
// one at a time, interleaved; and the replay of a recorded answer. The end of a keyed call is on disk before it is answered.

import { median, row } from './measure.mjs'
import { writeGate } from './write-gate.mjs'

const COUNT = 600
const { session, close } = await writeGate(['change'], { defaults: { write: 'allow' } })

const timeOf = async (n, idempotencyKey) => {
  const start = process.hrtime.bigint()
  const outcome = await session.call({
    name: 'change',
    arguments: { n },
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  })
  const us = Number(process.hrtime.bigint() - start) / 1_000
  if (!outcome.ok) throw new Error(outcome.error.message)
  return us
}
for (let n = -50; n < 0; n++) await timeOf(n, `key-${n}`)

const times = { plain: [], keyed: [], replay: [] }
for (let n = 0; n < COUNT; n++) {
  // Records of the call before are still on their way to the disk: each is the first as often as the other.
  const order = n % 2 === 0 ? ['plain', 'keyed'] : ['keyed', 'plain']
  for (const kind of order) times[kind].push(await timeOf(n, kind === 'keyed' ? `key-${n}` : undefined))
  times.replay.push(await timeOf(n, `key-${n}`))
}
row('write call without a key', median(times.plain), 'us')
row('write call with a key', median(times.keyed), 'us')
row('claim and end of a key', (median(times.keyed) - median(times.plain)) / 1_000, 'ms', 0.5)
row('recorded answer given again', median(times.replay), 'us')
await close()
