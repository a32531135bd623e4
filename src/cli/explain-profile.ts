// `lockgate explain profile [NAME]`: what answers where no rule holds, as plain rules that a configuration takes. Without a
// name that of the configuration, with its own `defaults`.

import { stringify } from 'yaml'
import { loadPolicy, type Policy } from '../authorize/policy.ts'
import { type PolicyOptions, PROFILES } from '../authorize/policy-options.ts'
import { didYouMean } from '../base/did-you-mean.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput } from './command.ts'
import { readProject } from './project.ts'
import type { Terminal } from './terminal.ts'

export async function explainProfile(input: CommandInput, name: string | undefined): Promise<ExitCode> {
  const { terminal } = input
  const options = name === undefined ? await configured(input) : named(input, name)
  if (typeof options === 'number') return options
  const loaded = loadPolicy(options, { roots: new Map() })
  if (loaded.kind === 'bad') throw new GateConfigError(loaded.problems)
  const { policy } = loaded
  printProfile(terminal, policy)
  terminal.value({
    profile: policy.profile,
    denialsHidden: policy.denialsHidden,
    defaults: policy.defaultsTable(),
    rules: policy.profileRules(),
  })
  return 0
}

function named({ terminal }: CommandInput, name: string): PolicyOptions | ExitCode {
  const profile = PROFILES.find((known) => known === name)
  if (profile !== undefined) return { profile }
  const near = didYouMean(name, PROFILES)
  return terminal.fail('usage', `there is no profile \`${name}\`; there are ${PROFILES.join(', ')}`, [
    ...(near === undefined ? [] : [`did you mean \`${near}\`?`]),
  ])
}

/** Only what speaks where no rule does. */
async function configured(input: CommandInput): Promise<PolicyOptions | ExitCode> {
  const read = await readProject(input)
  if (read.kind === 'end') return read.code
  const { profile, defaults } = read.value.config.policy
  return { ...(profile === undefined ? {} : { profile }), ...(defaults === undefined ? {} : { defaults }) }
}

const MEANS: Readonly<Record<(typeof PROFILES)[number], string>> = {
  coding: 'one workspace with a person beside it: reading is free, changes are asked about',
  platform: 'many sources and callers: nothing is allowed that a rule does not allow',
  strict: 'everything is asked about, one call at a time, and what reaches outside is denied',
}

/** One YAML document; what is no rule is a comment. */
function printProfile(terminal: Terminal, policy: Policy): void {
  const rows = policy.defaultsTable()
  terminal.line(`# profile ${policy.profile}: ${MEANS[policy.profile]}.`)
  terminal.line('# It answers where no rule holds, and can be changed by effect with `policy.defaults`.')
  terminal.line('#')
  terminal.line(`# ${'effect'.padEnd(13)}${'answer'.padEnd(8)}${'an approval reaches'.padEnd(21)}from`)
  for (const { effect, answer, reach, from } of rows) {
    const far = answer === 'deny' ? '-' : reach
    terminal.line(`# ${effect.padEnd(13)}${answer.padEnd(8)}${far.padEnd(21)}${from}`)
  }
  terminal.line('#')
  for (const text of policy.denialsHidden ? HIDDEN : SAID) terminal.line(`# ${text}`)
  terminal.line('#')
  terminal.line(
    '# The same as plain rules. As rules they speak for every call: a rule that allows more does not undo them.',
  )
  terminal.block(stringify({ policy: { rules: policy.profileRules() } }, { lineWidth: 0, flowCollectionPadding: true }))
}

const HIDDEN = [
  'A tool that is denied as a whole is not listed, and calling it ends as if there were none (`not_found`).',
  'Nothing is inherited: a caller has the roles that it is given, and a child those that are named for it.',
]
const SAID = [
  'A tool that is denied as a whole is not listed; calling it ends in `permission_denied`, which says why.',
  'A caller that says nothing about itself has the roles of `callers.default`, and a child those of its parent.',
]
