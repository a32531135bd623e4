// What lies between "allowed" and "done": lanes, guards, repeating, kept answers, places, limits, jobs, calls inside calls.
// `test/examples.test.ts` runs each of these; docs/execution.md shows them.

import { z } from 'zod'
import { builtinTools, createGate, defineTool, type Outcome, toolFailure } from '../../src/index.ts'

type Print = (line: string) => void

const OPEN = { defaults: { write: 'allow', execute: 'allow', external: 'allow' } } as const

/** Reads of one turn run beside each other; a write waits for what came before it and touches the same. */
export async function lanes(print: Print): Promise<void> {
  const revisions = new Map([
    [1, 1],
    [2, 1],
  ])
  let running = 0
  let most = 0
  const page = (name: string, effect: 'read' | 'write') =>
    defineTool({
      name,
      version: '1.0.0',
      description: `A ${effect} of one page.`,
      input: z.object({ page: z.number() }),
      effect,
      touches: ({ page }) => [`${effect} page:${page}`],
      run: async ({ page }) => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 20))
        running -= 1
        if (effect === 'write') revisions.set(page, (revisions.get(page) ?? 0) + 1)
        return `${page}.${revisions.get(page)}`
      },
    })
  const gate = await createGate({ tools: [page('look', 'read'), page('edit', 'write')], policy: OPEN })
  try {
    const outcomes = await gate.session({ user: 'ana' }).turn([
      { name: 'look', arguments: { page: 1 } },
      { name: 'look', arguments: { page: 2 } },
      { name: 'edit', arguments: { page: 1 } },
      { name: 'look', arguments: { page: 1 } },
    ])
    print(outcomes.map(shown).join(', '))
    print(`at most ${most} at once`)
  } finally {
    await gate.close()
  }
}

/** Failures that say that nothing happened are tried again; a guard of the host stands around each try. */
export async function guards(print: Print): Promise<void> {
  let down = 2
  const order = defineTool({
    name: 'order',
    version: '1.0.0',
    description: 'Order something.',
    input: z.object({ what: z.string() }),
    effect: 'external',
    repeat: 'keyed',
    retry: { times: 3, backoffMs: 1 },
    run: async ({ what }, { idempotencyKey }) => {
      if (down-- > 0)
        return toolFailure({
          type: 'unavailable',
          code: 'shop_closed',
          message: 'the shop does not answer',
          effect: 'none',
        })
      return { what, key: idempotencyKey }
    },
  })
  const gate = await createGate({
    tools: [order],
    policy: OPEN,
    guards: [
      {
        for: { tool: 'order' },
        guard: 'own',
        name: 'say',
        bounds: 'prints each try',
        at: 'try',
        run: async ({ attempt }, next) => {
          const answer = await next()
          print(`try ${attempt}: ${answer.kind === 'failure' ? answer.error.type : 'ok'}`)
          return answer
        },
      },
    ],
  })
  try {
    print(
      gate
        .guards('order')
        .map(({ name }) => name)
        .join(' → '),
    )
    const outcome = await gate.session({ user: 'ana' }).call({ name: 'order', arguments: { what: 'tea' } })
    print(`${outcome.ok ? 'ok' : outcome.error.type} after ${outcome.meta.attempts} tries`)
  } finally {
    await gate.close()
  }
}

/** The same key, the same call: it acts once, and its answer is given again. */
export async function keys(print: Print): Promise<void> {
  let sent = 0
  const send = defineTool({
    name: 'send_mail',
    version: '1.0.0',
    description: 'Send a mail.',
    input: z.object({ to: z.string() }),
    effect: 'external',
    repeat: 'never',
    run: async () => {
      sent += 1
      return `mail ${sent}`
    },
  })
  const gate = await createGate({ tools: [send], policy: OPEN })
  try {
    const session = gate.session({ user: 'ana' })
    const call = { name: 'send_mail', arguments: { to: 'bo@example.com' }, idempotencyKey: 'invoice-7' }
    const first = await session.call(call)
    const again = await session.call(call)
    print(`${shown(first)}, then ${shown(again)}, sent ${sent}`)
    print(`replayed: ${again.meta.replayOf === first.meta.callId}, tries ${again.meta.attempts}`)
    print(shown(await session.call({ ...call, arguments: { to: 'eve@example.com' } })))
  } finally {
    await gate.close()
  }
}

/** An answer of a read is kept until something that touches the same is changed through the gate, or its time is over. */
export async function cache(print: Print): Promise<void> {
  let price = 3
  const look = defineTool({
    name: 'price_of',
    version: '1.0.0',
    description: 'What something costs.',
    input: z.object({ item: z.string() }),
    effect: 'read',
    touches: ({ item }) => [`read price:${item}`],
    cache: { forMs: 60_000 },
    run: async () => price,
  })
  const set = defineTool({
    name: 'set_price',
    version: '1.0.0',
    description: 'Say what something costs.',
    input: z.object({ item: z.string(), price: z.number() }),
    effect: 'write',
    touches: ({ item }) => [`write price:${item}`],
    run: async (args) => {
      price = args.price
      return price
    },
  })
  const gate = await createGate({ tools: [look, set], policy: OPEN })
  try {
    const session = gate.session({ user: 'ana' })
    const ask = async () => {
      const outcome = await session.call({ name: 'price_of', arguments: { item: 'tea' } })
      print(`${shown(outcome)}${outcome.meta.cached === undefined ? '' : ', kept'}`)
    }
    await ask()
    await ask()
    await session.call({ name: 'set_price', arguments: { item: 'tea', price: 4 } })
    await ask()
  } finally {
    await gate.close()
  }
}

