// The keys of the persons that records are about. What is sealed with one can be read as long as its row in `subjects`
// stands: destroying that row makes everything sealed with it unreadable, wherever copies of it lie. Keys are random, one for
// each tenant and user, and are encrypted in turn where the operator gave a key of their own. It never hands a key out.

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import type { RecordSubject } from '../observe/store.ts'
import type { SqlDatabase, SqlStatement } from './sqlite-driver.ts'
import { asBytes, bytesOrNull, numberOf, textOf } from './sqlite-values.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Keys that are kept at hand; the oldest go first. */
const KEPT_MAX = 10_000
const NONCES = 256

const CHECK = 'audit key check'

/** What a sealed content is for: one for another purpose is not opened. */
export type SealPurpose = 'record' | 'journal' | 'artifact'

export type Sealed = { readonly subject: string; readonly sealed: Buffer }

type Kept = { readonly id: string; readonly key: Buffer }

export class SubjectKeys {
  readonly #operatorKey: Buffer | undefined
  readonly #byPerson: SqlStatement
  readonly #byId: SqlStatement
  readonly #insert: SqlStatement
  readonly #delete: SqlStatement
  readonly #erasures: SqlStatement
  readonly #get: SqlStatement
  readonly #plain: SqlStatement
  readonly #wrap: SqlStatement
  readonly #set: SqlStatement
  readonly #ofPerson = new Map<string, Kept>()
  readonly #ofId = new Map<string, Buffer | null>()
  readonly #tags = new Map<string, number>()
  #nonces = Buffer.alloc(0)
  #storeKey: Buffer | undefined
  #seenErasures = 0

  /** `key`: the operator's, 32 bytes in base64. */
  constructor(database: SqlDatabase, key?: string) {
    this.#operatorKey = key === undefined ? undefined : Buffer.from(key, 'base64')
    if (this.#operatorKey !== undefined && this.#operatorKey.length !== KEY_BYTES)
      throw new RangeError('the audit key is 32 bytes in base64')
    this.#byPerson = database.prepare(
      `SELECT ${asBytes('id')}, key, wrapped FROM subjects WHERE tenant = ? AND user = ?`,
    )
    this.#byId = database.prepare('SELECT key, wrapped FROM subjects WHERE id = ?')
    this.#insert = database.prepare('INSERT INTO subjects (id, tenant, user, key, wrapped) VALUES (?, ?, ?, ?, ?)')
    this.#delete = database.prepare('DELETE FROM subjects WHERE id = ?')
    this.#erasures = database.prepare(`SELECT ${asBytes('value')} FROM sealing WHERE name = 'erasures'`)
    this.#get = database.prepare(`SELECT ${asBytes('value')} FROM sealing WHERE name = ?`)
    this.#plain = database.prepare(`SELECT ${asBytes('id')}, key FROM subjects WHERE wrapped = 0`)
    this.#wrap = database.prepare('UPDATE subjects SET key = ?, wrapped = 1 WHERE id = ?')
    this.#set = database.prepare('INSERT OR REPLACE INTO sealing VALUES (?, ?)')
  }

