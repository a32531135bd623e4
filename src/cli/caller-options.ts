// Who a command speaks for: the configuration's default caller, changed by options of the command line. The person at the
// terminal is the host here, so what they say is taken; its form is checked when the session is opened.

import { randomUUID } from 'node:crypto'
import type { Caller, Task } from '../describe/caller.ts'
import type { SessionOptions } from '../gate-contract.ts'
import type { CommandLine } from './command-line.ts'

const KNOWN = new Set(['tenant', 'user', 'agent', 'roles', 'session', 'task', 'step', 'layers'])

export type CallerReading =
  | { readonly kind: 'ok'; readonly caller: SessionOptions }
  | { readonly kind: 'bad'; readonly reason: string }

/** `--caller` replaces the default whole; the other options change single parts of it. */
export function readCallerOptions(
  line: CommandLine,
  fallback: Partial<Caller>,
  whole: string | undefined = line.text('caller'),
): CallerReading {
  const base = whole === undefined ? ({ kind: 'ok', caller: fallback } as const) : parseCaller(whole)
  if (base.kind === 'bad') return base
  const roles = line.texts('role')
  const task = line.text('task')
  const named = Object.fromEntries(
    ['tenant', 'user', 'agent', 'session', 'step'].flatMap((key) =>
      line.text(key) === undefined ? [] : [[key, line.text(key)]],
    ),
  )
  return {
    kind: 'ok',
    caller: {
      session: `cli-${randomUUID()}`,
      ...base.caller,
      ...named,
      ...(roles.length === 0 ? {} : { roles }),
      ...(task === undefined ? {} : { task: taskNamed(task, base.caller.task) }),
    },
  }
}

/** A task that the configuration narrows keeps what it allows when it is named again. */
const taskNamed = (name: string, known: Task | undefined): Task => (known?.name === name ? known : { name })

function parseCaller(text: string): CallerReading {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return {
      kind: 'bad',
      reason: `\`--caller\` is not valid JSON: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { kind: 'bad', reason: '`--caller` must be a JSON object' }
  const unknown = Object.keys(value).find((key) => !KNOWN.has(key))
  if (unknown !== undefined)
    return {
      kind: 'bad',
      reason: `\`--caller\` has \`${unknown}\`, which is no part of a caller; known: ${[...KNOWN].join(', ')}`,
    }
  return { kind: 'ok', caller: value }
}
