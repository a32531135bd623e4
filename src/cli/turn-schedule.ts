// How the calls of a turn ran beside and after each other, for a person: a line for each call, in call order, with its time
// on a common scale.

import type { Outcome } from '../describe/outcome.ts'
import type { Piece } from './terminal.ts'

const BAR_COLUMNS = 32
/** More than so many neighbours are counted and not named. */
const NAMED_MAX = 4

type Span = { readonly fromMs: number; readonly untilMs: number }

/** `outcomes`: of one turn. Times count from the opening of its first call. Empty for a turn of one call. */
export function turnSchedule(outcomes: readonly Outcome[]): readonly (readonly Piece[])[] {
  if (outcomes.length < 2) return []
  const openedAtMs = Math.min(...outcomes.map(({ meta }) => meta.openedAtMs ?? Number.POSITIVE_INFINITY))
  const spans = outcomes.map((outcome) => spanOf(outcome, openedAtMs))
  const endMs = Math.max(1, ...spans.map((span) => span?.untilMs ?? 0))
  const nameColumns = Math.min(40, Math.max(...outcomes.map(({ meta }) => meta.tool.length)))
  const numberColumns = String(outcomes.length).length
  return outcomes.map(({ meta }, index): readonly Piece[] => {
    const name = `${String(index + 1).padStart(numberColumns)}  ${meta.tool.slice(0, 40).padEnd(nameColumns)}  `
    const span = spans[index]
    if (span === undefined) return [name, ['dim', meta.attempts === 0 ? whyNotStarted(meta) : 'not timed']]
    const time = `${Math.round(span.fromMs)}–${Math.round(span.untilMs)} ms`
    return [name, ['cyan', barOf(span, endMs)], `  ${time}`, ['dim', besides(spans, index, span)]]
  })
}

/** From the start of the tool to its end: what comes after that, such as the record, keeps nobody waiting. */
function spanOf({ elapsedMs, meta }: Outcome, turnOpenedAtMs: number): Span | undefined {
  const { startedMs, endedMs = elapsedMs, openedAtMs = turnOpenedAtMs } = meta
  if (startedMs === undefined) return undefined
  const sinceMs = Number.isFinite(turnOpenedAtMs) ? openedAtMs - turnOpenedAtMs : 0
  return { fromMs: sinceMs + startedMs, untilMs: sinceMs + Math.max(startedMs, endedMs) }
}

function whyNotStarted({ cached, replayOf }: Outcome['meta']): string {
  if (cached !== undefined) return `not started: the answer of ${cached} was kept`
  return replayOf === undefined ? 'not started' : `not started: the answer of ${replayOf} was recorded`
}

function barOf({ fromMs, untilMs }: Span, endMs: number): string {
  const from = Math.min(BAR_COLUMNS - 1, Math.floor((fromMs / endMs) * BAR_COLUMNS))
  const until = Math.max(from + 1, Math.min(BAR_COLUMNS, Math.ceil((untilMs / endMs) * BAR_COLUMNS)))
  return `${'·'.repeat(from)}${'█'.repeat(until - from)}${'·'.repeat(BAR_COLUMNS - until)}`
}

function besides(spans: readonly (Span | undefined)[], index: number, span: Span): string {
  const at = (test: (other: Span) => boolean): number[] =>
    spans.flatMap((other, place) => (place !== index && other !== undefined && test(other) ? [place + 1] : []))
  const beside = at((other) => other.fromMs < span.untilMs && span.fromMs < other.untilMs)
  if (beside.length > 0) return `  beside ${listed(beside)}`
  const before = at((other) => other.untilMs <= span.fromMs)
  return before.length === 0 ? '' : `  after ${listed(before)}`
}

const listed = (numbers: readonly number[]): string =>
  numbers.length > NAMED_MAX ? `${numbers.length} others` : numbers.join(', ')
