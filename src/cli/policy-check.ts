// `lockgate policy check`: loads everything that the configuration refers to, holds each rule against the tools that are
// there, and says what each speaks of now. What does not hold ends as every broken configuration does, before a gate opens.

import type { Gate, RuleRow } from '../gate-contract.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { withGate } from './open-gate.ts'
import { openProject } from './project.ts'
import { rulePlace } from './rule-place.ts'

const TOOLS_SHOWN = 6

export const policyCheck: RunCommand = async (input) => {
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  return withGate(opened.value, input, {}, async (gate) => {
    await gate.settled()
    return check(gate, input)
  })
}

/** A tool that a rule does not fit is held, and found here: the gate works on, but not as its rules were meant. */
function check(gate: Gate, { io, terminal }: CommandInput): ExitCode {
  const rules = gate.policy.rules()
  const warnings = gate.warnings()
  const held = gate.catalogue
    .rows()
    .flatMap(({ name, source, state }) => (state.kind === 'held' ? [{ tool: name, source, reason: state.reason }] : []))
  const width = Math.max(0, ...rules.map(({ rule }) => rulePlace(rule, io.cwd).length)) + 2
  for (const row of rules) {
    terminal.line(['dim', rulePlace(row.rule, io.cwd).padEnd(width)], row.rule.text)
    terminal.line(' '.repeat(width), ['dim', toolsText(row)])
  }
  for (const warning of warnings) terminal.note(['yellow', 'warning: '], warning)
  for (const { tool, source, reason } of held) terminal.note(['red', 'held: '], `${tool} of ${source}: ${reason}`)
  terminal.line(
    [
      held.length === 0 ? 'green' : 'red',
      held.length === 0 ? 'the policy holds' : 'the policy does not fit every tool',
    ],
    `: ${count(rules.length, 'rule')}, profile ${gate.policy.profile}, ${count(warnings.length, 'warning')}`,
    ['dim', `; version ${gate.policy.version.slice(0, 16)}`],
  )
  const { profile, version } = gate.policy
  terminal.value({ profile, version, rules, warnings, held })
  return held.length === 0 ? 0 : 1
}

function toolsText({ tools }: RuleRow): string {
  if (tools.length === 0) return 'no known tool'
  const more = tools.length > TOOLS_SHOWN ? `, and ${tools.length - TOOLS_SHOWN} more` : ''
  return `${count(tools.length, 'tool')}: ${tools.slice(0, TOOLS_SHOWN).join(', ')}${more}`
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`
