// A process of its own for the tests of the SQLite store: opens a file, does one thing, says `ready` and what came of it as
// one line of JSON, and then waits to be told to end, or killed. Usage: conformance-process FILE WHAT [NAME] [COUNT]

import { systemClock } from '../base/clock.ts'
import type { ApprovalRow, Store } from '../observe/store.ts'
import { openSqliteStore } from './sqlite-store.ts'

const [, , file = '', what = '', name = '', count = '1'] = process.argv

const intend = (store: Store, callId: string, approval?: ApprovalRow) =>
  store.intend({
    ...{ callId, tool: 'write_file', effect: 'write', argumentsText: '{"path":"a"}' },
    record: { kind: 'intent', at: Date.now(), callId, body: '{}' },
    ...(approval === undefined ? {} : { ask: { approvalId: approval.id, open: approval } }),
  })

function appendMany(store: Store): void {
  for (let number = 0; number < Number(count); number += 1) {
    store.append({ kind: 'end', at: Date.now(), callId: `${name}-${number}`, body: JSON.stringify({ number }) })
  }
}

async function fill(store: Store): Promise<unknown> {
  for (let number = 0; store.failure() === undefined && number < 100_000; number += 1) {
    store.append({ kind: 'end', at: 1, callId: `${name}-${number}`, body: JSON.stringify('x'.repeat(1_000)) })
    if (number % 100 === 0) await store.flush().catch(() => undefined)
  }
  return { failure: store.failure(), intended: await intend(store, `${name}-last`) }
}

async function act(store: Store): Promise<unknown> {
  if (what === 'intend') return await intend(store, name)
  if (what === 'forget-watching') {
    store.watch(() => undefined)
    return await store.stops()
  }
  if (what === 'lapsed') return await store.lapsedIntents()
  if (what === 'redeem') {
    const [approval] = await store.approvals({ id: name, limit: 1 })
    const calls = Array.from({ length: Number(count) }, (_, number) =>
      intend(store, `${process.pid}-${number}`, approval),
    )
    return (await Promise.all(calls)).map((one) => (one.kind === 'unapproved' ? one.state : one.kind))
  }
  if (what === 'fill') return await fill(store)
  appendMany(store)
  return 'appended'
}

const say = (result: unknown): void => void process.stdout.write(`ready ${JSON.stringify(result)}\n`)

const opened = await openSqliteStore({ file, clock: systemClock })
if (opened.kind === 'failed') {
  say(opened)
} else {
  say(await act(opened.store))
  if (what === 'exit') process.exit(0)
  // `forget` leaves it at that: the process ends when nothing is left to do.
  if (!what.startsWith('forget')) {
    process.stdin.resume()
    await new Promise((resolve) => process.stdin.once('end', resolve))
    await opened.store.close()
  }
}
