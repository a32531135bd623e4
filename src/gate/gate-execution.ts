// The room that makes calls happen, given what it needs of the others: guards of all parts in one list, lanes, kept answers,
// twins, calls that tools make. Nothing is decided here.

import type { Clock } from '../base/clock.ts'
import type { Rooms } from '../call-tool.ts'
import type { Call, Ending } from '../describe/call.ts'
import type { Redactor } from '../describe/redactor.ts'
import type { Views } from '../discover/view.ts'
import { cacheGuard, writesOn } from '../execute/cache-guard.ts'
import { Executor } from '../execute/executor.ts'
import type { Job } from '../execute/guard.ts'
import { laneGuard } from '../execute/lanes/lane-guard.ts'
import { Lanes } from '../execute/lanes/lanes.ts'
import { ResultCache } from '../execute/result-cache.ts'
import { stillMay } from '../execute/still-may.ts'
import { Twins } from '../execute/twin-guard.ts'
import type { GateEvents, GateOptions, LogEntry } from '../gate-contract.ts'
import type { MachineAbilities } from '../machine/abilities.ts'
import type { GateAuthority } from './gate-authority.ts'
import { progressOut } from './gate-progress.ts'
import type { LivePolicy } from './live-policy.ts'
import { NestedCalls } from './nested-calls.ts'
import type { OpenedWorkspace } from './open-workspace.ts'

export type GateExecutionParts = {
  readonly clock: Clock
  readonly workspace: OpenedWorkspace
  readonly options: GateOptions
  readonly redactor: Redactor
  readonly deadlineMs: number
  readonly authority: GateAuthority
  readonly policy: LivePolicy
  readonly views: Pick<Views, 'find'>
  /** They hold the executor; they are there when the first call is made. */
  readonly rooms: () => Rooms
  readonly machine: () => Promise<MachineAbilities>
  /** `tells`: what came late says what became of the whole call. */
  readonly late: (call: Call, ending: Ending, afterMs: number, tells: boolean) => void
  readonly reportCrash: (call: Call, error: unknown) => string
  readonly emit: (event: 'call-progress', detail: GateEvents['call-progress']) => void
  readonly log: (entry: LogEntry) => void
}

export type GateExecution = { readonly executor: Executor; readonly lanes: Lanes; readonly twins: Twins }

export function gateExecution(parts: GateExecutionParts): GateExecution {
  const { authority, clock, deadlineMs, options, policy, redactor, views, workspace } = parts
  const lanes = new Lanes({ parallel: options.limits?.parallel, roots: [...workspace.roots.values()] })
  const twins = new Twins(clock)
  const cache = new ResultCache(clock)
  const nested = new NestedCalls({ rooms: parts.rooms, lanes })
  const still = {
    denies: authority.deniesNow.bind(authority),
    isCurrent: (call, entry) => {
      const found = views.find(call.caller, entry.tool.name)
      return found.kind === 'found' && found.entry.fingerprint === entry.fingerprint
    },
  } satisfies Parameters<typeof stillMay>[0]
  const reportLate: ConstructorParameters<typeof Executor>[0]['reportLate'] = (job, ending, afterMs) =>
    parts.late(job.call, ending, afterMs, tellsOfCall(job))
  const executor = new Executor({
    ...{ clock, deadlineMs, reportLate, redactor, roots: [...workspace.roots.values()] },
    ...still,
    machine: parts.machine,
    mayTouch: (caller, entry, resource, input) => policy.mayTouch(caller, entry, resource, input),
    reportCrash: ({ call }, error) => parts.reportCrash(call, error),
    callNested: nested.make,
    progress: progressOut(parts.emit, redactor),
    twin: twins.guard,
    lane: twins.inLane(laneGuard({ lanes, clock, stillMay: stillMay(still), reportLate })),
    cache: cacheGuard({ cache, clock, rulesOf: (caller) => policy.of(caller) }),
    goesOn: (work) => writesOn(cache, work),
    guards: options.guards ?? [],
    log: ({ request, id }, message, details) =>
      parts.log({
        level: 'info',
        message: `${request.name} ${id}: ${message}`,
        ...(details === undefined ? {} : { details }),
      }),
  })
  return { executor, lanes, twins }
}

/** INVARIANT honest-effect: one of several tries says nothing of the others, nor of a call that goes on. */
const tellsOfCall = ({ call, scope }: Job): boolean => scope.callOver && call.trail.attempts === 1
