// Calls, tools and jobs for tests of the cache guard, without a gate around them.

import type { Call, CheckedInput, Ending } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import { readTouches, TOUCHES_UNKNOWN } from '../describe/resource.ts'
import type { Tool } from '../describe/tool.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { cacheGuard } from './cache-guard.ts'
import type { Job } from './guard.ts'
import { ResultCache } from './result-cache.ts'

export const ANA: Caller = { tenant: 't', user: 'ana', agent: 'a', roles: ['dev'], session: 's1' }

export type Asked = {
  readonly tool?: Partial<Tool>
  readonly caller?: Caller
  readonly args?: Readonly<Record<string, string>>
  readonly effect?: DeclaredEffect
  /** Undefined: the tool does not say. */
  readonly touches?: readonly string[] | undefined
  readonly binds?: CheckedInput['binds']
  readonly decision?: Decision['kind']
  readonly policyVersion?: string
  readonly fingerprint?: string
  readonly entry?: Entry
  /** The call is one that a tool makes. */
  readonly nested?: boolean
}

export const cachedTool = (more: Partial<Tool> = {}): Tool =>
  ({ name: 'look', effect: 'read', cache: { forMs: 1_000 }, ...more }) as Tool

export const entryOf = (tool: Tool, fingerprint = 'f'): Entry =>
  ({ tool, fingerprint, source: 'host', checkOutput: undefined }) as unknown as Entry

export const value = (given: unknown): Ending => ({ kind: 'value', value: given })

export const failure = (type: string, effect: 'none' | 'done' | 'unknown'): Ending =>
  ({ kind: 'failure', error: { type, message: 'm', retry: { advice: 'never' }, effect, fatal: false } }) as Ending

/** A guard over an empty cache. `make` sends one call through it; `run` stands for the tool and everything around it. */
export function openCache() {
  const clock = new FakeClock()
  const cache = new ResultCache(clock)
  let rules = { version: 'p1' }
  const guard = cacheGuard({ cache, clock, rulesOf: () => rules })
  let calls = 0
  const make = (asked: Asked, run: (job: Job) => Ending | Promise<Ending>) => {
    calls += 1
    const controller = new AbortController()
    const {
      caller = ANA,
      args = {},
      effect = 'read',
      touches,
      decision = 'allow',
      policyVersion = rules.version,
    } = asked
    const entry = asked.entry ?? entryOf(cachedTool(asked.tool), asked.fingerprint)
    const input: CheckedInput = {
      kind: 'ok',
      args,
      text: JSON.stringify(args),
      effect,
      touches: touches === undefined ? TOUCHES_UNKNOWN : readTouches(touches),
      ...(asked.binds === undefined ? {} : { binds: asked.binds }),
    }
    const call = {
      id: `call_${calls}`,
      caller,
      request: asked.nested === true ? { parent: {} } : {},
      trail: { attempts: 0, decision: { kind: decision, by: 'rule', reason: 'r', policyVersion } },
    } as unknown as Call
    const job = { call, entry, input, scope: { signal: controller.signal }, deadlineAtMs: 1_000 } as unknown as Job
    const ending = guard.run(job, async (inner) => {
      call.trail.attempts += 1
      return run(inner)
    })
    return { call, ending, abort: () => controller.abort(), cachedFrom: () => call.trail.cachedFrom }
  }
  const reload = (version: string): void => {
    rules = { version }
  }
  return { clock, cache, guard, make, reload }
}
