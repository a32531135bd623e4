// One executor on a fake clock, with one tool and one call of it, for the tests of the guards.

import type { Call, CheckedInput, Ending } from '../describe/call.ts'
import type { Decision } from '../describe/decision.ts'
import { defineTool } from '../describe/define-tool.ts'
import type { Entry } from '../describe/entry.ts'
import { NO_REDACTION } from '../describe/redactor.ts'
import { compileCheck } from '../describe/schema/compile-check.ts'
import type { Tool, ToolDefinition } from '../describe/tool.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { Executor, type ExecutorParts } from './executor.ts'

type Definition = ToolDefinition<{ type: 'object' }, { type: 'object' } | undefined, unknown>

export type SetUpOptions = {
  readonly tool?: Partial<Definition>
  readonly effect?: CheckedInput['effect']
  readonly output?: object
  readonly signal?: AbortSignal
  readonly source?: string
  readonly decision?: Decision
  readonly binds?: CheckedInput['binds']
  /** What has come to be denied since the call was allowed. */
  readonly denial?: () => Decision | undefined
  readonly executor?: Partial<ExecutorParts>
}

export type SetUp = ReturnType<typeof setUp>

export function setUp(run: Definition['run'], options: SetUpOptions = {}) {
  const { denial = () => undefined, effect = 'write', output, signal, decision, binds } = options
  const clock = new FakeClock()
  const late: Ending[] = []
  const crashes: unknown[] = []
  const executor = new Executor({
    clock,
    deadlineMs: 1_000,
    denies: () => denial(),
    isCurrent: () => true,
    mayTouch: () => true,
    machine: () => Promise.reject(new Error('nobody asks for it here')),
    callNested: () => Promise.reject(new Error('nobody makes calls here')),
    progress: (of, progress) => of.request.onProgress?.(progress),
    reportLate: (_job, ending) => void late.push(ending),
    reportCrash: (_job, error) => {
      crashes.push(error)
      return 'stack'
    },
    log: () => {},
    redactor: NO_REDACTION,
    random: () => 1,
    ...options.executor,
  })
  const tool = defineTool({
    name: 'probe',
    version: '1.0.0',
    description: 'A tool for tests.',
    input: { type: 'object' },
    effect,
    run,
    ...options.tool,
  } as never) as Tool
  const checkOutput = output === undefined ? undefined : compileCheck(output as { type: 'object' }, { trusted: true })
  if (checkOutput?.kind === 'bad') throw new Error(checkOutput.reason)
  const entry = {
    tool,
    source: options.source ?? 'host',
    layer: 'user',
    state: { kind: 'active' },
    fingerprint: 'f',
    listing: undefined,
    checkInput: undefined,
    checkOutput,
  } as Entry
  const input: CheckedInput = {
    ...{ kind: 'ok', args: Object.freeze({}), text: '{}', effect, touches: { kind: 'unknown' } },
    ...(binds === undefined ? {} : { binds }),
  }
  let count = 0
  const newCall = (): Call => ({
    id: `call_${++count}`,
    runId: 'run_1',
    request: {
      caller: undefined as never,
      entrance: 'library',
      name: 'probe',
      arguments: {},
      ...(signal === undefined ? {} : { signal }),
    },
    caller: { tenant: 't', user: 'u', agent: 'a', roles: [], session: 's' },
    openedAtMs: clock.now(),
    openedMonotonicMs: clock.monotonic(),
    trail: { attempts: 0, marks: {}, ...(decision === undefined ? {} : { decision }) },
  })
  const call = newCall()
  return {
    ...{ clock, late, crashes, call, entry, input, executor, newCall },
    start: (of: Call = call) => executor.run(of, entry, input),
  }
}

export const errorOf = (ending: Ending) => (ending.kind === 'failure' ? ending.error : undefined)
