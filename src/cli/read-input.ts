// Text that comes in on standard input or from a file that the operator names: bounded, and UTF-8.

import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import type { CliIo } from './cli-io.ts'

// More than the gate takes as arguments, so that it is the gate that says what is too much.
const BYTES_MAX = 4 * 1_048_576

export type InputText =
  | { readonly kind: 'ok'; readonly text: string }
  | { readonly kind: 'bad'; readonly reason: string }

/** A file, or standard input for `-`. */
export function readInput(name: string, { stdin, cwd }: CliIo): Promise<InputText> {
  return readStream(name === '-' ? stdin : createReadStream(resolve(cwd, name)))
}

async function readStream(stream: Readable): Promise<InputText> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stream) {
      const piece = Buffer.from(chunk)
      bytes += piece.length
      if (bytes > BYTES_MAX) return { kind: 'bad', reason: `this holds more than ${BYTES_MAX} bytes` }
      chunks.push(piece)
    }
  } catch (error) {
    return { kind: 'bad', reason: error instanceof Error ? error.message : String(error) }
  }
  try {
    return { kind: 'ok', text: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)) }
  } catch {
    return { kind: 'bad', reason: 'this is not valid UTF-8' }
  }
}
