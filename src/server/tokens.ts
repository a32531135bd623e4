// Credentials of callers, kept as digests in one file of the state folder. A token is 256 random bits; whoever reads the
// file cannot call with what stands in it. A file that does not hold lets nobody in.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { sha256 } from '../base/digest.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import { readTokenRows, type Scope, type TokenCaller, type TokenRow } from './token-rows.ts'

const FILE = 'tokens.json'
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
}

export type TokensOptions = {
  readonly folder: string
  readonly clock: Clock
  /** Told of a file that has come not to hold; until it does again, nobody is let in. */
  readonly log: (message: string) => void
}

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

  /** Makes a token. Its plain text is in this answer and nowhere else. */
  async create({
    name,
    scopes,
    expiresAt,
    caller,
  }: NewToken): Promise<{ readonly token: string; readonly row: TokenRow }> {
    await this.load()
    const token = `lg_${randomBytes(32).toString('base64url')}`
    const row: TokenRow = {
      id: `tok_${randomBytes(8).toString('hex')}`,
      name,
      scopes,
      hash: sha256(token),
      createdAt: this.#options.clock.now(),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(caller === undefined ? {} : { caller }),
    }
    await this.#write([...this.#rows, row])
    return { token, row }
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
    await this.load()
    await this.#write(this.#rows.filter((row) => row.name !== name))
    const { token } = await this.create({ name, scopes })
    await writePrivate(file, `${token}\n`)
    return token
  }

  /** Whose token this is. Takes as long for a wrong token as for a right one. */
  async verify(token: string): Promise<Verified> {
    await this.#refresh()
    const given = Buffer.from(sha256(token), 'hex')
    let found: TokenRow | undefined
    // Every row is compared, as digests, so that time tells nothing of how near a token came.
    for (const row of this.#rows) if (timingSafeEqual(given, Buffer.from(row.hash, 'hex'))) found = row
    if (found === undefined || !TOKEN.test(token)) return { kind: 'unknown' }
    if (found.expiresAt !== undefined && found.expiresAt <= this.#options.clock.now()) return { kind: 'unknown' }
    return { kind: 'ok', row: found }
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
      this.#options.log(
        `the token file does not hold, and nobody is let in: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }

  async #write(rows: readonly TokenRow[]): Promise<void> {
    await writePrivate(this.#file, `${JSON.stringify({ version: 1, tokens: rows }, null, 2)}\n`)
    this.#rows = rows
    this.#stamp = await stampOf(this.#file)
  }
}

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

/** Writes a file that only its owner can read, whole or not at all. */
async function writePrivate(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file).catch(async (error: unknown) => {
    await rm(temporary, { force: true })
    throw error
  })
}
