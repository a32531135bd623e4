// The form of a signed note is that of the C2SP: the key id, the line of a signature and the signed bytes are recomputed here.

import { createHash, generateKeyPairSync, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { noteKey, openNote, signNote } from './signed-note.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const name = 'example.com/log'
const text = 'example.com/log\n12\nhash\n'
const note = signNote(text, { name, privateKey })
const key = noteKey(publicKey)

test('a note that is not exactly of the form, or that none of the keys signed, is none', () => {
  const other = noteKey(generateKeyPairSync('ed25519').publicKey)
  expect(openNote(note, [other])).toBeUndefined()
  expect(openNote(note, [])).toBeUndefined()
  const line = note.slice(text.length + 1)
  for (const changed of [
    '',
    text,
    note.slice(0, -1),
    `${note}\n`,
    `${note}x\n`,
    note.replace('12', '13'),
    note.replace('—', '-'),
    note.replace(name, 'example.com/other').replace(/— \S+/, '— example.com/other'),
    `${text}\n${line}— ${name} AAAA\n`,
    note.replace(/=\n$/, '\n'),
  ])
    expect(openNote(changed, [key]), JSON.stringify(changed)).toBeUndefined()
})

test('a note is its text, a blank line, and a line with name, key id and signature', () => {
  const [, id64 = ''] = /^— example\.com\/log (\S+)\n$/.exec(note.slice(text.length + 1)) ?? []
  const blob = Buffer.from(id64, 'base64')
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
  const id = createHash('sha256')
    .update(Buffer.concat([Buffer.from(`${name}\n\x01`), raw]))
    .digest()
    .subarray(0, 4)
  expect(blob.subarray(0, 4)).toEqual(id)
  expect(verify(null, Buffer.from(text), publicKey, blob.subarray(4))).toBe(true)
  expect(openNote(note, [key])?.text).toBe(text)
})

test('only lines of text can be signed, and only by an Ed25519 key with a name', () => {
  expect(() => signNote('no line end', { name, privateKey })).toThrow(TypeError)
  for (const bad of ['', 'a b', 'a+b']) expect(() => signNote(text, { name: bad, privateKey })).toThrow(TypeError)
  expect(() => noteKey(generateKeyPairSync('x25519').publicKey)).toThrow(TypeError)
})
