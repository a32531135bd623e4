// The composition root: options in, wired rooms out. Nothing is decided here; each room is given what it needs of another.

import { randomUUID } from 'node:crypto'
import { callDigest, openApproval } from './authorize/approval.ts'
import { readCaller } from './authorize/caller-identity.ts'
import { loadPolicy, type Policy } from './authorize/policy.ts'
import { type Clock, systemClock } from './base/clock.ts'
import { Emitter } from './base/emitter.ts'
import { errorText } from './base/error-text.ts'
import type { Rooms } from './call-tool.ts'
import type { Call, CallRequest, Entrance } from './describe/call.ts'
import type { Caller } from './describe/caller.ts'
import { ARGUMENT_BYTES_MAX, checkInput } from './describe/check-input.ts'
import { effectMost } from './describe/effect.ts'
import type { ToolListing } from './describe/entry.ts'
import { GateConfigError } from './describe/gate-config-error.ts'
import { refused } from './describe/refused.ts'
import type { Tool } from './describe/tool.ts'
import type { Workspace } from './describe/workspace.ts'
import { Catalogue } from './discover/catalogue.ts'
import { Views } from './discover/view.ts'
import { Executor } from './execute/executor.ts'
import type {
  AnyTool,
  CatalogueRow,
  Gate,
  GateEvents,
  GateOptions,
  LogEntry,
  SessionOptions,
  UnsettledCall,
} from './gate-contract.ts'
import { checkGateOptions } from './gate-options-check.ts'
import { GateSession } from './gate-session.ts'
import { openStore } from './gate-store.ts'
import { openWorkspace } from './gate-workspace.ts'
import { type Intent, Records } from './observe/records.ts'
import { shapeOutcome } from './observe/shape.ts'
import type { Store } from './observe/store.ts'
import { verifyRecords } from './observe/verify.ts'
import { RunningSources } from './run-sources.ts'
import { settleUnsettled } from './settle-unsettled.ts'

const RESULT_BYTES = 48 * 1024
const DEADLINE_MS = 60_000
const APPROVAL_MS = 3_600_000
const SOURCE_START_MS = 30_000
const CLOSE_POLL_MS = 10
const CLOSE_MS = 5_000

/** Tools that the host itself registers. */
const HOST = { source: 'host', layer: 'user', identity: '', foreign: false } as const

/**
 * Opens a gate. Built-in tools and the operator's own modules are ready, or have failed, when it resolves; foreign sources
 * start beside it (`gate.settled()`).
 *
 * @throws GateConfigError for options that do not hold, before anything has started.
 */
export async function createGate(options: GateOptions = {}): Promise<Gate> {
  checkGateOptions(options)
  const clock = options.clock ?? systemClock
  const workspace = await openWorkspace(options.workspace, options.ownFiles ?? [])
  const loaded = loadPolicy(options.policy ?? {}, { roots: workspace.roots })
  if (loaded.kind === 'bad') throw new GateConfigError(loaded.problems)
  const store = await openStore(options.store ?? 'memory', clock, workspace)
  const gate = new WiredGate(options, { clock, workspace, policy: loaded.policy, store })
  try {
    await gate.open()
  } catch (error) {
    await gate.close()
    throw error
  }
  return gate
}

type Wired = { readonly clock: Clock; readonly workspace: Workspace; readonly policy: Policy; readonly store: Store }

class WiredGate implements Gate {
  unsettled: readonly UnsettledCall[] = []
  readonly #options: GateOptions
  readonly #wired: Wired
  readonly #events: Emitter<GateEvents>
  readonly #catalogue: Catalogue
  readonly #views: Views
  readonly #executor: Executor
  readonly #records: Records
  readonly #sources: RunningSources
  readonly #rooms: Rooms
  #open = 0
  #closing: Promise<void> | undefined

