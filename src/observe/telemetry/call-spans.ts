// One span for each call and a child for each stage that it came to, through the API that the host's own SDK stands behind. It
// decides nothing, and no fault of a tracer reaches a call. Arguments, results, messages and callers are not in spans: they
// are in the records, under `lockgate.call.id`.

import type { Attributes, Context, HrTime, Span, SpanContext, Tracer } from '@opentelemetry/api'
import { VERSION } from '../../base/version.ts'
import type { Call, StageMarks } from '../../describe/call.ts'
import type { Entry } from '../../describe/entry.ts'
import type { Outcome } from '../../describe/outcome.ts'
import type { TraceContext } from '../../describe/trace-context.ts'
import * as names from './convention-names.ts'

export type TelemetryApi = typeof import('@opentelemetry/api')

/** `within`: what is current for the work of the call. */
type Spans = { readonly root: Span; within: Context; execute?: Span }

/** `execute` is begun while the call runs, so that what the tool does stands below it. */
const STAGES = ['discover', 'admit', 'validate', 'decide', 'intend', 'execute', 'shape'] as const

export class CallSpans {
  readonly #api: TelemetryApi
  readonly #tracer: Tracer
  readonly #spans = new WeakMap<Call, Spans>()

  constructor(api: TelemetryApi) {
    this.#api = api
    this.#tracer = api.trace.getTracer('lockgate', VERSION)
  }

  /** Notes in the trail the trace that the work of the call is part of. */
  opened(call: Call): void {
    const { trace } = this.#api
    const { entrance } = call.request
    const above = this.#above(call)
    const served = entrance === 'mcp' && call.request.parent === undefined
    const root = this.#tracer.startSpan(
      served ? names.TOOLS_CALL : names.EXECUTE_TOOL,
      {
        kind: served ? this.#api.SpanKind.SERVER : this.#api.SpanKind.INTERNAL,
        startTime: hrTime(call.openedAtMs),
        attributes: {
          [names.GEN_AI_OPERATION]: names.EXECUTE_TOOL,
          [names.ENTRANCE]: entrance,
          ...(served ? { [names.MCP_METHOD]: names.TOOLS_CALL } : undefined),
        },
      },
      above,
    )
    this.#spans.set(call, { root, within: trace.setSpan(above, root) })
    this.#noteTrace(call, root)
  }

  /** The work of the call begins: it gets a span of its own, which upstreams are told of. */
  executing(call: Call, entry: Entry): void {
    const spans = this.#spans.get(call)
    if (spans === undefined || !spans.root.isRecording()) return
    const { execute = call.openedMonotonicMs } = call.trail.marks
    spans.execute = this.#tracer.startSpan(...this.#executeSpan(entry, startOf(call, execute)), spans.within)
    spans.within = this.#api.trace.setSpan(spans.within, spans.execute)
    this.#noteTrace(call, spans.execute)
  }

  /** Has `run` happen below the spans of the call, so that what its tool traces stands there. */
  within<Value>(call: Call, run: () => Value): Value {
    const spans = this.#spans.get(call)
    return spans === undefined ? run() : this.#api.context.with(spans.within, run)
  }

  closed(call: Call, outcome: Outcome): void {
    const spans = this.#spans.get(call)
    if (spans === undefined) return
    this.#spans.delete(call)
    const { root } = spans
    const { marks, entry } = call.trail
    if (root.isRecording()) {
      this.#endStages(call, spans, marks)
      if (entry !== undefined)
        root.updateName(
          `${call.request.entrance === 'mcp' && call.request.parent === undefined ? names.TOOLS_CALL : names.EXECUTE_TOOL} ${entry.tool.name}`,
        )
      root.setAttributes(attributesOf(call, outcome))
      if (!outcome.ok) root.setStatus({ code: this.#api.SpanStatusCode.ERROR })
    }
    root.end(startOf(call, marks.closed ?? call.openedMonotonicMs + outcome.elapsedMs))
  }

  /** What the caller says of its trace, the call that makes this one, or whatever is current. */
  #above({ request }: Call): Context {
    const { context, trace, createTraceState } = this.#api
    const parent = request.parent === undefined ? undefined : this.#spans.get(request.parent)
    if (parent !== undefined) return parent.within
    const current = context.active()
    const given = request.trace
    if (given === undefined) return current
    const [, traceId = '', spanId = '', flags = '0'] = given.traceparent.split('-')
    return trace.setSpanContext(current, {
      ...{ traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true },
      ...(given.tracestate === undefined ? undefined : { traceState: createTraceState(given.tracestate) }),
    })
  }

  #noteTrace({ request, trail }: Call, span: Span): void {
    const spanContext = span.spanContext()
    // Without an SDK behind the API there is no span, and what came goes on unchanged.
    if (span.isRecording() || this.#api.isSpanContextValid(spanContext)) trail.trace = traceOf(spanContext)
    else if (request.trace !== undefined) trail.trace = request.trace
  }

  #executeSpan({ tool }: Entry, startTime: HrTime): [string, Parameters<Tracer['startSpan']>[1]] {
    // MCP servers are all that is upstream.
    if (tool.place !== 'upstream') return ['execute', { startTime }]
    const attributes = {
      [names.MCP_METHOD]: names.TOOLS_CALL,
      [names.GEN_AI_TOOL_NAME]: tool.name,
      [names.GEN_AI_OPERATION]: names.EXECUTE_TOOL,
    }
    return [`${names.TOOLS_CALL} ${tool.name}`, { startTime, kind: this.#api.SpanKind.CLIENT, attributes }]
  }

  #endStages(call: Call, spans: Spans, marks: StageMarks): void {
    const within = this.#api.trace.setSpan(this.#api.ROOT_CONTEXT, spans.root)
    for (const [index, stage] of STAGES.entries()) {
      const began = marks[stage]
      // An allowed read writes no intent: nothing happens between its decision and its work.
      if (began === undefined || (stage === 'intend' && isSkipped(call))) continue
      let ended = marks.closed ?? began
      for (let next = STAGES.length - 1; next > index; next -= 1) ended = marks[STAGES[next] ?? 'shape'] ?? ended
      const known = stage === 'execute' ? spans.execute : undefined
      const startTime = startOf(call, began)
      const span = known ?? this.#tracer.startSpan(stage, { startTime }, within)
      span.end(startOf(call, ended))
    }
  }
}

