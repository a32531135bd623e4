// `lockgate policy simulate`: recorded calls under other rules, every decision that would differ. With `--policy FILE` the
// rules of that file are held against the ones in force; without it the ones in force against what was recorded.

import { resolve } from 'node:path'
import type { Simulation } from '../gate-contract.ts'
import { answerPiece } from './answer-piece.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { withGate } from './open-gate.ts'
import { callerText } from './policy-explain.ts'
import { readChangedPolicy } from './policy-file.ts'
import { openProject, type Project } from './project.ts'
import { readRange } from './recorded-range.ts'
import { ruleLine } from './rule-place.ts'

const ARGUMENTS_SHOWN = 200

export const policySimulate: RunCommand = async (input) => {
  const { io, line, terminal } = input
  const ranged = readRange(line)
  if (ranged.kind === 'bad') return terminal.fail('usage', ranged.reason)
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const unkept = keepsNothing(input, opened.value)
  if (unkept !== undefined) return unkept
  const named = line.text('policy')
  const { config } = opened.value
  const changed =
    named === undefined
      ? ({ kind: 'ok', policy: config.policy } as const)
      : readChangedPolicy(resolve(io.cwd, named), config.policy, input)
  if (changed.kind === 'bad') return terminal.failConfiguration(changed.problems)
  return withGate(opened.value, input, {}, async (gate): Promise<ExitCode> => {
    await gate.settled()
    const against = named === undefined ? 'recorded' : 'current'
    const simulation = await gate.policy.simulate(changed.policy, { ...ranged.range, against })
    printSimulation(input, simulation)
    terminal.value(simulation)
    return 0
  })
}

/** Both commands that look at old records need some. */
export function keepsNothing({ terminal }: CommandInput, { database }: Project): 2 | undefined {
  if (database !== undefined) return undefined
  const message = 'this configuration keeps its records in memory: they end with the process that wrote them'
  return terminal.fail('configuration', message, ['use `store: sqlite`'])
}

function printSimulation({ io, terminal }: CommandInput, { calls, differing, untold }: Simulation): void {
  for (const { at, tool, caller, before, beforeBy, after, callId, arguments: args } of differing) {
    terminal.line(
      answerPiece(before.kind, 5),
      ' → ',
      answerPiece(after.kind, 5),
      ['cyan', ` ${tool}`],
      `  ${callerText(caller)}`,
      ['dim', `  ${new Date(at).toISOString()}  ${callId}`],
    )
    const text = JSON.stringify(args)
    terminal.line('      ', text.length > ARGUMENTS_SHOWN ? `${text.slice(0, ARGUMENTS_SHOWN)}…` : text)
    const how = beforeBy === 'record' ? 'as recorded' : 'decided again under the rules in force'
    terminal.line(
      ['dim', `      before (${how}): `],
      before.rule === undefined ? before.reason : ruleLine(before.rule, io.cwd),
    )
    terminal.line(['dim', '      after: '], after.rule === undefined ? after.reason : ruleLine(after.rule, io.cwd))
  }
  for (const { tool, callId, why } of untold)
    terminal.line(['yellow', 'cannot tell '], ['cyan', tool], ['dim', `  ${callId}`], `  ${why}`)
  terminal.line(
    `${calls} recorded ${calls === 1 ? 'call' : 'calls'}: `,
    ['bold', `${differing.length} would get another answer`],
    untold.length === 0 ? '' : `; of ${untold.length} more nothing can be told`,
  )
}
