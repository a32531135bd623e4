// The key that signs checkpoints: Ed25519, given as PEM or in a file of its own that nobody but its owner can read and that lies
// outside of every workspace. A file that is not there is made when the key is first needed. One that others can read, that is
// a link, or that holds another kind of key is refused, and never replaced: who has the old one can still prove with it.

import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { sha256 } from '../base/digest.ts'
import { type NoteSigner, noteKey } from '../base/signed-note.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import type { Workspace } from '../describe/workspace.ts'
import type { AuditOptions, GateOptions } from '../gate-contract.ts'
import type { OwnFileList } from './open-workspace.ts'

const KEY = 'audit.signingKey'
const NAME_DIGITS = 16

export type Signing = { readonly signer: NoteSigner; readonly publicKey: string }

/** Where the key lies that nobody names. */
export const besideDatabase = (database: string): string =>
  join(dirname(database), `${basename(database)}.signing-key.pem`)

/** The key of a gate; undefined where nothing is signed. Throws GateConfigError for one that does not hold. */
export function signingKeyOf(
  options: { readonly store?: GateOptions['store']; readonly audit?: AuditOptions },
  workspace: Workspace & { readonly own: OwnFileList },
): SigningKey | undefined {
  const given = options.audit?.signingKey
  if (given !== undefined && 'pem' in given) return SigningKey.of(given.pem)
  const { store } = options
  const database = typeof store === 'object' && 'sqlite' in store ? store.sqlite : undefined
  const file = given?.file ?? (database === undefined ? undefined : besideDatabase(database))
  if (file === undefined) return undefined
  // One that nobody named lies wherever the database lies, and is kept from tools as that is.
  if (given?.file !== undefined) checkOutside(file, workspace, KEY)
  workspace.own.add(file)
  return SigningKey.in(resolve(file))
}

export class SigningKey {
  readonly #file: string | undefined
  #signing: Signing | undefined

  private constructor(file: string | undefined, signing: Signing | undefined) {
    this.#file = file
    this.#signing = signing
  }

  static of(pem: string): SigningKey {
    return new SigningKey(undefined, signingOf(pem, 'the text'))
  }

  /** What is there is checked at once. */
  static in(file: string): SigningKey {
    return new SigningKey(file, readKey(file))
  }

  /** Makes the key where there is none yet. Throws where it cannot be kept. */
  signing(): Signing {
    this.#signing ??= this.#made()
    return this.#signing
  }

  #made(): Signing {
    const file = this.#file
    if (file === undefined) throw new Error('a key that was given is always there')
    const { privateKey } = generateKeyPairSync('ed25519')
    writeOnce(file, String(privateKey.export({ type: 'pkcs8', format: 'pem' })))
    // Of several gates that start at once, all take the key of the first.
    const made = readKey(file)
    if (made === undefined) throw new Error(`the signing key ${file} cannot be kept`)
    return made
  }
}

/** A file of the gate's own may not be in reach of programs that tools start. */
export function checkOutside(file: string, { roots }: Workspace, key: string): void {
  const absolute = resolve(file)
  for (const path of new Set([absolute, realPath(absolute)]))
    for (const root of roots.values())
      if (path === root || path.startsWith(root.endsWith(sep) ? root : root + sep))
        throw refused(`\`${file}\` lies inside the workspace; name a file outside of it`, key)
}

function realPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    const folder = dirname(file)
    return folder === file ? file : join(realPath(folder), basename(file))
  }
}

function readKey(file: string): Signing | undefined {
  const status = lstatSync(file, { throwIfNoEntry: false })
  if (status === undefined) return undefined
  if (!status.isFile()) throw refused(`\`${file}\` is no regular file`)
  const user = process.getuid?.()
  if (user !== undefined && status.uid !== user) throw refused(`\`${file}\` belongs to somebody else`)
  if (user !== undefined && (status.mode & 0o077) !== 0)
    throw refused(`others can get at \`${file}\`; make it a file of your own with mode 600`)
  return signingOf(readFileSync(file, 'utf8'), `\`${file}\``)
}

/** The name of the signer follows from the key: it tells the series of one key from those of another. */
function signingOf(pem: string, what: string): Signing {
  const privateKey = parsed(pem)
  if (privateKey?.asymmetricKeyType !== 'ed25519')
    throw refused(`expected an Ed25519 private key, PKCS #8 in PEM; ${what} holds none`)
  const { bytes, publicKey } = noteKey(privateKey)
  const name = `lockgate/${sha256(bytes).slice(0, NAME_DIGITS)}`
  return { signer: { name, privateKey }, publicKey: String(publicKey.export({ type: 'spki', format: 'pem' })) }
}

function parsed(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    return undefined
  }
}

/** Whole or not at all, and never readable by others. A file that is there already is left alone. */
function writeOnce(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
    linkSync(temporary, file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    closeSync(descriptor)
    rmSync(temporary, { force: true })
  }
}

const refused = (message: string, key = KEY): GateConfigError => new GateConfigError([{ key, message }])
