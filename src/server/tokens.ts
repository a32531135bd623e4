// Credentials of callers, kept as digests in one file of the state folder. A token is 256 random bits; whoever reads the
// file cannot call with what stands in it. A file that does not hold lets nobody in.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { chmod, mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { sha256 } from '../base/digest.ts'
import { errorMessage } from '../base/error-text.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import { readTokenRows, type Scope, scopeProblem, type TokenCaller, type TokenRow } from './token-rows.ts'
import { withLock } from './with-lock.ts'
import { writePrivate } from './write-private.ts'

const FILE = 'tokens.json'
/** Files of the state folder that may hold a token as text, so that it can be shown again. */
const KEPT_FILES = ['call-token', 'operator-token']
/** Milliseconds for which the file is not looked at again. */
const FRESH_MS = 1_000
const TOKEN = /^lg_[A-Za-z0-9_-]{43}$/

export type Verified = { readonly kind: 'ok'; readonly row: TokenRow } | { readonly kind: 'unknown' }

export type NewToken = {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Milliseconds since the Unix epoch; absent: it does not expire. */
  readonly expiresAt?: number
  readonly caller?: TokenCaller
  /** Marks it: a person at the client may answer questions about its calls through the client. */
  readonly elicitation?: boolean
}

export type MadeToken = { readonly token: string; readonly row: TokenRow }

export type TokensOptions = {
  readonly folder: string
  readonly clock: Clock
  /** Told of a file that has come not to hold; until it does again, nobody is let in. */
  readonly log: (message: string) => void
  /**
   * Told of each change before it is made. Where it rejects, nothing is made or renewed; but a token is ended all the same, for
   * who must go cannot wait for a disk.
   */
  readonly record?: (change: TokenChange) => Promise<void>
}

export type TokenChange = { readonly what: 'created' | 'rotated' | 'revoked'; readonly row: TokenRow }

/** @throws GateConfigError for a token file that does not hold. */
export async function openTokens(options: TokensOptions): Promise<Tokens> {
  await mkdir(options.folder, { recursive: true, mode: 0o700 })
  const tokens = new Tokens(options)
  await tokens.load()
  return tokens
}

