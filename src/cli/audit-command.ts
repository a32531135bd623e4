// `lockgate audit`: the records, for whoever has the state folder at hand: reading them, proving them, and erasing what is known
// of a person. Each action is a file of its own; options of another action are refused, never ignored.

import { didYouMean } from '../base/did-you-mean.ts'
import type { RunCommand } from './command.ts'
import type { CommandLine } from './command-line.ts'

const WHO = ['tenant', 'user', 'agent', 'session'] as const
const FILTERS = [
  ...WHO,
  ...(['kind', 'call', 'chain', 'tool', 'source', 'since', 'until', 'ok', 'failed', 'error', 'decision'] as const),
]

type Action = { readonly options: readonly string[]; readonly load: () => Promise<RunCommand> }

const ACTIONS: ReadonlyMap<string, Action> = new Map([
  [
    'tail',
    { options: [...FILTERS, 'number', 'follow', 'all'], load: async () => (await import('./audit-tail.ts')).auditTail },
  ],
  [
    'query',
    {
      options: [...FILTERS, 'number', 'after', 'newest'],
      load: async () => (await import('./audit-tail.ts')).auditQuery,
    },
  ],
  [
    'export',
    {
      options: [...FILTERS, 'after', 'format', 'stored', 'follow'],
      load: async () => (await import('./audit-export.ts')).auditExport,
    },
  ],
  ['verify', { options: ['against', 'key'], load: async () => (await import('./audit-verify.ts')).auditVerify }],
  ['checkpoint', { options: [], load: async () => (await import('./audit-checkpoint.ts')).auditCheckpoint }],
  ['key', { options: [], load: async () => (await import('./audit-checkpoint.ts')).auditKey }],
  ['erase', { options: ['tenant', 'user'], load: async () => (await import('./audit-erase.ts')).auditErase }],
])

/** Every option that some action takes. */
const OPTIONS = [...new Set([...ACTIONS.values()].flatMap(({ options }) => options))]

export const auditCommand: RunCommand = async (input) => {
  const { line, terminal } = input
  const [name] = line.positionals
  const action = name === undefined ? undefined : ACTIONS.get(name)
  if (action === undefined) {
    const names = [...ACTIONS.keys()]
    const near = name === undefined ? undefined : didYouMean(name, names)
    return terminal.fail(
      'usage',
      `expected one of ${names.join(', ')}, got ${name === undefined ? 'nothing' : `\`${name}\``}`,
      [near === undefined ? 'see `lockgate audit --help`' : `did you mean \`${near}\`?`],
    )
  }
  const stray = OPTIONS.find((option) => isGiven(line, option) && !action.options.includes(option))
  if (stray !== undefined) return terminal.fail('usage', `\`audit ${name}\` takes no \`--${stray}\``)
  return (await action.load())(input)
}

const isGiven = (line: CommandLine, option: string): boolean =>
  line.flag(option) || line.text(option) !== undefined || line.texts(option).length > 0
