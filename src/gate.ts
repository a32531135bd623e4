// The composition root: options in, wired rooms out. Nothing is decided here; each room is given what it needs of another.

import { loadPolicy, type Policy } from './authorize/policy.ts'
import type { PolicyOptions } from './authorize/policy-options.ts'
import { type Clock, systemClock } from './base/clock.ts'
import { Emitter } from './base/emitter.ts'
import { errorText } from './base/error-text.ts'
import type { Rooms } from './call-tool.ts'
import type { Call, CallRequest, Entrance } from './describe/call.ts'
import type { Redactor } from './describe/redactor.ts'
import type { Tool } from './describe/tool.ts'
import { believed } from './discover/activation.ts'
import { Catalogue } from './discover/catalogue.ts'
import { Views } from './discover/view.ts'
import { guardWarnings } from './execute/check-guards.ts'
import { LoopGuard } from './execute/loop-guard.ts'
import { claimCopies } from './gate/checkpoint-copies.ts'
import { GateApprovals } from './gate/gate-approvals.ts'
import { GateArtifacts, OWN } from './gate/gate-artifacts.ts'
import { GateAudit } from './gate/gate-audit.ts'
import { GateAuthority } from './gate/gate-authority.ts'
import { GateCallers } from './gate/gate-callers.ts'
import { gateCatalogue, HOST } from './gate/gate-catalogue.ts'
import { type GateExecution, gateExecution } from './gate/gate-execution.ts'
import { checkGuardFit, guardRows } from './gate/gate-guards.ts'
import { gateJournal } from './gate/gate-journal.ts'
import { checkGateOptions, checkSources, DEADLINE_MS, REPEATS } from './gate/gate-options-check.ts'
import { gateRecords } from './gate/gate-records.ts'
import { gateRedactor, redactedEntry } from './gate/gate-redaction.ts'
import { newCall, wireRooms } from './gate/gate-rooms.ts'
import { GateSession, type SessionParts } from './gate/gate-session.ts'
import { gateShaper } from './gate/gate-shaping.ts'
import { GateStops } from './gate/gate-stops.ts'
import { GateTelemetry, type LoadedTelemetry, loadTelemetry } from './gate/gate-telemetry.ts'
import { LivePolicy, loadedOrThrow } from './gate/live-policy.ts'
import { openStore } from './gate/open-store.ts'
import { holdsIn, type OpenedWorkspace, openWorkspace } from './gate/open-workspace.ts'
import { RunningSources } from './gate/run-sources.ts'
import { settleUnsettled } from './gate/settle-unsettled.ts'
import { type SigningKey, signingKeyOf } from './gate/signing-key.ts'
import type {
  Gate,
  GateEvents,
  GateOptions,
  LogEntry,
  PolicyReloaded,
  SessionOptions,
  UnsettledCall,
} from './gate-contract.ts'
import type { MachineAbilities } from './machine/abilities.ts'
import type { Records } from './observe/records.ts'
import type { Shaper } from './observe/shape.ts'
import type { Store } from './observe/store.ts'
import { GatePolicyDesk } from './policy-desk/policy-desk.ts'

const SOURCE_START_MS = 30_000
const CLOSE_POLL_MS = 10
const CLOSE_MS = 5_000

/** What this machine can do is found out when somebody asks for it, and once for all gates of the process. */
const machineOnce = async (): Promise<MachineAbilities> =>
  (await import('./machine/probe-machine.ts')).machineAbilities()

/**
 * Opens a gate. Built-in tools and the operator's own modules are ready, or have failed, when it resolves; foreign sources
 * start beside it (`gate.settled()`).
 *
 * @throws GateConfigError for options that do not hold, before anything has started; and for rules that do not fit the tools
 * that are ready then.
 */
export async function createGate(options: GateOptions = {}): Promise<Gate> {
  checkGateOptions(options)
  checkSources(options.sources ?? [], [HOST.source, OWN.source])
  const redactor = gateRedactor(options)
  const clock = options.clock ?? systemClock
  const workspace = await openWorkspace(options.workspace, options.ownFiles ?? [])
  const policy = loadedOrThrow(loadPolicy(options.policy ?? {}, { roots: workspace.roots }))
  const telemetry = await loadTelemetry(options.telemetry)
  const key = signingKeyOf(options, workspace)
  claimCopies(options.audit?.checkpointTo ?? [], workspace)
  const store = await openStore(options.store ?? 'memory', clock, workspace, options.audit)
  const gate = new WiredGate(options, { clock, workspace, policy, store, redactor, telemetry, key })
  try {
    await gate.open()
  } catch (error) {
    await gate.close()
    throw error
  }
  return gate
}

