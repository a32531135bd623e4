// Finds the signed notes in a text that copies of checkpoints were written to: one after the other as they are, or each as a
// member `note` of a line of JSON, among other lines. It checks no signature. What looks like a note and has no end, because
// writing it was interrupted, is left out.

import { isJsonObject } from '../../base/json-value.ts'

const FIRST_LINE = /^lockgate\/[0-9a-f]+$/
/** A whole one: 68 bytes. */
const SIGNATURE = /^— \S+ [A-Za-z0-9+/]{91}=$/

export function readNotes(text: string): readonly string[] {
  const notes: string[] = []
  let open: string[] | undefined
  const close = (): void => {
    if (open !== undefined && isClosed(open)) notes.push(`${open.join('\n')}\n`)
    open = undefined
  }
  for (const raw of text.split('\n')) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    const isSignature = SIGNATURE.test(line)
    if (isClosed(open) && !isSignature) close()
    if (FIRST_LINE.test(line)) open = [line]
    else if (open !== undefined) open.push(line)
    else notes.push(...noteOfLine(line))
  }
  close()
  return notes
}

const isClosed = (lines: readonly string[] | undefined): boolean => SIGNATURE.test(lines?.at(-1) ?? '')

function noteOfLine(line: string): readonly string[] {
  if (!line.startsWith('{') || !line.includes('"note"')) return []
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) && typeof value.note === 'string' ? [value.note] : []
  } catch {
    return []
  }
}
