// The bounds that a tool sets itself, and where it wants to run. INVARIANT enforced: a setting that nothing would hold to, in
// the place where this tool runs, is refused when the tool is defined, and never accepted in silence.

import { isAbsolute } from 'node:path'
import { PROCESS_LIMITS, SANDBOX_MODES } from '../machine/abilities.ts'
import { effectMost, isDeclaredEffect } from './effect.ts'
import { PLACES } from './place.ts'

type Given = Readonly<Record<string, unknown>>

const REPEATS: readonly unknown[] = ['safe', 'keyed', 'never']
const LANES: readonly unknown[] = ['touches', 'barrier']
const CONTRACT_PLACES: readonly unknown[] = PLACES.filter((place) => place !== 'sandbox')
const DAY_MS = 86_400_000
const RETRIES_MAX = 10
const BACKOFF_MS_MAX = 60_000
const BYTES_MAX = Number.MAX_SAFE_INTEGER

/** What holds each limit: the gate itself, whatever holds a process, or the heap of a worker. */
const GATE_LIMITS = ['argumentBytes', 'resultBytes']
const CHILD_LIMITS: readonly string[] = [...PROCESS_LIMITS, 'outputBytes']

export function boundProblems(given: Given): readonly string[] {
  return [
    ...choiceProblems(given),
    ...placeProblems(given),
    ...timeProblems(given),
    ...retryProblems(given),
    ...cacheProblems(given),
    ...limitProblems(given),
  ]
}

function choiceProblems({ repeat, lane, walks, touches }: Given): readonly string[] {
  return [
    ...(walks === undefined || typeof walks === 'boolean' ? [] : ['`walks` must be true or false']),
    ...(repeat === undefined || REPEATS.includes(repeat) ? [] : ['`repeat` must be safe, keyed or never']),
    ...(lane === undefined || LANES.includes(lane) ? [] : ['`lane` must be touches or barrier']),
    ...(lane === 'touches' && touches === undefined
      ? ['`lane: touches` needs `touches`: without it every call of the tool runs alone']
      : []),
  ]
}

function placeProblems({ place = 'process', sandbox, run }: Given): readonly string[] {
  const problems: string[] = []
  if (!CONTRACT_PLACES.includes(place)) problems.push('`place` must be process, worker, child or upstream')
  if (sandbox !== undefined && !SANDBOX_MODES.some((mode) => mode === sandbox))
    problems.push('`sandbox` must be required, preferred or off')
  else if (sandbox !== undefined && place !== 'child')
    problems.push('`sandbox` is only for `place: child`: nothing else is put into one')
  if (place === 'worker') problems.push(...workerProblems(run))
  else if (run !== undefined && typeof run !== 'function')
    problems.push('`run` must be a function; a module and its export are for `place: worker`')
  return problems
}

function workerProblems(run: unknown): readonly string[] {
  const expected =
    '`run` of a tool in a worker must be { module, export }: an absolute path or `file:` address, and a name'
  if (typeof run !== 'object' || run === null) return [expected]
  const { module, export: name, ...others }: { module?: unknown; export?: unknown } = run
  const isModule = typeof module === 'string' && (isAbsolute(module) || module.startsWith('file:'))
  return isModule && typeof name === 'string' && name !== '' && Object.keys(others).length === 0 ? [] : [expected]
}

function timeProblems({ deadlineMs, attemptMs, idleMs }: Given): readonly string[] {
  const problems = Object.entries({ deadlineMs, attemptMs, idleMs })
    .filter(([, value]) => value !== undefined && !isWhole(value, 1, DAY_MS))
    .map(([key]) => `\`${key}\` must be a whole number of milliseconds from 1 to ${DAY_MS}`)
  if (problems.length > 0 || typeof deadlineMs !== 'number') return problems
  return Object.entries({ attemptMs, idleMs })
    .filter(([, value]) => typeof value === 'number' && value >= deadlineMs)
    .map(([key]) => `\`${key}\` must be less than \`deadlineMs\`: it would never come first`)
}

function retryProblems({ retry, repeat }: Given): readonly string[] {
  if (retry === undefined) return []
  const expected = `\`retry\` must be { times, backoffMs? }: 1 to ${RETRIES_MAX}, and milliseconds from 1 to ${BACKOFF_MS_MAX}`
  if (typeof retry !== 'object' || retry === null) return [expected]
  const { times, backoffMs, ...others }: { times?: unknown; backoffMs?: unknown } = retry
  const holds = isWhole(times, 1, RETRIES_MAX) && (backoffMs === undefined || isWhole(backoffMs, 1, BACKOFF_MS_MAX))
  if (!holds || Object.keys(others).length > 0) return [expected]
  return repeat === 'never' ? ['`retry` of a tool whose `repeat` is never: it must not be run again'] : []
}

function cacheProblems({ cache, effect, walks }: Given): readonly string[] {
  if (cache === undefined) return []
  const expected = '`cache` must be { forMs, shared?, validator? }'
  if (typeof cache !== 'object' || cache === null) return [expected]
  const { forMs, shared, validator, ...others }: { forMs?: unknown; shared?: unknown; validator?: unknown } = cache
  const problems: string[] = []
  if (!isWhole(forMs, 1, DAY_MS))
    problems.push(`\`cache.forMs\` must be a whole number of milliseconds from 1 to ${DAY_MS}`)
  if (shared !== undefined && typeof shared !== 'boolean') problems.push('`cache.shared` must be true or false')
  if (validator !== undefined && typeof validator !== 'function') problems.push('`cache.validator` must be a function')
  if (Object.keys(others).length > 0) problems.push(expected)
  if (!mayRead(effect)) problems.push('`cache` is only for tools that read: no other answer is ever kept')
  if (shared === true && walks === true)
    problems.push('`cache.shared` is not for a tool that walks: what it shows depends on what its caller may see')
  return problems
}

/** Some calls of it read: those are what is kept. */
function mayRead(effect: unknown): boolean {
  if (isDeclaredEffect(effect)) return effect === 'read'
  return (
    typeof effect === 'object' && effect !== null && 'most' in effect && isDeclaredEffect(effectMost(effect as never))
  )
}

function limitProblems({ limits, place = 'process' }: Given): readonly string[] {
  if (limits === undefined) return []
  if (typeof limits !== 'object' || limits === null) return ['`limits` must be an object']
  return Object.entries(limits).flatMap(([key, value]) => {
    if (!GATE_LIMITS.includes(key) && !CHILD_LIMITS.includes(key))
      return [`\`limits.${key}\` is unknown; known: ${[...GATE_LIMITS, ...CHILD_LIMITS].join(', ')}`]
    if (!isEnforced(key, place)) return [`\`limits.${key}\` is not enforced for \`place: ${String(place)}\``]
    return isWhole(value, 1, BYTES_MAX) ? [] : [`\`limits.${key}\` must be a whole number, at least 1`]
  })
}

const isEnforced = (key: string, place: unknown): boolean =>
  GATE_LIMITS.includes(key) || place === 'child' || (place === 'worker' && key === 'memoryBytes')

const isWhole = (value: unknown, least: number, most: number): boolean =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