type Wired = {
  readonly clock: Clock
  readonly workspace: OpenedWorkspace
  readonly policy: Policy
  readonly store: Store
  readonly key: SigningKey | undefined
  readonly redactor: Redactor
  readonly telemetry: LoadedTelemetry | undefined
}

class WiredGate implements Gate {
  unsettled: readonly UnsettledCall[] = []
  readonly approvals: Gate['approvals']
  readonly grants: Gate['grants']
  readonly catalogue: Gate['catalogue']
  readonly policy: GatePolicyDesk
  readonly journal: Gate['journal']
  readonly #options: GateOptions
  readonly #wired: Wired
  readonly #events: Emitter<GateEvents>
  readonly #catalogue: Catalogue
  readonly #live: LivePolicy
  readonly #authority: GateAuthority
  readonly #loops: LoopGuard
  readonly #stops: GateStops
  readonly #callers: GateCallers
  readonly #views: Views
  readonly #executor: GateExecution['executor']
  readonly #lanes: GateExecution['lanes']
  readonly #deadlineMs: number
  readonly #questions: GateApprovals
  readonly records: Gate['records']
  readonly #audit: GateAudit
  readonly artifacts: Gate['artifacts']
  readonly #artifacts: GateArtifacts
  readonly #records: Records
  readonly #telemetry: GateTelemetry
  readonly #sources: RunningSources
  readonly #shaper: Shaper
  readonly #rooms: Rooms
  #open = 0
  #unwatch = (): void => {}
  #closing: Promise<void> | undefined

