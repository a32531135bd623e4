// `lockgate policy explain NAME [JSON|-]`: why one call gets its answer. Nothing is run and nothing is recorded.

import { parseJsonText } from '../base/json-text.ts'
import { isJsonObject } from '../base/json-value.ts'
import type { Caller } from '../describe/caller.ts'
import type { CommandFacts } from '../describe/tool.ts'
import type { ExplainedCall, NamedCall } from '../gate-contract.ts'
import { answerPiece } from './answer-piece.ts'
import { readCallerOptions } from './caller-options.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { sourcesFor, untilThere, withGate } from './open-gate.ts'
import { openProject } from './project.ts'
import { readInput } from './read-input.ts'
import { ruleLine } from './rule-place.ts'

const CALL_BOUNDS = { bytesMax: 4 * 1_048_576, depthMax: 80, keysMax: 100_000 } as const

type AskedCall = Pick<NamedCall, 'name' | 'arguments'>

export const policyExplain: RunCommand = async (input) => {
  const { io, line, terminal } = input
  const [, first, second] = line.positionals
  const asked = await readCall(first, second, input)
  if (typeof asked === 'string') return terminal.fail('usage', asked, ['see `lockgate policy --help`'])
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const caller = readCallerOptions(line, opened.value.config.caller)
  if (caller.kind === 'bad') return terminal.fail('usage', caller.reason)
  return withGate(opened.value, input, { starts: sourcesFor([asked.name]) }, async (gate) => {
    await untilThere(gate, asked.name, io.signal)
    const explained = await gate.policy.explain(caller.caller, asked)
    printExplained(input, gate.session(caller.caller, 'cli').caller, asked.name, explained)
    terminal.value(explained)
    return explained.kind === 'refused' ? 1 : 0
  })
}

/** A name with its arguments, or the whole call as one JSON object; `-` is read from standard input. */
async function readCall(
  first: string | undefined,
  second: string | undefined,
  { io }: CommandInput,
): Promise<AskedCall | string> {
  if (first === undefined) return 'expected the name of a tool, or a call as a JSON object'
  const isWhole = first === '-' || first.trimStart().startsWith('{')
  const given = isWhole ? first : (second ?? '{}')
  const text = given === '-' ? await readInput('-', io) : ({ kind: 'ok', text: given } as const)
  if (text.kind === 'bad') return text.reason
  if (!isWhole) return { name: first, arguments: text.text }
  if (second !== undefined) return `one argument too many: \`${second}\``
  const parsed = parseJsonText(text.text, CALL_BOUNDS)
  if (parsed.kind === 'refused') return parsed.message
  const { value } = parsed
  if (!isJsonObject(value) || typeof value.name !== 'string')
    return 'a call is a JSON object with `name` and `arguments`'
  const unknown = Object.keys(value).find((key) => key !== 'name' && key !== 'arguments' && key !== 'id')
  if (unknown !== undefined) return `\`${unknown}\` is no part of a call; known: name, arguments, id`
  return { name: value.name, arguments: value.arguments ?? {} }
}

function printExplained({ io, terminal }: CommandInput, caller: Caller, tool: string, explained: ExplainedCall): void {
  if (explained.kind === 'refused') {
    terminal.line(['red', explained.type], `  ${explained.message}`)
    return
  }
  const { command, decision, findings, resources, effect } = explained
  terminal.line(answerPiece(decision.kind), `  ${tool}: ${decision.reason}`)
  const by = decision.rule === undefined ? `no rule: ${decision.by}` : ruleLine(decision.rule, io.cwd)
  const facts: readonly (readonly [string, string])[] = [
    ['by', by],
    ...(decision.kind === 'ask' ? [['reach', decision.reach ?? 'once'] as const] : []),
    ['caller', callerText(caller)],
    ['effect', effect],
    ...(command === undefined ? [] : [['starts', commandText(command)] as const]),
    ...(decision.place === undefined ? [] : [['place', `only ${decision.place.join(' or ')}`] as const]),
    ...resources.map((resource) => ['touches', resource] as const),
    ['arguments', JSON.stringify(explained.arguments)],
    ['policy', decision.policyVersion.slice(0, 16)],
  ]
  for (const [name, value] of facts) terminal.line('  ', ['dim', name.padEnd(10)], value)
  terminal.line()
  terminal.line(findings.length === 0 ? 'no rule speaks of this tool' : 'rules that speak of this tool:')
  const weight = ({ holds, decides }: (typeof findings)[number]): number => (decides ? 0 : holds ? 1 : 2)
  for (const one of findings.toSorted((left, right) => weight(left) - weight(right))) {
    const { rule, holds, decides, failed, concerning } = one
    const how = decides ? 'holds, and decides' : holds ? 'holds' : `does not hold: ${failed ?? 'it is not known why'}`
    terminal.line(decides ? '* ' : '  ', [holds ? 'bold' : 'dim', ruleLine(rule, io.cwd)])
    terminal.line('      ', how, ['dim', concerning === undefined ? '' : `, of ${concerning}`])
  }
}

const commandText = ({ program, reads }: CommandFacts): string =>
  program === '' ? 'a program that its tool could not name' : `${program}${reads ? ', which only reads' : ''}`

/** `local/ana/cursor [dev] at step analyse, for local/ana/helper`. */
export function callerText({ tenant, user, agent, roles, task, step, parent }: Caller): string {
  return [
    `${tenant}/${user}/${agent}`,
    ...(roles.length === 0 ? [] : [`[${roles.join(', ')}]`]),
    ...(task === undefined ? [] : [`with the task ${task.name}`]),
    ...(step === undefined ? [] : [`at the step ${step}`]),
    ...(parent === undefined ? [] : [`for ${callerText(parent)}`]),
  ].join(' ')
}
