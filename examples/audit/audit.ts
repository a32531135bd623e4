// Records that can be trusted: signed checkpoints with a copy elsewhere, verifying, asking, replaying and erasing.
// `test/examples-observe.test.ts` runs each of these; docs/audit.md shows them.

import { join } from 'node:path'
import { z } from 'zod'
import { createGate, defineTool, type Gate } from '../../src/index.ts'

type Print = (line: string) => void

const sendMail = defineTool({
  name: 'send_mail',
  version: '1.0.0',
  description: 'Send a mail.',
  input: z.object({ to: z.string() }),
  effect: 'external',
  run: async ({ to }) => `sent to ${to}`,
})

const open = (folder: string, notes: string[]): Promise<Gate> =>
  createGate({
    tools: [sendMail],
    store: { sqlite: join(folder, 'records.db') },
    policy: { defaults: { external: 'allow' }, rules: [{ deny: 'send_mail', where: { to: '*@example.org' } }] },
    // A copy on another machine is what shows that the end of the records is gone.
    audit: { checkpointTo: [(note) => void notes.push(note)] },
  })

/** `change` is what somebody with access to the file does to it between the two looks. */
export async function verified(folder: string, print: Print, change: (file: string) => Promise<void>): Promise<void> {
  const notes: string[] = []
  const gate = await open(folder, notes)
  const session = gate.session({ user: 'ana', agent: 'helper', session: 'chat-1' })
  for (const to of ['ben@example.com', 'eva@example.org']) await session.call(sendMail, { to })
  await gate.records.checkpoint()
  print(`before: ${(await gate.records.verify({ notes })).kind}`)
  await gate.close()

  await change(join(folder, 'records.db'))
  const after = await open(folder, notes)
  try {
    const found = await after.records.verify({ notes })
    print(`after: ${found.kind === 'ok' ? 'ok' : `row ${found.seq} of ${found.chain}: ${found.reason}`}`)
  } finally {
    await after.close()
  }
}

/** Who was refused what, and what each call of a conversation would be answered today. */
export async function asked(folder: string, print: Print): Promise<void> {
  const gate = await open(folder, [])
  try {
    const session = gate.session({ user: 'ana', session: 'chat-1' })
    for (const to of ['ben@example.com', 'eva@example.org']) await session.call(sendMail, { to })
    await gate.records.flush()
    const refused = await gate.records.query({ kind: 'end', ok: false, tool: 'send_mail', limit: 10 })
    print(`refused: ${refused.length}`)
    const { steps } = await gate.replay('chat-1')
    for (const { arguments: args, recorded, today } of steps)
      print(
        `${JSON.stringify(args)}: ${recorded.decision?.kind}, today ${today.kind === 'decided' ? today.decision.kind : today.kind}`,
      )
  } finally {
    await gate.close()
  }
}

/** Everything about a person becomes unreadable, and the chain still verifies. */
export async function erased(folder: string, print: Print): Promise<void> {
  const gate = await open(folder, [])
  try {
    await gate.session({ user: 'ana' }).call(sendMail, { to: 'ben@example.com' })
    await gate.session({ user: 'eva' }).call(sendMail, { to: 'ben@example.com' })
    const { records } = await gate.records.erase({ tenant: 'local', user: 'ana' }, 'ops')
    print(`unreadable: ${records > 0}`)
    print(`of ana: ${(await gate.records.query({ kind: 'end', user: 'ana', limit: 10 })).length}`)
    print(`of eva: ${(await gate.records.query({ kind: 'end', user: 'eva', limit: 10 })).length}`)
    print((await gate.records.verify()).kind)
  } finally {
    await gate.close()
  }
}