  constructor(options: GateOptions, wired: Wired) {
    const { clock, policy, store, workspace, redactor } = wired
    const { approvals = {}, audit = {}, limits = {} } = options
    this.#options = options
    this.#wired = wired
    this.#events = new Emitter((event, error) =>
      this.#log({ level: 'error', message: `a listener of ${event} failed`, details: { error: errorText(error) } }),
    )
    const log = (entry: LogEntry): void => this.#log(entry)
    this.#catalogue = new Catalogue(
      () => this.#events.emit('catalogue-changed', { digest: this.#catalogue.digest }),
      (entry) => this.#live.current.fits(entry),
    )
    this.#live = new LivePolicy(policy, {
      context: { roots: workspace.roots },
      known: () => this.#catalogue.own(),
      changed: () => this.#policyChanged(),
    })
    this.#callers = new GateCallers(this.#live)
    this.#stops = new GateStops({ store, clock, log, changed: () => this.#stopsChanged() })
    const loops = new LoopGuard({ ...REPEATS, ...limits.repeats }, clock)
    this.#loops = loops
    this.#authority = new GateAuthority({ policy: this.#live, stops: this.#stops, loops })
    this.#views = new Views({
      catalogue: this.#catalogue,
      denies: (caller, entry) => this.#authority.denies(caller, entry),
      hides: (caller, entry) => this.#authority.hides(caller, entry),
      version: () => this.#authority.version,
      inWorkspace: believed(holdsIn(workspace), clock),
    })
    this.#artifacts = new GateArtifacts({
      ...{ store, clock, options: options.artifacts ?? {}, resultBytes: limits.resultBytes },
      ...{ catalogue: this.#catalogue, views: this.#views, authority: this.#authority },
      callerOf: (given) => this.#callers.of(given),
      preview: (request) => newCall(request, clock),
    })
    this.artifacts = this.#artifacts.artifacts
    this.#deadlineMs = limits.deadlineMs ?? DEADLINE_MS
    const { executor, lanes, twins } = gateExecution({
      ...{ clock, workspace, options, redactor, log, deadlineMs: this.#deadlineMs },
      ...{ authority: this.#authority, policy: this.#live, views: this.#views, machine: machineOnce },
      rooms: () => this.#rooms,
      late: (call, ending, afterMs, tells) => this.#records.late(call, ending, afterMs, tells),
      reportCrash: (call, error) => this.#reportCrash(call, error),
      emit: (event, detail) => this.#events.emit(event, detail),
    })
    this.#executor = executor
    this.#lanes = lanes
    const emit = (event: 'approval-opened' | 'approval-changed', row: GateEvents['approval-opened']): void =>
      this.#events.emit(event, row)
    this.#questions = new GateApprovals({ store, clock, options: approvals, emit, log })
    this.approvals = this.#questions.approvals
    this.grants = this.#questions.grants
    this.#audit = new GateAudit({
      ...{ store, clock, options: audit, key: wired.key, log },
      emit: (event, detail) => this.#events.emit(event, detail),
    })
    this.records = this.#audit.records
    const { onFailure = 'refuse' } = audit
    this.#records = gateRecords({
      ...{ store, clock, workspace, options: approvals, approvals: this.#questions, policy: this.#live },
      ...{ twins, deadlineMs: this.#deadlineMs, settleLapsed: () => this.#settleLapsed() },
      ...{ redactor, onFailure, noteFailure: (reason) => this.#audit.noteFailure(reason) },
    })
    this.journal = gateJournal(store, clock)
    const startMs = options.sourceStartMs ?? SOURCE_START_MS
    this.#sources = new RunningSources({
      ...{ catalogue: this.#catalogue, workspace, images: store.images, redactor, clock, startMs, log },
      machine: machineOnce,
    })
    this.catalogue = gateCatalogue(this.#catalogue, this.#sources)
    this.#telemetry = new GateTelemetry({
      ...{ clock, store, log, lanes, events: this.#events, loaded: wired.telemetry },
      ...{ breakers: () => executor.breakersOpen(), sources: this.catalogue.sources, openCalls: () => this.#open },
    })
    this.#shaper = gateShaper({ options, clock, loops, redactor, keepWhole: this.#artifacts.keepWhole })
    const rooms = wireRooms({
      ...{ limits, clock, views: this.#views, authority: this.#authority, shaper: this.#shaper },
      ...{ references: this.#artifacts.references, redactor },
      ...{ records: this.#records, executor: this.#executor },
      openCall: (request) => this.#openCall(request),
      isClosing: () => this.#closing !== undefined,
      closed: (outcome) => {
        this.#open -= 1
        // The end, and the intent of whatever is no read.
        this.#audit.noteRows(outcome.meta.effect === 'read' ? 1 : 2)
        this.#events.emit('call-closed', outcome)
      },
      reportCrash: (call, bug) => this.#reportCrash(call, bug),
    })
    this.#rooms = this.#telemetry.watching(rooms)
    this.policy = this.#wireDesk()
  }

  #wireDesk(): GatePolicyDesk {
    return new GatePolicyDesk({
      rooms: this.#rooms,
      catalogue: this.#catalogue,
      policy: () => this.#live.current,
      policyOf: (caller) => this.#live.of(caller),
      callerOf: (given) => this.#callers.of(given),
      preview: (request) => newCall(request, this.#wired.clock),
      why: (caller, item) => this.#views.why(caller, item),
      store: this.#wired.store,
      load: (given) => this.#live.load(given),
      reload: (given) => this.#reload(given),
    })
  }

  /** Starts what was given; resolves when all but foreign sources are ready and old calls are settled. */
  async open(): Promise<void> {
    const { tools = [], sources = [] } = this.#options
    const { store } = this.#wired
    this.#unwatch = store.watch(() => void this.#stops.lookAgain())
    await this.#stops.refresh()
    this.#artifacts.register()
    this.#catalogue.replace(
      HOST,
      tools.map((tool) => ({ kind: 'tool', tool: tool as Tool })),
    )
    const starts = sources.map((source) => ({ source, start: this.#sources.start(source) }))
    // What the operator's own code offers is waited for: it can tell what became of old calls, and it may shadow others.
    await Promise.all(starts.filter(({ source }) => !source.foreign).map(({ start }) => start))
    this.#live.check()
    await checkGuardFit(this.#options, this.#catalogue.own(), this.#deadlineMs, machineOnce)
    this.unsettled = await this.#settleLapsed()
    const { store: kept } = this.#options
    // What ends with the process needs no note of where it began.
    this.#audit.start(typeof kept === 'object' && 'sqlite' in kept ? this.#live.current.version : undefined)
  }

  #settleLapsed(): Promise<readonly UnsettledCall[]> {
    const { clock, store } = this.#wired
    return settleUnsettled({
      ...{ store, clock },
      toolOf: (name) => this.#toolOf(name),
      endedUnknown: (callId, twin) => this.#records.endedUnknown(callId, twin),
    })
  }

  session(options: SessionOptions = {}, entrance: Entrance = 'library'): GateSession {
    return new GateSession(this.#callers.of(options), this.#sessionParts(entrance))
  }

  #sessionParts(entrance: Entrance): SessionParts {
    const asks = entrance === 'library' && this.#options.approvals?.onRequest !== undefined
    return {
      rooms: this.#rooms,
      entrance,
      turn: (count) => this.#lanes.turn(count),
      fitTurn: (outcomes) => this.#shaper.fitTurn(outcomes),
      mayCircle: (caller, requests) => this.#loops.mayRefuse(caller, requests),
      list: (caller) => (this.#closing === undefined ? this.#views.list(caller) : []),
      preview: (request) => newCall(request, this.#wired.clock),
      ask: asks ? (id, signal) => this.#questions.ask(id, signal) : undefined,
      ended: (caller) => this.#executor.sessionEnded(caller),
      grantFor: (call, entry, input, decision) => this.#records.grantFor(call, entry, input, decision),
      atStep: (caller, step) => this.#callers.atStep(caller, step),
      childOf: (caller, given) => this.#callers.childOf(caller, given),
    }
  }

  stop: Gate['stop'] = (target, by = { by: 'host' }) => this.#stops.stop(target, by)
  lift: Gate['lift'] = (id, by = 'host') => this.#stops.lift(id, by)
  replay: Gate['replay'] = (session, options) => this.policy.replay(session, options)
  stops: Gate['stops'] = () => this.#stops.rows()
  guards: Gate['guards'] = (tool) => guardRows(this.#executor.guards, this.#catalogue, tool)
  settled: Gate['settled'] = () => this.#sources.settled()
  metrics: Gate['metrics'] = () => this.#telemetry.metrics()
  troubles: Gate['troubles'] = () => (this.#closing === undefined ? this.#audit.troubles() : ['the gate is closing'])

  protect(paths: readonly string[]): void {
    for (const path of paths) this.#wired.workspace.own.add(path)
  }

  warnings(): readonly string[] {
    const known = this.#catalogue.items().map(({ entry }) => entry)
    const guards = guardWarnings(this.#options.guards ?? [], known, this.#deadlineMs)
    return [...this.#catalogue.warnings(), ...this.#live.current.warnings(known), ...guards]
  }

  on<Name extends keyof GateEvents>(event: Name, listener: (detail: GateEvents[Name]) => void): () => void {
    const stop = this.#events.on(event, listener)
    if (event !== 'approval-opened' && event !== 'approval-changed') return stop
    // Other processes open and answer questions too; their database is looked at while somebody listens.
    const unfollow = this.#questions.follow()
    return () => {
      stop()
      unfollow()
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#unwatch()
    this.#questions.close()
    this.#telemetry.stop()
    this.#audit.stop()
    this.#records.stop()
    this.#executor.stop()
    // Cancelled calls still write their end records; a call that hangs before its executor is not waited for for ever.
    const until = Date.now() + CLOSE_MS
    while (this.#open > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS))
    await this.#executor.close()
    await this.#sources.close()
    await this.#artifacts.close()
    await this.#audit.close()
    await this.#wired.store.close()
  }

  async #reload(options: PolicyOptions): Promise<PolicyReloaded> {
    if (this.#closing !== undefined) return { kind: 'kept', problems: [{ message: 'the gate is closed' }] }
    const replaced = this.#live.reload(options)
    if (replaced.kind === 'kept') return replaced
    await this.#wired.store.flush()
    return { kind: 'ok', version: replaced.policy.version, warnings: this.warnings() }
  }

  /** Views, plans and waiting answers follow by the version of the policy; what runs is asked about again. */
  #policyChanged(): void {
    const { version } = this.#live.current
    // Also tells the views, which follow the catalogue.
    this.#catalogue.judge()
    this.#audit.notePolicy('the policy was replaced', version)
    this.#executor.review()
    this.#events.emit('policy-changed', { version })
  }

  #stopsChanged(): void {
    this.#authority.changed()
    this.#executor.review()
    this.#events.emit('stops-changed', this.#stops.rows())
  }

  #openCall(request: CallRequest): Call {
    this.#open += 1
    this.#audit.noteCall()
    return newCall(request, this.#wired.clock)
  }

  #toolOf(name: string): Tool | undefined {
    const found = this.#catalogue.find(name)
    return found.kind === 'found' ? found.entry.tool : undefined
  }

  #reportCrash(call: Call, error: unknown): string {
    const text = errorText(error)
    this.#log({ level: 'error', message: `${call.request.name} ${call.id} broke off`, details: { error: text } })
    return text
  }

  #log(entry: LogEntry): void {
    try {
      this.#options.log?.(redactedEntry(entry, this.#wired.redactor))
    } catch {
      // A logger that fails must not fail a call; there is nowhere left to say so.
    }
  }
}