export class Tokens {
  readonly #options: TokensOptions
  readonly #file: string
  #rows: readonly TokenRow[] = []
  #stamp = ''
  #lookedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: TokensOptions) {
    this.#options = options
    this.#file = join(options.folder, FILE)
  }

  async load(): Promise<void> {
    this.#stamp = await stampOf(this.#file)
    this.#lookedAtMs = this.#options.clock.monotonic()
    if (this.#stamp === '') {
      this.#rows = []
      return
    }
    const read = readTokenRows(await readFile(this.#file, 'utf8'))
    if (read.kind === 'bad') throw new GateConfigError([{ file: this.#file, message: read.reason }])
    this.#rows = read.rows
    await chmod(this.#file, 0o600)
  }

  /** Rows as they are kept; none holds a token. */
  list(): readonly TokenRow[] {
    return this.#rows
  }

  /** Makes a token. Its plain text is in this answer and nowhere else. Throws GateConfigError for scopes that do not go together. */
  create(given: NewToken): Promise<MadeToken> {
    return this.#changing(() => this.#create(given))
  }

  async #create({ name, scopes, expiresAt, caller, elicitation }: NewToken): Promise<MadeToken> {
    const problem = scopeProblem(scopes)
    if (problem !== undefined) throw new GateConfigError([{ key: 'scopes', message: problem }])
    const token = newToken()
    const row: TokenRow = {
      id: `tok_${randomBytes(8).toString('hex')}`,
      name,
      scopes,
      hash: sha256(token),
      createdAt: Math.trunc(this.#options.clock.now()),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(caller === undefined ? {} : { caller }),
      ...(elicitation === true ? { elicitation } : {}),
    }
    await this.#options.record?.({ what: 'created', row })
    await this.#write([...this.#rows, row])
    return { token, row }
  }

  /** Ends a token; a server that is running knows it a moment later. The row that was there, or undefined. */
  revoke(id: string): Promise<TokenRow | undefined> {
    return this.#changing(async () => {
      const row = this.#rows.find((one) => one.id === id)
      if (row === undefined) return undefined
      await this.#recordEnd(row)
      await this.#write(this.#rows.filter((one) => one !== row))
      return row
    })
  }

  async #recordEnd(row: TokenRow): Promise<void> {
    try {
      await this.#options.record?.({ what: 'revoked', row })
    } catch (error) {
      this.#options.log(`the end of the token ${row.id} is not recorded: ${errorMessage(error)}`)
    }
  }

  /** Gives a credential another token and ends the one that it had. Undefined where there is no such credential. */
  rotate(id: string): Promise<MadeToken | undefined> {
    return this.#changing(() => this.#rotate(id))
  }

  async #rotate(id: string): Promise<MadeToken | undefined> {
    const old = this.#rows.find((one) => one.id === id)
    if (old === undefined) return undefined
    const token = newToken()
    const row: TokenRow = { ...old, hash: sha256(token) }
    await this.#options.record?.({ what: 'rotated', row })
    await this.#write(this.#rows.map((one) => (one === old ? row : one)))
    for (const name of KEPT_FILES) {
      const file = join(this.#options.folder, name)
      const kept = await readFile(file, 'utf8').catch(() => '')
      if (sha256(kept.trim()) === old.hash) await writePrivate(file, `${token}\n`)
    }
    return { token, row }
  }

  /** The credential as it stands now; undefined once it was ended, rotated or expired. */
  async current({ id, hash }: Pick<TokenRow, 'id' | 'hash'>): Promise<TokenRow | undefined> {
    await this.#refresh()
    const row = this.#rows.find((one) => one.id === id && one.hash === hash)
    return row === undefined || this.#isExpired(row) ? undefined : row
  }

  /**
   * The token that stands in a file of the state folder, so that it can be shown again; made where none stands there that
   * is still good. Deleting that file and asking again makes a new token and ends the old one.
   */
  async ensure(fileName: string, { name, scopes }: Pick<NewToken, 'name' | 'scopes'>): Promise<string> {
    const file = join(this.#options.folder, fileName)
    const kept = await readFile(file, 'utf8').catch(() => '')
    const verified = await this.verify(kept.trim())
    if (verified.kind === 'ok' && scopes.every((scope) => verified.row.scopes.includes(scope))) return kept.trim()
    return this.#changing(async () => {
      const old = this.#rows.filter((row) => row.name === name)
      for (const row of old) await this.#recordEnd(row)
      if (old.length > 0) await this.#write(this.#rows.filter((row) => row.name !== name))
      const { token } = await this.#create({ name, scopes })
      await writePrivate(file, `${token}\n`)
      return token
    })
  }

  /** Whose token this is. Takes as long for a wrong token as for a right one. */
  async verify(token: string): Promise<Verified> {
    await this.#refresh()
    const given = Buffer.from(sha256(token), 'hex')
    let found: TokenRow | undefined
    // Every row is compared, as digests, so that time tells nothing of how near a token came.
    for (const row of this.#rows) if (timingSafeEqual(given, Buffer.from(row.hash, 'hex'))) found = row
    if (found === undefined || !TOKEN.test(token)) return { kind: 'unknown' }
    return this.#isExpired(found) ? { kind: 'unknown' } : { kind: 'ok', row: found }
  }

  #isExpired({ expiresAt }: TokenRow): boolean {
    return expiresAt !== undefined && expiresAt <= this.#options.clock.now()
  }

  /** Another process may have made or ended tokens meanwhile. */
  async #refresh(): Promise<void> {
    const nowMs = this.#options.clock.monotonic()
    if (nowMs - this.#lookedAtMs < FRESH_MS) return
    this.#lookedAtMs = nowMs
    if ((await stampOf(this.#file)) === this.#stamp) return
    try {
      await this.load()
    } catch (error) {
      this.#rows = []
      this.#options.log(`the token file does not hold, and nobody is let in: ${errorMessage(error)}`)
    }
  }

  /** What another process has changed meanwhile is read first and stays: a credential that was ended does not come back. */
  #changing<Value>(change: () => Promise<Value>): Promise<Value> {
    return withLock(this.#file, async () => {
      await this.load()
      return change()
    })
  }

  async #write(rows: readonly TokenRow[]): Promise<void> {
    await writePrivate(this.#file, `${JSON.stringify({ version: 1, tokens: rows }, null, 2)}\n`)
    this.#rows = rows
    this.#stamp = await stampOf(this.#file)
  }
}

const newToken = (): string => `lg_${randomBytes(32).toString('base64url')}`

/** Changes whenever the file does; empty where there is none. */
async function stampOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file)
    return `${ino} ${mtimeMs} ${size}`
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}
