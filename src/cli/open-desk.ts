// The operator's desk: records, approvals and idempotency keys of a project without any tool, source or running gate. It settles no calls that
// other processes left open: that is for a gate that knows their tools.

import type { Gate } from '../gate-contract.ts'
import type { Store } from '../observe/store.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput } from './command.ts'
import { openProject } from './project.ts'

/** What the desk can do. */
export type Desk = Pick<Gate, 'approvals' | 'grants' | 'journal' | 'records' | 'stop' | 'stops' | 'lift'>

/** Opens the desk of the configuration, uses it, and closes it. Ends early where nothing is kept on disk. */
export async function atDesk(input: CommandInput, use: (desk: Desk) => Promise<ExitCode>): Promise<ExitCode> {
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const { database, config } = opened.value
  const { grantMs } = config.approvals
  if (database === undefined)
    return input.terminal.fail(
      'configuration',
      'this configuration keeps its records in memory: they end with the process that wrote them',
    )
  const [{ createGate }, { openSqliteStore }, { systemClock }] = await Promise.all([
    import('../gate.ts'),
    import('../stores/sqlite-store.ts'),
    import('../base/clock.ts'),
  ])
  const store = await openSqliteStore({ file: database, clock: systemClock })
  if (store.kind === 'failed')
    return input.terminal.fail('configuration', `the database ${database} cannot be opened: ${store.reason}`)
  const gate = await createGate({
    store: settlingNothing(store.store),
    ...(grantMs === undefined ? {} : { approvals: { grantMs } }),
  })
  try {
    return await use(gate)
  } finally {
    await gate.close()
  }
}

/** The same store, which hands out no open intents of others. */
const settlingNothing = (store: Store): Store => ({
  chain: store.chain,
  images: store.images,
  failure: () => store.failure(),
  append: (draft, closes) => store.append(draft, closes),
  settle: (draft, end) => store.settle(draft, end),
  journal: (filter) => store.journal(filter),
  intend: (draft) => store.intend(draft),
  flush: () => store.flush(),
  approvals: (filter) => store.approvals(filter),
  answer: (id, answer, record) => store.answer(id, answer, record),
  renewProof: (id, proof, record) => store.renewProof(id, proof, record),
  grants: (filter) => store.grants(filter),
  revokeGrant: (id, by, at, record) => store.revokeGrant(id, by, at, record),
  stops: () => store.stops(),
  stop: (row, record) => store.stop(row, record),
  lift: (id, record) => store.lift(id, record),
  watch: (changed) => store.watch(changed),
  records: (query) => store.records(query),
  chains: () => store.chains(),
  recordCount: () => store.recordCount(),
  lapsedIntents: async () => [],
  close: () => store.close(),
})
