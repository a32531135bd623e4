// `lockgate audit checkpoint` and `key`: signs the end of every chain now, and gives out what proves it elsewhere. Of the key that
// signs only its public half is shown.

import { readNoteBody } from '../observe/checkpoints/note-body.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { atDesk, type Desk } from './open-desk.ts'

export const auditCheckpoint: RunCommand = (input) => atDesk(input, (desk) => checkpoint(desk, input), { signs: true })

async function checkpoint(desk: Pick<Desk, 'records'>, { terminal }: CommandInput): Promise<ExitCode> {
  // Opening the desk may have signed what others left, and then nothing is left to sign.
  const note = (await desk.records.checkpoint()) ?? (await newestNote(desk))
  terminal.value({ note: note ?? null })
  if (note === undefined) terminal.note('there are no records to sign yet')
  else terminal.block(note)
  return 0
}

async function newestNote({ records }: Pick<Desk, 'records'>): Promise<string | undefined> {
  const [row] = await records.query({ kind: 'checkpoint', newestFirst: true, limit: 1 })
  return row === undefined ? undefined : readNoteBody(row.body)?.note
}

export const auditKey: RunCommand = (input) =>
  atDesk(
    input,
    async (desk): Promise<ExitCode> => {
      const pem = await desk.records.publicKey()
      input.terminal.value({ publicKey: pem })
      input.terminal.block(pem)
      return 0
    },
    { signs: true },
  )
