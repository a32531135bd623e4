// The worker thread of the SQLite store: opens the file, then hands every batch to the writer. It imports nothing of the
// gate, starts with an empty environment, and ends when the store is closed.

import { receiveMessageOnPort, workerData } from 'node:worker_threads'
import { lengthenLog, openDatabase } from './sqlite-database.ts'
import type { SqlDatabase } from './sqlite-driver.ts'
import type { Batch, Report, WorkerStart } from './sqlite-protocol.ts'
import { SqliteWriter } from './sqlite-writer.ts'

/** A process that is still there after this time stays for longer. */
const SETTLED_MS = 200

const { file, chain, port, reports, ...sealing } = workerData as WorkerStart
const counter = new Int32Array(reports)

function report(message: Report): void {
  port.postMessage(message)
  // After the message, so that whoever wakes finds it.
  Atomics.add(counter, 0, 1)
  Atomics.notify(counter, 0)
}

function serve(writer: SqliteWriter, database: SqlDatabase): void {
  // Short commands are gone by then, and pay nothing for it.
  const settled = setTimeout(() => writer.idle(() => lengthenLog(database, file)), SETTLED_MS)
  port.on('message', (first: Batch) => {
    const batches = [first]
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      batches.push(next.message as Batch)
    }
    if (!writer.take(batches)) return
    clearTimeout(settled)
    port.close()
  })
}

async function start(): Promise<void> {
  const opened = await openDatabase(file)
  if (opened.kind === 'failed') return refuse(opened.reason)
  try {
    serve(new SqliteWriter(opened.database, chain, sealing, report), opened.database)
  } catch (error) {
    opened.database.close()
    return refuse(`cannot write \`${file}\`: ${error instanceof Error ? error.message : String(error)}`)
  }
  report({ kind: 'opened' })
}

function refuse(reason: string): void {
  report({ kind: 'unopened', reason })
  port.close()
}

await start()
