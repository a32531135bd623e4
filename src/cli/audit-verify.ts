// `lockgate audit verify`: whether the records are as they were written. Copies of checkpoints that lie elsewhere are held against
// them, the ones of `--against` and the files that the configuration names: without any, nobody can see that the end is gone.

import { createPrivateKey, createPublicKey } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { errorMessage } from '../base/error-text.ts'
import { readNotes } from '../observe/checkpoints/read-notes.ts'
import type { VerifyOptions } from '../observe/verify.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { atDesk, type Desk, type DeskProject, signingKeyOf } from './open-desk.ts'

export const auditVerify: RunCommand = async (input) => {
  const { io, line, terminal } = input
  const named = readAll(line.texts('against').map((file) => resolve(io.cwd, file)))
  if (named.kind === 'bad') return terminal.fail('usage', `\`--against\`: ${named.reason}`)
  const empty = named.copies.find(({ notes }) => notes.length === 0)
  if (empty !== undefined) return terminal.fail('usage', `\`--against\`: ${empty.file} holds no checkpoint`)
  const keyFile = line.text('key')
  const key = keyFile === undefined ? undefined : readPublicKeys(resolve(io.cwd, keyFile))
  if (key?.kind === 'bad') return terminal.fail('usage', `\`--key\`: ${key.reason}`)
  return atDesk(input, (desk, project) => verify(desk, project, named.copies, key?.pem, input))
}

async function verify(
  desk: Pick<Desk, 'records'>,
  project: DeskProject,
  named: readonly Copy[],
  key: string | undefined,
  { terminal }: CommandInput,
): Promise<ExitCode> {
  const copies = named.length > 0 ? named : ownCopies(project, terminal)
  const publicKey = key ?? ownKey(project)
  const notes = copies.flatMap((copy) => copy.notes)
  const options: VerifyOptions = {
    ...(notes.length === 0 ? {} : { notes }),
    ...(publicKey === undefined ? {} : { publicKey }),
  }
  const verified = await desk.records.verify(options)
  terminal.value({ ...verified, against: copies.map(({ file, notes }) => ({ file, checkpoints: notes.length })) })
  if (verified.kind === 'ok') {
    terminal.line(
      ['green', 'the records hold'],
      `: ${verified.rows} rows in ${verified.chains} chains, ${verified.checkpoints} signed checkpoints`,
    )
    for (const { file, notes } of copies)
      terminal.line([
        'dim',
        `  against ${notes.length === 1 ? 'one checkpoint' : `${notes.length} checkpoints`} of ${file}`,
      ])
    for (const note of verified.notes) terminal.note(['dim', note])
    return 0
  }
  const where = verified.chain === '' ? '' : `row ${verified.seq} of chain ${verified.chain}: `
  terminal.line(['red', 'the records do not hold'], `: ${where}${verified.reason}`)
  terminal.note(['dim', `${verified.rows} rows held before it`])
  return 1
}

type Copy = { readonly file: string; readonly notes: readonly string[] }

type CopiesRead =
  | { readonly kind: 'ok'; readonly copies: readonly Copy[] }
  | { readonly kind: 'bad'; readonly reason: string }

function readAll(files: readonly string[]): CopiesRead {
  const copies: Copy[] = []
  for (const file of files) {
    try {
      copies.push({ file, notes: readNotes(readFileSync(file, 'utf8')) })
    } catch (error) {
      return { kind: 'bad', reason: `${file} cannot be read: ${errorMessage(error)}` }
    }
  }
  return { kind: 'ok', copies }
}

/** The files that copies go to. One that is not there, or not any more, is said: it proves nothing. */
function ownCopies({ config }: DeskProject, terminal: CommandInput['terminal']): readonly Copy[] {
  const files = (config.audit.checkpointTo ?? []).flatMap((place) =>
    typeof place === 'object' && 'file' in place ? [place.file] : [],
  )
  return files.flatMap((file) => {
    const read = readAll([file])
    if (read.kind === 'ok') return read.copies
    terminal.note(['yellow', 'warning: '], `the copies of checkpoints in ${read.reason}`)
    return []
  })
}

/** The public half of the key that signs here; undefined where there is none yet, or it cannot be read. */
function ownKey(project: DeskProject): string | undefined {
  const key = signingKeyOf(project)
  try {
    if ('file' in key && !existsSync(key.file)) return undefined
    return publicHalf('file' in key ? readFileSync(key.file, 'utf8') : key.pem)
  } catch {
    return undefined
  }
}

type KeyRead = { readonly kind: 'ok'; readonly pem: string } | { readonly kind: 'bad'; readonly reason: string }

/** One key or several, public ones; of a private one its public half. */
function readPublicKeys(file: string): KeyRead {
  try {
    const text = readFileSync(file, 'utf8')
    const pem = text.includes('PRIVATE KEY') ? publicHalf(text) : text
    createPublicKey(pem)
    return { kind: 'ok', pem }
  } catch (error) {
    return { kind: 'bad', reason: `${file} holds no public key in PEM: ${errorMessage(error)}` }
  }
}

const publicHalf = (privateKey: string): string =>
  createPublicKey(createPrivateKey(privateKey)).export({ type: 'spki', format: 'pem' }).toString()
