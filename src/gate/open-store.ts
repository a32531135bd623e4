// Opens the store that a host asked for. SQLite code is loaded only where it is used.

import type { Clock } from '../base/clock.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import type { Workspace } from '../describe/workspace.ts'
import type { AuditOptions, GateOptions } from '../gate-contract.ts'
import type { Store } from '../observe/store.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import type { OwnFileList } from './open-workspace.ts'

export async function openStore(
  option: NonNullable<GateOptions['store']>,
  clock: Clock,
  workspace: Workspace & { own: OwnFileList },
  audit: Pick<AuditOptions, 'seal' | 'key'> = {},
): Promise<Store> {
  if (option === 'memory') return createMemoryStore({ clock })
  if (!('sqlite' in option)) return option
  for (const suffix of ['', '-wal', '-shm', '-journal']) workspace.own.add(`${option.sqlite}${suffix}`)
  const { openSqliteStore } = await import('../stores/sqlite-store.ts')
  const { seal, key } = audit
  const sealing = { ...(seal === undefined ? {} : { seal }), ...(key === undefined ? {} : { key }) }
  const opened = await openSqliteStore({ file: option.sqlite, clock, ...sealing })
  if (opened.kind === 'failed') throw new GateConfigError([{ key: 'store', message: opened.reason }])
  return opened.store
}
