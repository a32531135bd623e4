// Counts calls as they end. It is always on, so it allocates nothing for a call; names of tools become labels only where the
// catalogue knows them, and only so many, so that no caller can make it grow. Arguments, results and callers are not in it.

import type { Call, StageMarks } from '../../describe/call.ts'
import { ERROR_TYPES } from '../../describe/error-types.ts'
import type { Outcome } from '../../describe/outcome.ts'
import type { Family, HistogramSample, Sample } from './prometheus-text.ts'

const TOOLS_MAX = 1_000
/** Of a call whose name no tool has, or that came after so many other tools. No tool can have such a name. */
const NO_TOOL = '(none)'
const OTHER_TOOLS = '(other)'

const TYPES = ['ok', ...Object.keys(ERROR_TYPES)]
const TYPE_INDEX = new Map(TYPES.map((type, index) => [type, index]))
const DECISIONS = ['none', 'allow', 'ask', 'deny'] as const
const STAGES = ['discover', 'admit', 'validate', 'decide', 'intend', 'execute', 'shape'] as const
/** Upper bounds of the buckets, in milliseconds. */
const BOUNDS_MS = [0.01, 0.1, 1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000, 60_000] as const
const BOUNDS_SECONDS = BOUNDS_MS.map((bound) => bound / 1_000)

type ToolCounts = { readonly ends: Float64Array; ms: number; calls: number }

class Histogram {
  readonly #counts = new Float64Array(BOUNDS_MS.length + 1)
  #sumMs = 0

  observe(ms: number): void {
    let index = 0
    while (index < BOUNDS_MS.length && ms > (BOUNDS_MS[index] ?? 0)) index += 1
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
    this.#sumMs += ms
  }

  sample(labels: Readonly<Record<string, string>>): HistogramSample {
    return { labels, bounds: BOUNDS_SECONDS, counts: this.#counts, sum: this.#sumMs / 1_000 }
  }
}

export class CallCounters {
  readonly #tools = new Map<string, ToolCounts>()
  readonly #stages = STAGES.map(() => new Histogram())
  readonly #laneWaits = new Histogram()
  #cacheable = 0
  #cached = 0
  #replayed = 0
  #retries = 0
  #truncated = 0
  #redacted = 0
  #limitsHit = 0
  #lateStops = 0

  /** A call has ended. */
  count(call: Call, outcome: Outcome): void {
    const { trail } = call
    const counts = this.#countsOf(trail.entry?.tool.name)
    const type = TYPE_INDEX.get(outcome.ok ? 'ok' : outcome.error.type) ?? 0
    const end = type * DECISIONS.length + decisionIndex(trail.decision?.kind)
    counts.ends[end] = (counts.ends[end] ?? 0) + 1
    counts.ms += outcome.elapsedMs
    counts.calls += 1
    this.#observeStages(trail.marks)
    if (trail.laneWaitMs !== undefined) this.#laneWaits.observe(trail.laneWaitMs)
    if (trail.entry?.tool.cache !== undefined && trail.input?.effect === 'read') this.#cacheable += 1
    if (trail.cachedFrom !== undefined) this.#cached += 1
    if (trail.replayOf !== undefined) this.#replayed += 1
    if (trail.attempts > 1) this.#retries += trail.attempts - 1
    if (outcome.meta.truncated !== undefined) this.#truncated += 1
    if (trail.redacted !== undefined && trail.redacted.length > 0) this.#redacted += 1
    if (trail.limitsHit !== undefined) this.#limitsHit += 1
    if (trail.endedAtMs === undefined && trail.startedAtMs !== undefined) this.#lateStops += 1
  }

  #countsOf(name: string | undefined): ToolCounts {
    const known = this.#tools.get(name ?? NO_TOOL)
    if (known !== undefined) return known
    if (name !== undefined && this.#tools.size >= TOOLS_MAX) return this.#make(OTHER_TOOLS)
    return this.#make(name ?? NO_TOOL)
  }

  #make(label: string): ToolCounts {
    const known = this.#tools.get(label)
    if (known !== undefined) return known
    const made = { ends: new Float64Array(TYPES.length * DECISIONS.length), ms: 0, calls: 0 }
    this.#tools.set(label, made)
    return made
  }

  #observeStages({ discover, admit, validate, decide, intend, execute, shape, closed }: StageMarks): void {
    // Backwards: a stage ends where the next one that the call came to begins.
    let ended = this.#observe(6, shape, closed)
    ended = this.#observe(5, execute, ended)
    ended = this.#observe(4, intend, ended)
    ended = this.#observe(3, decide, ended)
    ended = this.#observe(2, validate, ended)
    ended = this.#observe(1, admit, ended)
    this.#observe(0, discover, ended)
  }

  #observe(stage: number, began: number | undefined, ended: number | undefined): number | undefined {
    if (began === undefined) return ended
    if (ended !== undefined) this.#stages[stage]?.observe(ended - began)
    return began
  }

  families(): readonly Family[] {
    const tools = [...this.#tools]
    const total = (name: string, help: string, value: number): Family => ({
      ...{ name: `lockgate_${name}_total`, help, type: 'counter', samples: [{ value }] },
    })
    const perTool = (name: string, help: string, read: (counts: ToolCounts) => number): Family => ({
      ...{ name: `lockgate_${name}_total`, help, type: 'counter' },
      samples: tools.map(([tool, counts]) => ({ labels: { tool }, value: read(counts) })),
    })
    return [
      {
        ...{ name: 'lockgate_calls_total', help: 'Calls that have ended, by tool, end and decision.', type: 'counter' },
        samples: tools.flatMap(([tool, { ends }]) => endSamples(tool, ends)),
      },
      perTool('call_seconds', 'Time from the opening of calls to their end, all together.', ({ ms }) => ms / 1_000),
      {
        ...{ name: 'lockgate_stage_seconds', help: 'Time that each stage of a call took.', type: 'histogram' },
        samples: this.#stages.map((histogram, index) => histogram.sample({ stage: STAGES[index] ?? '' })),
      },
      {
        ...{ name: 'lockgate_lane_wait_seconds', help: 'Time that calls waited for others.', type: 'histogram' },
        samples: [this.#laneWaits.sample({})],
      },
      total('cacheable_calls', 'Reads of tools that let their answers be kept.', this.#cacheable),
      total('cache_hits', 'Calls that were answered with a kept answer.', this.#cached),
      total('replayed_answers', 'Calls that were answered with the recorded answer of their key.', this.#replayed),
      total('retries', 'Further tries of calls.', this.#retries),
      total('truncated_results', 'Results of which the model was shown a part.', this.#truncated),
      total('redacted_results', 'Results out of which a secret was taken.', this.#redacted),
      total('limited_calls', 'Calls whose work ran into a bound.', this.#limitsHit),
      total('overdue_tools', 'Calls that had ended while their tool still ran.', this.#lateStops),
    ]
  }
}

function decisionIndex(kind: 'allow' | 'ask' | 'deny' | undefined): number {
  if (kind === 'allow') return 1
  if (kind === 'ask') return 2
  return kind === 'deny' ? 3 : 0
}

function endSamples(tool: string, ends: Float64Array): readonly Sample[] {
  const samples: Sample[] = []
  for (const [index, value] of ends.entries()) {
    if (value === 0) continue
    const type = TYPES[Math.trunc(index / DECISIONS.length)] ?? ''
    samples.push({ labels: { tool, type, decision: DECISIONS[index % DECISIONS.length] ?? '' }, value })
  }
  return samples
}