  constructor(options: GateOptions, wired: Wired) {
    const { clock, policy, store, workspace } = wired
    this.#options = options
    this.#wired = wired
    this.#events = new Emitter((event, error) =>
      this.#log({ level: 'error', message: `a listener of ${event} failed`, details: { error: errorText(error) } }),
    )
    this.#catalogue = new Catalogue(() => this.#events.emit('catalogue-changed', { digest: this.#catalogue.digest }))
    this.#views = new Views(this.#catalogue, (caller, entry) => policy.admit(caller, entry).kind === 'admitted')
    this.#executor = new Executor({
      clock,
      deadlineMs: options.limits?.deadlineMs ?? DEADLINE_MS,
      mayTouch: (caller, entry, resource, input) => policy.mayTouch(caller, entry, resource, input),
      reportLate: (job, ending, afterMs) => this.#records.late(job.call, ending, afterMs),
      reportCrash: ({ call }, error) => this.#reportCrash(call, error),
      log: (call, message, details) =>
        this.#log({
          level: 'info',
          message: `${call.request.name} ${call.id}: ${message}`,
          ...(details === undefined ? {} : { details }),
        }),
    })
    this.#records = new Records({
      store,
      clock,
      openApproval: (call, entry, input, decision) =>
        openApproval({
          call,
          entry,
          input,
          decision,
          digest: callDigest({
            caller: call.caller,
            workspace: workspaceId(workspace),
            fingerprint: entry.fingerprint,
            argumentsText: input.text,
            policyVersion: policy.version,
          }),
          openedAt: clock.now(),
          expiresMs: options.approvals?.expiresMs ?? APPROVAL_MS,
        }),
      approvalOpened: (approval) => this.#events.emit('approval-opened', approval),
    })
    const log = (entry: LogEntry): void => this.#log(entry)
    const startMs = options.sourceStartMs ?? SOURCE_START_MS
    this.#sources = new RunningSources({
      catalogue: this.#catalogue,
      workspace,
      images: store.images,
      clock,
      startMs,
      log,
    })
    this.#rooms = this.#wireRooms()
  }

  #wireRooms(): Rooms {
    const { clock, policy } = this.#wired
    const { limits = {} } = this.#options
    const { argumentBytes = ARGUMENT_BYTES_MAX, deadlineMs = DEADLINE_MS, resultBytes = RESULT_BYTES } = limits
    return {
      openCall: (request) => this.#openCall(request),
      catalogue: { find: (call) => this.#find(call) },
      policy: {
        admit: ({ caller }, entry) => policy.admit(caller, entry),
        decide: ({ caller }, entry, input) => policy.decide(caller, entry, input),
      },
      check: (call, entry) =>
        checkInput(
          call,
          entry,
          argumentBytes,
          clock,
          call.openedMonotonicMs + Math.min(deadlineMs, entry.tool.deadlineMs ?? deadlineMs),
        ),
      records: {
        intend: (call, entry, input, decision) =>
          this.#closing === undefined ? this.#records.intend(call, entry, input, decision) : CLOSING,
        close: (call, outcome) => {
          this.#open -= 1
          this.#records.close(call, outcome)
          this.#events.emit('call-closed', outcome)
        },
      },
      executor: this.#executor,
      shape: (call, ending) => shapeOutcome(call, ending, { clock, resultBytes }),
      reportBug: (call, bug) =>
        refused('internal', `the gate failed; the operator finds the reason under ${call.id}`, {
          effect: call.trail.attempts > 0 ? 'unknown' : 'none',
          help: this.#reportCrash(call, bug),
        }),
    }
  }

  /** Starts what was given; resolves when all but foreign sources are ready and old calls are settled. */
  async open(): Promise<void> {
    const { tools = [], sources = [] } = this.#options
    const { clock, store } = this.#wired
    checkSourceNames(sources.map(({ name }) => name))
    this.#catalogue.replace(
      HOST,
      tools.map((tool) => ({ kind: 'tool', tool: tool as Tool })),
    )
    const starts = sources.map((source) => ({ source, start: this.#sources.start(source) }))
    // What the operator's own code offers is waited for: it can tell what became of old calls, and it may shadow others.
    await Promise.all(starts.filter(({ source }) => !source.foreign).map(({ start }) => start))
    this.unsettled = await settleUnsettled(store, clock, (name) => this.#toolOf(name))
  }

  session(caller: SessionOptions = {}, entrance: Entrance = 'library'): GateSession {
    const read = readCaller(caller)
    if (read.kind === 'bad') throw new GateConfigError([{ key: 'caller', message: read.reason }])
    const list = (asking: Caller): readonly ToolListing[] =>
      this.#closing === undefined ? this.#views.list(asking) : []
    return new GateSession(this.#rooms, read.caller, entrance, { list, preview: (request) => this.#newCall(request) })
  }

  readonly approvals: Gate['approvals'] = {
    list: ({ state, limit = 100 } = {}) =>
      this.#wired.store.approvals({ limit, ...(state === undefined ? {} : { state }) }),
    show: async (id) => (await this.#wired.store.approvals({ id, limit: 1 }))[0],
    decide: async (id, answer) => {
      checkAnswer(answer)
      const at = this.#wired.clock.now()
      const body = JSON.stringify({
        approval: id,
        decision: answer.decision,
        by: answer.by,
        ...(answer.comment === undefined ? {} : { comment: answer.comment }),
      })
      return this.#wired.store.answer(id, { ...answer, at }, { kind: 'approval', at, callId: null, body })
    },
  }

  readonly catalogue: Gate['catalogue'] = {
    register: (tool: AnyTool) => void this.#catalogue.add(HOST, tool as Tool),
    retire: (name) => this.#catalogue.retire(HOST.source, name),
    rows: () => this.#rows(),
    sources: () => this.#sources.rows(),
  }

  readonly records: Gate['records'] = {
    query: (query) => this.#wired.store.records(query),
    verify: () => verifyRecords(this.#wired.store),
    flush: () => this.#wired.store.flush(),
  }

  warnings(): readonly string[] {
    const known = this.#catalogue.items().map(({ entry }) => entry)
    return [...this.#catalogue.warnings(), ...this.#wired.policy.warnings(known)]
  }

  on<Name extends keyof GateEvents>(event: Name, listener: (detail: GateEvents[Name]) => void): () => void {
    return this.#events.on(event, listener)
  }

  settled(): Promise<void> {
    return this.#sources.settled()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#executor.stop()
    // Cancelled calls still write their end records; a call that hangs before its executor is not waited for for ever.
    const until = Date.now() + CLOSE_MS
    while (this.#open > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS))
    await this.#sources.close()
    await this.#wired.store.close()
  }

  #openCall(request: CallRequest): Call {
    this.#open += 1
    return this.#newCall(request)
  }

  #newCall(request: CallRequest): Call {
    const { clock } = this.#wired
    const id = randomUUID()
    return {
      id: `call_${id}`,
      runId: `run_${id}`,
      request,
      caller: request.caller,
      openedAtMs: clock.now(),
      openedMonotonicMs: clock.monotonic(),
      trail: { attempts: 0 },
    }
  }

  #find({ request }: Call): ReturnType<Catalogue['find']> {
    if (this.#closing !== undefined) return { kind: 'missing', code: 'unavailable', reason: 'the gate is closed' }
    const found = this.#catalogue.find(request.name)
    if (found.kind === 'missing' || request.tool === undefined || found.entry.tool === request.tool) return found
    return {
      kind: 'missing',
      code: 'not_found',
      reason: 'another definition answers to this name; register this one, or call by name',
    }
  }

  #toolOf(name: string): Tool | undefined {
    const found = this.#catalogue.find(name)
    return found.kind === 'found' ? found.entry.tool : undefined
  }

  #rows(): readonly CatalogueRow[] {
    return this.#catalogue.items().map(({ entry, shadowedBy }) => ({
      name: entry.tool.name,
      version: entry.tool.version,
      source: entry.source,
      layer: entry.layer,
      effect: effectMost(entry.tool.effect),
      fingerprint: entry.fingerprint,
      state: entry.state,
      ...(shadowedBy === undefined ? {} : { shadowedBy }),
    }))
  }

  #reportCrash(call: Call, error: unknown): string {
    const text = errorText(error)
    this.#log({ level: 'error', message: `${call.request.name} ${call.id} broke off`, details: { error: text } })
    return text
  }

  #log(entry: LogEntry): void {
    try {
      this.#options.log?.(entry)
    } catch {
      // A logger that fails must not fail a call; there is nowhere left to say so.
    }
  }
}

/** Nothing starts once the gate is closing, and no approval is spent on it. */
const CLOSING: Intent = Object.freeze({
  kind: 'refused',
  code: 'cancelled',
  message: 'the gate is closing; nothing was done',
  options: {},
})

function checkAnswer({ decision, by }: { readonly decision: unknown; readonly by: unknown }): void {
  if (decision !== 'approve' && decision !== 'decline') throw new TypeError('`decision`: expected approve or decline')
  if (typeof by !== 'string' || by.trim() === '' || by.length > 256)
    throw new TypeError('`by`: expected the name of who answers')
}

const workspaceId = ({ roots }: Workspace): string => [...roots].map(([name, path]) => `${name}=${path}`).join('\n')

function checkSourceNames(names: readonly string[]): void {
  const problems = names
    .filter(
      (name, index) => !/^[A-Za-z0-9_-]{1,32}$/.test(name) || name === HOST.source || names.indexOf(name) !== index,
    )
    .map((name) => ({
      key: 'sources',
      message: `\`${name.slice(0, 40)}\` is no name for a source: expected [A-Za-z0-9_-]{1,32}, given once, not \`${HOST.source}\``,
    }))
  if (problems.length > 0) throw new GateConfigError(problems)
}
