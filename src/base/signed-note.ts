// Signed notes of the C2SP (https://c2sp.org/signed-note) with Ed25519: a text of lines, a blank line, and one line for each
// signature. Other software can check them. A note that is not exactly of this form is no note: nothing is repaired.

import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

/** `name`: what the signer is called; not empty, and without white space or `+`. */
export type NoteSigner = { readonly name: string; readonly privateKey: KeyObject }

/** Who has to have signed. The name stands in the note, and its key decides. */
export type NoteKey = { readonly publicKey: KeyObject; readonly bytes: Buffer }

const NAME = /^[^\s+]+$/u
const SIGNATURE_LINE = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u
const ED25519 = 0x01
const ID_BYTES = 4
const SIGNATURE_BYTES = 64
const KEY_BYTES = 32

/** Throws for a key that is not Ed25519. */
export function noteKey(key: KeyObject): NoteKey {
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('expected an Ed25519 key')
  const publicKey = key.type === 'private' ? createPublicKey(key) : key
  return { publicKey, bytes: publicKey.export({ type: 'spki', format: 'der' }).subarray(-KEY_BYTES) }
}

/** `text`: lines, each of them ended. */
export function signNote(text: string, { name, privateKey }: NoteSigner): string {
  if (!text.endsWith('\n') || !NAME.test(name))
    throw new TypeError('a note is lines of text, and its signer has a name')
  const signature = sign(null, Buffer.from(text), privateKey)
  const id = keyId(name, noteKey(privateKey))
  return `${text}\n— ${name} ${Buffer.concat([id, signature]).toString('base64')}\n`
}

export type OpenedNote = { readonly text: string; readonly key: NoteKey }

/** The text of a note that one of the keys has signed; undefined for all others. */
export function openNote(note: string, keys: readonly NoteKey[]): OpenedNote | undefined {
  const parts = splitNote(note)
  if (parts === undefined) return undefined
  const bytes = Buffer.from(parts.text)
  for (const { name, blob } of parts.signatures) {
    const key = keys.find((known) => keyId(name, known).equals(blob.subarray(0, ID_BYTES)))
    if (key !== undefined && verify(null, bytes, key.publicKey, blob.subarray(ID_BYTES)))
      return { text: parts.text, key }
  }
  return undefined
}

type Signature = { readonly name: string; readonly blob: Buffer }

/** A signature line that does not hold is no note either: whoever adds lines shall not be let through. */
function splitNote(note: string): { readonly text: string; readonly signatures: readonly Signature[] } | undefined {
  const blank = note.lastIndexOf('\n\n')
  if (blank === -1 || !note.endsWith('\n')) return undefined
  const signatures: Signature[] = []
  for (const line of note.slice(blank + 2, -1).split('\n')) {
    const [, name, base64] = SIGNATURE_LINE.exec(line) ?? []
    const blob = Buffer.from(base64 ?? '', 'base64')
    if (name === undefined || blob.length !== ID_BYTES + SIGNATURE_BYTES) return undefined
    if (blob.toString('base64') !== base64) return undefined
    signatures.push({ name, blob })
  }
  return { text: note.slice(0, blank + 1), signatures }
}

const keyId = (name: string, { bytes }: NoteKey): Buffer =>
  createHash('sha256')
    .update(`${name}\n`)
    .update(Buffer.from([ED25519]))
    .update(bytes)
    .digest()
    .subarray(0, ID_BYTES)