/** Work that would block the gate runs in a thread, and ends at its deadline whatever it does. */
export async function workers(print: Print): Promise<void> {
  const module = new URL('./worker-tools.js', import.meta.url).href
  const inWorker = (name: string, input: z.ZodObject, deadlineMs: number) =>
    defineTool({
      name,
      version: '1.0.0',
      description: 'Calculates.',
      input,
      effect: 'read',
      place: 'worker',
      limits: { memoryBytes: 64 * 1_048_576 },
      deadlineMs,
      run: { module, export: name },
    })
  const gate = await createGate({
    tools: [inWorker('factorise', z.object({ number: z.number() }), 10_000), inWorker('spin', z.object({}), 300)],
  })
  try {
    const session = gate.session({ user: 'ana' })
    const outcome = await session.call({ name: 'factorise', arguments: { number: 5_040 } })
    print(`${shown(outcome)} in a ${outcome.meta.place}`)
    print(shown(await session.call({ name: 'spin', arguments: {} })))
  } finally {
    await gate.close()
  }
}

/** Programs, without a shell: exact flags, paths inside the workspace, a sandbox where there is one. */
export async function commands(workspace: string, print: Print): Promise<void> {
  const gate = await createGate({
    workspace,
    sources: [
      builtinTools(['shell'], {
        shell: { programs: { ls: true, cat: true, sleep: true }, deadlineMs: 5_000 },
        commands: {
          count_lines: {
            program: 'wc',
            args: ['-l', '{file}'],
            inputs: { file: { path: true } },
            effect: 'read',
            description: 'Count the lines of a file.',
          },
        },
      }),
    ],
    policy: {
      rules: [
        { allow: { tool: 'run_command', reads: true }, because: 'it changes nothing' },
        { deny: { resource: 'read file:**/.env*' }, because: 'keys stay out of the context' },
      ],
    },
  })
  try {
    const session = gate.session({ user: 'ana' })
    const run = (args: object) => session.call({ name: 'run_command', arguments: args })
    const counted = await session.call({ name: 'count_lines', arguments: { file: 'notes.txt' } })
    print(`count_lines: ${textOf(counted)}`)
    print(`ls: ${ending(await run({ program: 'ls', args: ['notes.txt'] }))}`)
    print(`cat .env: ${ending(await run({ program: 'cat', args: ['.env'] }))}`)
    print(`cat ../x: ${ending(await run({ program: 'cat', args: ['../x'] }))}`)
    print(`rm: ${ending(await run({ program: 'rm', args: ['notes.txt'] }))}`)
    print(`a pipe: ${ending(await run({ command: 'cat notes.txt | sh' }))}`)
    print(`too long: ${ending(await run({ program: 'sleep', args: ['60'], timeoutMs: 200 }))}`)
  } finally {
    await gate.close()
  }
}

/** A command that goes on after its call, until it ends, is stopped, or nobody asks for it any more. */
export async function jobs(workspace: string, print: Print): Promise<void> {
  const gate = await createGate({
    workspace,
    sources: [builtinTools(['shell'], { shell: { programs: { sleep: true }, jobs: { perSession: 1 } } })],
    policy: OPEN,
  })
  try {
    const session = gate.session({ user: 'ana' })
    const start = { name: 'run_command', arguments: { program: 'sleep', args: ['60'], background: true } }
    const started = await session.call(start)
    const job = started.ok && isJob(started.value) ? started.value.job : ''
    print(`a second one: ${ending(await session.call({ ...start, arguments: { ...start.arguments, args: ['61'] } }))}`)
    print(`its output: ${ending(await session.call({ name: 'job_output', arguments: { job } }))}`)
    const other = gate.session({ user: 'bo' })
    print(`for somebody else: ${ending(await other.call({ name: 'job_output', arguments: { job } }))}`)
    print(`stopped: ${ending(await session.call({ name: 'job_stop', arguments: { job } }))}`)
  } finally {
    await gate.close()
  }
}

/** A tool that calls other tools, inside its own call: with no more authority, and no more time. */
export async function nested(print: Print): Promise<void> {
  const double = defineTool({
    name: 'double',
    version: '1.0.0',
    description: 'Twice a number.',
    input: z.object({ number: z.number() }),
    effect: 'read',
    run: async ({ number }) => 2 * number,
  })
  const quadruple = defineTool({
    name: 'quadruple',
    version: '1.0.0',
    description: 'Four times a number.',
    input: z.object({ number: z.number() }),
    effect: 'read',
    run: async function* ({ number }, context) {
      const once = await context.call({ name: 'double', arguments: { number } })
      yield { message: 'half way', progress: 1, total: 2 }
      const twice = await context.call({ name: 'double', arguments: { number: once.ok ? once.value : Number.NaN } })
      return { value: twice.ok ? twice.value : null, parent: twice.meta.parent === context.callId }
    },
  })
  const gate = await createGate({ tools: [double, quadruple] })
  try {
    const outcome = await gate.session({ user: 'ana' }).call({
      name: 'quadruple',
      arguments: { number: 3 },
      onProgress: ({ message = '' }) => print(message),
    })
    print(shown(outcome))
  } finally {
    await gate.close()
  }
}

const shown = (outcome: Outcome): string =>
  outcome.ok
    ? typeof outcome.value === 'string'
      ? outcome.value
      : JSON.stringify(outcome.value)
    : `${outcome.error.type}, effect ${outcome.error.effect}`

const ending = (outcome: Outcome): string => (outcome.ok ? 'ok' : outcome.error.type)

const textOf = ({ content }: Outcome): string => content.map((part) => (part.type === 'text' ? part.text : '')).join('')

const isJob = (value: unknown): value is { readonly job: string } =>
  typeof value === 'object' && value !== null && 'job' in value && typeof value.job === 'string'