const isSkipped = ({ trail }: Call): boolean => trail.intended !== true && trail.marks.execute !== undefined

/** What is told of a call besides its name and its times. */
function attributesOf({ id, runId, trail }: Call, { meta, ...outcome }: Outcome): Attributes {
  const { decision, entry, input } = trail
  const known: Attributes = {
    [names.CALL_ID]: id,
    [names.RUN_ID]: runId,
    [names.GEN_AI_TOOL_CALL_ID]: id,
    [names.ATTEMPTS]: trail.attempts,
  }
  if (entry !== undefined) {
    known[names.GEN_AI_TOOL_NAME] = entry.tool.name
    known[names.GEN_AI_TOOL_TYPE] = entry.tool.place === 'upstream' ? 'extension' : 'function'
    known[names.SOURCE] = entry.source
    known[names.VERSION_OF_TOOL] = entry.tool.version
  }
  if (input !== undefined) known[names.EFFECT] = input.effect
  if (decision !== undefined) {
    known[names.DECISION] = decision.kind
    known[names.POLICY_VERSION] = decision.policyVersion
    if (decision.rule !== undefined) known[names.RULE] = decision.rule.text
  }
  if (trail.cachedFrom !== undefined) known[names.CACHED] = true
  if (meta.truncated !== undefined) known[names.TRUNCATED] = true
  if (!outcome.ok) {
    known[names.ERROR_TYPE] = outcome.error.type
    known[names.EFFECT_STATE] = outcome.error.effect
  }
  return known
}

function traceOf({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-0${traceFlags & 1}`
  const tracestate = traceState?.serialize() ?? ''
  return tracestate === '' ? { traceparent } : { traceparent, tracestate }
}

/** Marks are monotonic; spans stand in the wall time of the opening, which may step meanwhile. */
const startOf = ({ openedAtMs, openedMonotonicMs }: Call, mark: number): HrTime =>
  hrTime(openedAtMs + Math.max(0, mark - openedMonotonicMs))

function hrTime(atMs: number): HrTime {
  const seconds = Math.trunc(atMs / 1_000)
  return [seconds, Math.round((atMs - seconds * 1_000) * 1_000_000)]
}
