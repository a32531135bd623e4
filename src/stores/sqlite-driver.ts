// The one place that knows which SQLite this machine has: `node:sqlite` where Node brings it (22.13 and later), else the
// optional package `libsql`. What a column holds comes back as the driver gives it (blobs as Uint8Array or ArrayBuffer) and is
// read by `sqlite-values`. Loaded in the store's worker thread and nowhere else.

export type SqlValue = string | number | Uint8Array | null
export type SqlRow = Readonly<Record<string, unknown>>

export interface SqlStatement {
  /** Answers how many rows were changed. */
  run(values: readonly SqlValue[]): number
  all(values: readonly SqlValue[]): readonly SqlRow[]
}

export interface SqlDatabase {
  exec(sql: string): void
  prepare(sql: string): SqlStatement
  close(): void
}

export type Driver = { readonly name: 'node:sqlite' | 'libsql'; open(file: string): SqlDatabase }

export type DriverFound =
  | { readonly kind: 'ok'; readonly driver: Driver }
  | { readonly kind: 'failed'; readonly reason: string }

export async function findDriver(): Promise<DriverFound> {
  const driver = nodeDriver() ?? (await libsqlDriver())
  if (driver !== undefined) return { kind: 'ok', driver }
  return { kind: 'failed', reason: 'the SQLite store needs Node >= 22.13 or the optional package `libsql`' }
}

type NativeStatement = {
  run(...values: unknown[]): { readonly changes: number | bigint }
  all(...values: unknown[]): SqlRow[]
}

type NativeDatabase = { exec(sql: string): unknown; prepare(sql: string): NativeStatement; close(): unknown }

type NativeConstructor = new (file: string) => NativeDatabase

function nodeDriver(): Driver | undefined {
  const module: unknown = withoutExperimentalWarning(() => process.getBuiltinModule('node:sqlite'))
  if (typeof module !== 'object' || module === null || !('DatabaseSync' in module)) return undefined
  const DatabaseSync = module.DatabaseSync as NativeConstructor
  const open = (file: string): SqlDatabase => {
    const database = new DatabaseSync(file)
    return {
      exec: (sql) => void database.exec(sql),
      close: () => void database.close(),
      prepare(sql) {
        const statement = database.prepare(sql)
        return {
          run: (values) => Number(statement.run(...values).changes),
          all: (values) => statement.all(...values),
        }
      },
    }
  }
  return { name: 'node:sqlite', open }
}

/** Node 22 warns once when the module loads. Only that one warning is held back. */
function withoutExperimentalWarning<Value>(load: () => Value): Value {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}

async function libsqlDriver(): Promise<Driver | undefined> {
  const loaded: unknown = await import('libsql').catch(() => undefined)
  if (typeof loaded !== 'object' || loaded === null || !('default' in loaded)) return undefined
  if (typeof loaded.default !== 'function') return undefined
  const Database = loaded.default as NativeConstructor
  const open = (file: string): SqlDatabase => {
    const database = new Database(file)
    return {
      exec: (sql) => void database.exec(sql),
      close: () => void database.close(),
      prepare(sql) {
        const statement = database.prepare(sql)
        return {
          run: (values) => Number(statement.run(values).changes),
          all: (values) => statement.all(values),
        }
      },
    }
  }
  return { name: 'libsql', open }
}

/** Whether another connection's lock was in the way. */
export function isBusyError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error && typeof error.errcode === 'number') return (error.errcode & 0xff) === 5
  return 'code' in error && typeof error.code === 'string' && error.code.startsWith('SQLITE_BUSY')
}
