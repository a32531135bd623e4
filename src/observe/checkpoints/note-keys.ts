// Public keys out of PEM texts. A key that is not Ed25519 counts as none.

import { createPublicKey } from 'node:crypto'
import { type NoteKey, noteKey } from '../../base/signed-note.ts'

const BLOCK = /-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----/g

/** All keys of a text that holds one or several, one after the other: also those of before a change of keys. */
export function noteKeys(pem: string): readonly NoteKey[] {
  return [...pem.matchAll(BLOCK)].flatMap(([block]) => {
    try {
      return [noteKey(createPublicKey(block))]
    } catch {
      return []
    }
  })
}
