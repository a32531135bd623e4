// A gate inside of an agent's own process: one tool of the host, the file tools, and what the four kinds of answers look like.
// `test/examples.test.ts` runs this file; docs/library.md shows it.

import { z } from 'zod'
import { builtinTools, createGate, defineTool, type Outcome, toolFailure } from '../../src/index.ts'

const invoices = new Map([['INV-7', { number: 'INV-7', total: 120 }]])

const readInvoice = defineTool({
  name: 'read_invoice',
  version: '1.0.0',
  description: 'Read one invoice by its number.',
  input: z.object({ number: z.string().regex(/^INV-\d+$/) }),
  output: z.object({ number: z.string(), total: z.number() }),
  effect: 'read',
  run: async ({ number }) =>
    invoices.get(number) ?? toolFailure({ code: 'no_such_invoice', message: `there is no invoice \`${number}\`` }),
})

/** `print` gets one line for each answer. */
export async function embed(workspace: string, print: (line: string) => void): Promise<void> {
  const gate = await createGate({
    tools: [readInvoice],
    sources: [builtinTools(['files'])],
    workspace,
    policy: {
      rules: [{ deny: { resource: 'read file:**/.env*' }, because: 'keys stay out of the context' }],
    },
  })
  try {
    const session = gate.session({ user: 'ana', agent: 'helper' })
    // What goes into the request to the model: names, descriptions, JSON Schemas.
    const reading = session.tools().filter(({ annotations }) => annotations.readOnlyHint)
    print(`tools that only read: ${reading.map(({ name }) => name).join(', ')}`)

    // Typed: the arguments are checked by the compiler, `value` is an invoice.
    const invoice = await session.call(readInvoice, { number: 'INV-7' })
    if (invoice.ok) print(`total ${invoice.value.total}`)

    // As a model writes it: a name and JSON text.
    print(ending(await session.call({ name: 'read_invoice', arguments: '{"number": "INV-8"}' })))
    print(ending(await session.call({ name: 'read_file', arguments: { path: '.env' } })))
    print(ending(await session.call({ name: 'read_file', arguments: { path: '../outside' } })))

    // A write asks. The host puts the question to a person; the equal call made after the answer runs, once.
    const note = { name: 'write_file', arguments: { path: 'note.txt', content: 'done' } }
    const asked = await session.call(note)
    print(ending(asked))
    if (!asked.ok && asked.error.type === 'approval_required') {
      await gate.approvals.decide(String(asked.error.details?.approvalId), { decision: 'approve', by: 'ana' })
      print(ending(await session.call(note)))
    }
  } finally {
    await gate.close()
  }
}

const ending = (outcome: Outcome): string =>
  outcome.ok
    ? `${outcome.meta.tool}: ok`
    : `${outcome.meta.tool}: ${outcome.error.type}, effect ${outcome.error.effect}`
