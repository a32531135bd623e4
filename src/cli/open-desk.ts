// The operator's desk: records, approvals and idempotency keys of a project without any tool, source or running gate. It settles no calls that
// other processes left open: that is for a gate that knows their tools.

import { besideDatabase } from '../gate/signing-key.ts'
import type { AuditOptions, Gate } from '../gate-contract.ts'
import type { Store } from '../observe/store.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput } from './command.ts'
import { openProject, type Project } from './project.ts'

/** What the desk can do. */
export type Desk = Pick<Gate, 'approvals' | 'grants' | 'journal' | 'records' | 'stop' | 'stops' | 'lift'>

export type DeskOptions = {
  /** Whether checkpoints are signed: the desk then has the key of the configuration, which is made where there is none. */
  readonly signs?: boolean
}

type UseDesk = (desk: Desk, project: DeskProject) => Promise<ExitCode>

/** A project that keeps its records in a database. */
export type DeskProject = Project & { readonly database: string }

/** Opens the desk of the configuration, uses it, and closes it. Ends early where nothing is kept on disk. */
export async function atDesk(input: CommandInput, use: UseDesk, options: DeskOptions = {}): Promise<ExitCode> {
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const { database } = opened.value
  if (database === undefined)
    return input.terminal.fail(
      'configuration',
      'this configuration keeps its records in memory: they end with the process that wrote them',
    )
  return atDeskOf({ ...opened.value, database }, input, use, options)
}

/** The same, of a project that is open. */
export async function atDeskOf(
  project: DeskProject,
  { terminal }: CommandInput,
  use: UseDesk,
  { signs = false }: DeskOptions = {},
): Promise<ExitCode> {
  const { database, config } = project
  const { grantMs } = config.approvals
  const [{ createGate }, { openSqliteStore }, { systemClock }] = await Promise.all([
    import('../gate.ts'),
    import('../stores/sqlite-store.ts'),
    import('../base/clock.ts'),
  ])
  const { seal, key, checkpointTo } = config.audit
  const sealing = { ...(seal === undefined ? {} : { seal }), ...(key === undefined ? {} : { key }) }
  const store = await openSqliteStore({ file: database, clock: systemClock, ...sealing })
  if (store.kind === 'failed')
    return terminal.fail('configuration', `the database ${database} cannot be opened: ${store.reason}`)
  const signing = { signingKey: signingKeyOf(project), ...(checkpointTo === undefined ? {} : { checkpointTo }) }
  const gate = await createGate({
    store: settlingNothing(store.store),
    ...(grantMs === undefined ? {} : { approvals: { grantMs } }),
    ...(signs ? { audit: signing } : {}),
    log: ({ level, message, details }) => {
      if (level !== 'info')
        terminal.note(['yellow', `${level}: `], message, details === undefined ? '' : ` ${JSON.stringify(details)}`)
    },
  })
  try {
    return await use(gate, project)
  } finally {
    await gate.close()
  }
}

/** The key that signs: the one that the configuration names, or the one beside the database. */
export const signingKeyOf = ({ config, database }: DeskProject): NonNullable<AuditOptions['signingKey']> =>
  config.audit.signingKey ?? { file: besideDatabase(database) }

/** The same store, which hands out no open intents of others. */
const settlingNothing = (store: Store): Store => ({
  chain: store.chain,
  images: store.images,
  artifacts: store.artifacts,
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
  ...(store.held === undefined ? {} : { held: store.held.bind(store) }),
  heads: () => store.heads(),
  dropBefore: (at) => store.dropBefore(at),
  erase: (subject, record) => store.erase(subject, record),
  recordCount: () => store.recordCount(),
  lapsedIntents: async () => [],
  close: () => store.close(),
})
