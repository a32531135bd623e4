// `lockgate policy …`: the rules, for those who write them. Each of these looks and answers; none runs a tool, and none
// changes a rule.

import type { CommandInput, RunCommand } from './command.ts'

/** What may stand after `policy`, and how many words each takes besides. */
const ACTIONS: ReadonlyMap<string, { readonly words: number; readonly load: () => Promise<RunCommand> }> = new Map([
  ['check', { words: 0, load: async () => (await import('./policy-check.ts')).policyCheck }],
  ['test', { words: 1, load: async () => (await import('./policy-test.ts')).policyTest }],
  ['explain', { words: 2, load: async () => (await import('./policy-explain.ts')).policyExplain }],
  ['matrix', { words: 0, load: async () => (await import('./policy-matrix.ts')).policyMatrix }],
  ['simulate', { words: 0, load: async () => (await import('./policy-simulate.ts')).policySimulate }],
  ['suggest', { words: 0, load: async () => (await import('./policy-suggest.ts')).policySuggest }],
])

export const policyCommand: RunCommand = async (input: CommandInput) => {
  const { line, terminal } = input
  const [name = '', ...words] = line.positionals
  const action = ACTIONS.get(name)
  const hints = ['see `lockgate policy --help`']
  if (action === undefined) {
    const got = name === '' ? 'nothing' : `\`${name}\``
    return terminal.fail('usage', `expected one of ${[...ACTIONS.keys()].join(', ')}, got ${got}`, hints)
  }
  const tooMany = words[action.words]
  if (tooMany !== undefined) return terminal.fail('usage', `one argument too many: \`${tooMany}\``, hints)
  const run = await action.load()
  return run(input)
}
