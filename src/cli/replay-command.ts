// `lockgate replay SESSION`: the calls of a recorded conversation in their order, how each ended then, and what the rules
// would answer today. It starts the tools' sources to know which tools there are, and calls none of them.

import type { Replay, ReplayStep } from '../gate-contract.ts'
import { answerPiece } from './answer-piece.ts'
import { readCount } from './audit-filters.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { withGate } from './open-gate.ts'
import { callerText } from './policy-explain.ts'
import { keepsNothing } from './policy-simulate.ts'
import { openProject } from './project.ts'
import type { Piece } from './terminal.ts'

const CALLS_DEFAULT = 1_000
const CALLS_MAX = 100_000
const ARGUMENTS_SHOWN = 200
const ANSWER_WIDTH = 5

export const replayCommand: RunCommand = async (input) => {
  const { line, terminal } = input
  const [session] = line.positionals
  if (session === undefined)
    return terminal.fail('usage', 'the name of the session is missing', [
      `${terminal.command('audit tail --json')} shows under which session each call was made`,
    ])
  const callsMax = readCount(line.text('number'), CALLS_DEFAULT, CALLS_MAX)
  if (callsMax === undefined) return terminal.fail('usage', `\`-n\` takes a whole number from 1 to ${CALLS_MAX}`)
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const unkept = keepsNothing(input, opened.value)
  if (unkept !== undefined) return unkept
  const [tenant, user] = [line.text('tenant'), line.text('user')]
  const who = { ...(tenant === undefined ? {} : { tenant }), ...(user === undefined ? {} : { user }) }
  return withGate(opened.value, input, {}, async (gate): Promise<ExitCode> => {
    await gate.settled()
    const replay = await gate.replay(session, { ...who, callsMax })
    terminal.value(replay)
    if (replay.steps.length === 0) {
      terminal.note(['red', 'error: '], `no call of a session \`${session}\` is recorded`)
      return 1
    }
    printReplay(input, replay)
    return 0
  })
}

function printReplay({ line, terminal }: CommandInput, { steps, more }: Replay): void {
  const isDiffering = line.flag('differing')
  const callers = new Set(steps.map(({ caller }) => callerText(caller)))
  for (const step of steps) {
    if (isDiffering && !differs(step)) continue
    const { tool, caller, callId, at } = step
    terminal.line(
      ['dim', `${new Date(at).toISOString()}  `],
      ...thenPieces(step),
      ' → ',
      todayPiece(step),
      ['cyan', `  ${tool}`],
      callers.size > 1 ? `  ${callerText(caller)}` : '',
      ['dim', `  ${callId}`],
    )
    const text = JSON.stringify(step.arguments)
    if (text !== undefined)
      terminal.line('      ', text.length > ARGUMENTS_SHOWN ? `${text.slice(0, ARGUMENTS_SHOWN)}…` : text)
    for (const [what, why] of reasons(step)) terminal.line(['dim', `      ${what}: `], why)
  }
  const differing = steps.filter(differs).length
  terminal.line(`${steps.length} recorded ${steps.length === 1 ? 'call' : 'calls'}: `, [
    'bold',
    `${differing} would get another answer today`,
  ])
  if (more) terminal.note(['dim', 'the session has more calls than these; `-n` shows more'])
}

const differs = ({ today }: ReplayStep): boolean => today.kind !== 'untold' && today.differs

function thenPieces({ recorded: { decision, ok, error } }: ReplayStep): readonly Piece[] {
  const ended: Piece = ok ? ['green', 'done'] : ['red', error?.type ?? 'failed']
  return decision === undefined ? [ended] : [answerPiece(decision.kind, ANSWER_WIDTH), ', ', ended]
}

function todayPiece({ today }: ReplayStep): Piece {
  if (today.kind === 'decided') return answerPiece(today.decision.kind, ANSWER_WIDTH)
  return today.kind === 'refused' ? ['red', today.type] : ['yellow', 'cannot tell']
}

/** Why: only where the answer is another one, or there is none. */
function reasons({ recorded, today }: ReplayStep): readonly (readonly [string, string])[] {
  if (today.kind === 'untold') return [['today', today.why]]
  if (!today.differs) return []
  const { decision, error } = recorded
  const before = decision === undefined ? error?.message : (decision.rule ?? decision.reason)
  const after = today.kind === 'refused' ? today.message : (today.decision.rule?.text ?? today.decision.reason)
  return [...(before === undefined || before === '' ? [] : [['then', before] as const]), ['today', after]]
}
