// `lockgate call NAME [JSON|-]`: one call through the pipeline, in this process, with the records of the project.

import type { NamedCall } from '../gate-contract.ts'
import { readCallerOptions } from './caller-options.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { makeCall } from './make-call.ts'
import { sourcesFor, untilThere, withGate } from './open-gate.ts'
import { printOutcome } from './print-outcome.ts'
import { followProgress } from './print-progress.ts'
import { openProject } from './project.ts'
import { readInput } from './read-input.ts'

export const callCommand: RunCommand = async (input) => {
  const { io, line, terminal } = input
  const [name, given = '{}'] = line.positionals
  if (name === undefined) return terminal.fail('usage', 'the name of a tool is missing', ['see `lockgate call --help`'])
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const caller = readCallerOptions(line, opened.value.config.caller)
  if (caller.kind === 'bad') return terminal.fail('usage', caller.reason)
  const text = given === '-' ? await readInput('-', io) : ({ kind: 'ok', text: given } as const)
  if (text.kind === 'bad') return terminal.fail('usage', `standard input: ${text.reason}`)
  return withGate(opened.value, input, { starts: sourcesFor([name]) }, async (gate) => {
    const session = gate.session(caller.caller, 'cli')
    await untilThere(gate, name, io.signal)
    const call = namedCall(input, name, text.text)
    const quiet = followProgress(gate, terminal)
    const outcome = await makeCall({ gate, session, terminal, io, yes: line.flag('yes') }, call, (one) =>
      session.call(one),
    ).finally(quiet)
    printOutcome(terminal, outcome)
    terminal.value(outcome)
    return outcome.ok ? 0 : 1
  })
}

/** The arguments stay text: that the gate reads them is part of the call, and its errors name the position. */
function namedCall({ io, line }: CommandInput, name: string, text: string): NamedCall {
  const approval = line.text('approval')
  const key = line.text('key')
  return {
    name,
    arguments: text,
    signal: io.signal,
    ...(approval === undefined ? {} : { approval }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  }
}
