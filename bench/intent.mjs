// A write tool with a durable intent, beside one durable SQLite insert of the same row in the same kind of file: ratio of
// medians, one at a time, interleaved.

import { join } from 'node:path'
import { median, row } from './measure.mjs'
import { openDatabase } from './open-database.mjs'
import { writeGate } from './write-gate.mjs'

const COUNT = 300
const ROUNDS = 5
const { folder, gate, session, close } = await writeGate(['change'], { defaults: { write: 'allow' } })

const database = openDatabase(join(folder, 'plain.db'))
database.exec(
  'pragma journal_mode = wal; pragma synchronous = full; create table records (chain text, seq integer, kind text, at integer, call_id text, body text, body_digest text, hash text, primary key (chain, seq)) without rowid',
)
const insert = database.prepare('insert into records values (?, ?, ?, ?, ?, ?, ?, ?)')
await session.call({ name: 'change', arguments: { n: 0 } })
const [sample] = await gate.records.query({ kind: 'intent', limit: 1 })
let seq = 0
const plain = () =>
  insert.run(sample.chain, ++seq, sample.kind, sample.at, sample.callId, sample.body, sample.bodyDigest, sample.hash)

const timeOf = async (action) => {
  const start = process.hrtime.bigint()
  await action()
  return Number(process.hrtime.bigint() - start) / 1_000
}
const calls = []
const inserts = []
for (let round = 0; round < ROUNDS; round++) {
  for (let index = 0; index < COUNT; index++) {
    inserts.push(await timeOf(plain))
    calls.push(await timeOf(() => session.call({ name: 'change', arguments: { n: index } })))
  }
}
row('one durable SQLite insert, same row', median(inserts), 'us')
row('write call with a durable intent', median(calls), 'us')
row('write call / insert', median(calls) / median(inserts), 'x', 1.5)
database.close()
await close()
