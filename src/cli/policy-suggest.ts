// `lockgate policy suggest`: the narrowest rules that answered questions would justify, as YAML to read and to paste. It
// applies none of them.

import type { Suggestion } from '../gate-contract.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { withGate } from './open-gate.ts'
import { keepsNothing } from './policy-simulate.ts'
import { openProject } from './project.ts'
import { readRange } from './recorded-range.ts'

export const policySuggest: RunCommand = async (input) => {
  const { line, terminal } = input
  const ranged = readRange(line)
  if (ranged.kind === 'bad') return terminal.fail('usage', ranged.reason)
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const unkept = keepsNothing(input, opened.value)
  if (unkept !== undefined) return unkept
  return withGate(opened.value, input, {}, async (gate): Promise<ExitCode> => {
    await gate.settled()
    const suggestions = await gate.policy.suggest(ranged.range)
    printSuggestions(input, suggestions)
    terminal.value(suggestions)
    return 0
  })
}

function printSuggestions({ terminal }: CommandInput, suggestions: readonly Suggestion[]): void {
  if (suggestions.length === 0) {
    terminal.note('no answered question justifies a rule')
    return
  }
  terminal.line('rules:')
  for (const { asks, why, yaml } of suggestions) {
    terminal.line(['dim', `  # would have spared ${asks === 1 ? 'one question' : `${asks} questions`}: ${why}`])
    terminal.block(yaml.replace(/^(?=.)/gm, '  '))
  }
  const asks = suggestions.reduce((sum, one) => sum + one.asks, 0)
  const rules = suggestions.length === 1 ? 'one rule' : `${suggestions.length} rules`
  terminal.note(
    `${rules} would have spared ${asks === 1 ? 'one question' : `${asks} questions`}; read them, then paste what you want into \`policy.rules\``,
  )
}