  /**
   * At the beginning of each write transaction: what another process has destroyed is not used any more. The first time it
   * makes or reads the store's own key, and throws where the operator's key is missing or is not the one that was used before.
   */
  refresh(): void {
    this.lookAgain()
    if (this.#storeKey === undefined) this.#prepare()
  }

  /** Before anything is read: as `refresh`, without writing. */
  lookAgain(): void {
    const erasures = this.#countErasures()
    if (erasures === this.#seenErasures) return
    this.#seenErasures = erasures
    this.#ofPerson.clear()
    this.#ofId.clear()
  }

  #prepare(): void {
    const check = this.#setting('audit_key_check')
    if (check === undefined && this.#operatorKey !== undefined) this.#wrapAll()
    if (check !== undefined && this.#operatorKey === undefined)
      throw new Error('its keys are encrypted: the audit key that they were encrypted with is needed')
    if (check !== undefined && this.#unwrapped(Buffer.from(check, 'base64'), CHECK) === undefined)
      throw new Error('the audit key is not the one that its keys were encrypted with')
    this.#storeKey = this.#readStoreKey()
  }

  /** After a transaction that was taken back: keys of persons that were made in it are gone. */
  forget(): void {
    this.#ofPerson.clear()
    this.#ofId.clear()
  }

  /** HMAC-SHA-256 in hexadecimal with the key of the store. */
  hmac(text: string): string {
    if (this.#storeKey === undefined) throw new Error('the key of the store is not known yet')
    return createHmac('sha256', this.#storeKey).update(text).digest('hex')
  }

  /** A number that stands for a session, and that nobody without the key of the store finds its name by. */
  tag(session: string): number {
    const known = this.#tags.get(session)
    if (known !== undefined) return known
    const tag = Number.parseInt(this.hmac(`session\n${session}`).slice(0, 12), 16)
    if (this.#tags.size >= KEPT_MAX) this.#tags.clear()
    this.#tags.set(session, tag)
    return tag
  }

  /** Inside a write transaction: a person who was not met before gets a key. */
  seal(subject: RecordSubject, purpose: SealPurpose, content: string | Uint8Array): Sealed {
    const { id, key } = this.#keyOf(subject) ?? this.#newKey(subject)
    return { subject: id, sealed: encrypt(key, this.#nonce(), `${purpose}\n${id}`, content) }
  }

  /** Undefined where the key was destroyed, or the content is not what was sealed for this purpose. */
  open(subject: string, purpose: SealPurpose, sealed: Uint8Array): Buffer | undefined {
    const key = this.#keyOfId(subject)
    return key === undefined ? undefined : decrypt(key, `${purpose}\n${subject}`, sealed)
  }

  /** Under which id a person's records stand, where they have a key. */
  idOf(subject: RecordSubject): string | undefined {
    return this.#keyOf(subject)?.id
  }

  /** Inside a write transaction. Answers the id under which the person's records stood. */
  destroy(subject: RecordSubject): string | undefined {
    const id = this.idOf(subject)
    if (id === undefined) return undefined
    this.#delete.run([id])
    this.#set.run(['erasures', String(this.#countErasures() + 1)])
    this.lookAgain()
    return id
  }

  #keyOf({ tenant, user }: RecordSubject): Kept | undefined {
    const name = `${tenant.length}:${tenant}${user}`
    const kept = this.#ofPerson.get(name)
    if (kept !== undefined) return kept
    const [row] = this.#byPerson.all([tenant, user])
    if (row === undefined) return undefined
    const id = textOf(row, 'id')
    return this.#keep(name, { id, key: this.#read(row, id) })
  }

  #newKey({ tenant, user }: RecordSubject): Kept {
    const id = randomBytes(16).toString('hex')
    const key = randomBytes(KEY_BYTES)
    const wrapped = this.#wrapped(key, id)
    this.#insert.run([id, tenant, user, wrapped ?? key, wrapped === undefined ? 0 : 1])
    return this.#keep(`${tenant.length}:${tenant}${user}`, { id, key })
  }

  #keep(name: string, kept: Kept): Kept {
    if (this.#ofPerson.size >= KEPT_MAX) this.#ofPerson.clear()
    this.#ofPerson.set(name, kept)
    this.#ofId.set(kept.id, kept.key)
    return kept
  }

  #keyOfId(id: string): Buffer | undefined {
    const kept = this.#ofId.get(id)
    if (kept !== undefined) return kept ?? undefined
    const [row] = this.#byId.all([id])
    const key = row === undefined ? null : this.#read(row, id)
    if (this.#ofId.size >= KEPT_MAX) this.#ofId.clear()
    this.#ofId.set(id, key)
    return key ?? undefined
  }

  #read(row: Readonly<Record<string, unknown>>, id: string): Buffer {
    const bytes = Buffer.from(bytesOrNull(row, 'key') ?? [])
    const key = numberOf(row, 'wrapped') === 0 ? bytes : this.#unwrapped(bytes, id)
    if (key?.length !== KEY_BYTES) throw new Error('a key of a person cannot be read')
    return key
  }

  /** The operator's key is new: keys that were kept as they are are encrypted from now on. */
  #wrapAll(): void {
    for (const row of this.#plain.all([])) {
      const id = textOf(row, 'id')
      const wrapped = this.#wrapped(Buffer.from(bytesOrNull(row, 'key') ?? []), id)
      if (wrapped !== undefined) this.#wrap.run([wrapped, id])
    }
    const plain = this.#setting('store_key')
    const own = plain === undefined ? undefined : this.#wrapped(Buffer.from(plain, 'base64'), 'store')
    if (own !== undefined) this.#set.run(['store_key', own.toString('base64')])
    const check = this.#wrapped(randomBytes(KEY_BYTES), CHECK)
    if (check !== undefined) this.#set.run(['audit_key_check', check.toString('base64')])
  }

  #readStoreKey(): Buffer {
    const text = this.#setting('store_key')
    if (text !== undefined) {
      const bytes = Buffer.from(text, 'base64')
      const key = this.#operatorKey === undefined ? bytes : this.#unwrapped(bytes, 'store')
      if (key?.length !== KEY_BYTES) throw new Error('the key of the store cannot be read')
      return key
    }
    const key = randomBytes(KEY_BYTES)
    this.#set.run(['store_key', (this.#wrapped(key, 'store') ?? key).toString('base64')])
    return key
  }

  #countErasures(): number {
    const [row] = this.#erasures.all([])
    return row === undefined ? 0 : Number(textOf(row, 'value'))
  }

  #setting(name: string): string | undefined {
    const [row] = this.#get.all([name])
    return row === undefined ? undefined : textOf(row, 'value')
  }

  #wrapped(key: Buffer, about: string): Buffer | undefined {
    return this.#operatorKey === undefined
      ? undefined
      : encrypt(this.#operatorKey, randomBytes(NONCE_BYTES), about, key)
  }

  #unwrapped(bytes: Uint8Array, about: string): Buffer | undefined {
    return this.#operatorKey === undefined ? undefined : decrypt(this.#operatorKey, about, bytes)
  }

  /** Random, and fetched many at a time. */
  #nonce(): Buffer {
    if (this.#nonces.length === 0) this.#nonces = randomBytes(NONCES * NONCE_BYTES)
    const nonce = this.#nonces.subarray(0, NONCE_BYTES)
    this.#nonces = this.#nonces.subarray(NONCE_BYTES)
    return nonce
  }
}

function encrypt(key: Buffer, nonce: Buffer, about: string, content: string | Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(about))
  const bytes = typeof content === 'string' ? cipher.update(content, 'utf8') : cipher.update(content)
  const last = cipher.final()
  return Buffer.concat([nonce, bytes, last, cipher.getAuthTag()])
}

function decrypt(key: Buffer, about: string, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined
  const end = sealed.length - TAG_BYTES
  const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  try {
    cipher.setAAD(Buffer.from(about))
    cipher.setAuthTag(sealed.subarray(end))
    return Buffer.concat([cipher.update(sealed.subarray(NONCE_BYTES, end)), cipher.final()])
  } catch {
    return undefined
  }
}
