// The record of a checkpoint: its signed note, and the public key that it was signed with, for whoever kept none elsewhere.

import { isJsonObject } from '../../base/json-value.ts'

export type NoteBody = { readonly note: string; readonly key: string }

/** `key`: PEM. */
export const noteBody = ({ note, key }: NoteBody): string => JSON.stringify({ note, key })

export function readNoteBody(body: string): NoteBody | undefined {
  try {
    const value: unknown = JSON.parse(body)
    if (!isJsonObject(value)) return undefined
    const { note, key } = value
    return typeof note === 'string' && typeof key === 'string' ? { note, key } : undefined
  } catch {
    return undefined
  }
}
