// What the guards of a host must be, judged before anything starts: known, bounded, and in an order that means what it
// says. The list is read outermost first, so that whoever writes `attempt` around `retry` hears of it: that would be `tries`.

import type { Entry } from '../describe/entry.ts'
import type { ConfigProblem } from '../describe/gate-config-error.ts'
import type { GuardOptions } from './guard-options.ts'
import { type GuardSlot, slotRank } from './guard-slots.ts'
import { readSubject } from './guard-subject.ts'

const DAY_MS = 86_400_000
const NAME = /^[A-Za-z0-9_-]{1,64}$/

/** Keys of each kind of guard besides `guard` and `for`; numbers as [least, most]. */
const NUMBERS: Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>> = {
  breaker: { failures: [1, 1_000], coolMs: [1, DAY_MS] },
  retry: { times: [1, 10], backoffMs: [1, 60_000] },
  attempt: { ms: [1, DAY_MS] },
  tries: { ms: [1, DAY_MS] },
  own: {},
}
const NEEDED: Readonly<Record<string, readonly string[]>> = { retry: ['times'], attempt: ['ms'], tries: ['ms'] }

/** Where a guard of these options stands. */
export const slotOf = (options: GuardOptions): GuardSlot =>
  options.guard === 'own' ? `own at ${options.at}` : options.guard

/** Every way in which `guards` does not hold, whatever tools there are. `deadlineMs`: of the gate. */
export function guardProblems(guards: unknown, deadlineMs: number): readonly ConfigProblem[] {
  if (!Array.isArray(guards)) return [{ key: 'guards', message: 'expected a list of guards' }]
  // A list may have holes, over which `flatMap` would go without a word.
  const problems = [...guards].flatMap((guard: unknown, index) =>
    oneProblems(guard, deadlineMs).map((message): ConfigProblem => ({ key: `guards[${index}]`, message })),
  )
  return problems.length > 0 ? problems : orderProblems(guards as readonly GuardOptions[])
}

function oneProblems(guard: unknown, deadlineMs: number): readonly string[] {
  if (typeof guard !== 'object' || guard === null) return ['expected an object with `guard` and `for`']
  const given = guard as Readonly<Record<string, unknown>>
  const kind = typeof given.guard === 'string' && Object.hasOwn(NUMBERS, given.guard) ? given.guard : undefined
  if (kind === undefined) return [`\`guard\` must be one of ${Object.keys(NUMBERS).join(', ')}`]
  const numbers = NUMBERS[kind] ?? {}
  const known = ['guard', 'for', ...Object.keys(numbers), ...(kind === 'own' ? ['name', 'bounds', 'at', 'run'] : [])]
  const subject = readSubject(given.for)
  return [
    ...Object.keys(given)
      .filter((key) => !known.includes(key))
      .map((key) => `unknown key \`${key}\`; known: ${known.join(', ')}`),
    ...(subject.kind === 'bad' ? [subject.reason] : []),
    ...(NEEDED[kind] ?? []).filter((key) => given[key] === undefined).map((key) => `\`${key}\` is missing`),
    ...Object.entries(numbers).flatMap(([key, [least, most]]) => numberProblem(key, given[key], least, most)),
    ...(kind === 'own' ? ownProblems(given) : []),
    ...timeProblems(kind, given.ms, deadlineMs),
  ]
}

function numberProblem(key: string, value: unknown, least: number, most: number): readonly string[] {
  if (value === undefined) return []
  const holds = typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
  return holds ? [] : [`\`${key}\` must be a whole number from ${least} to ${most}`]
}

/** INVARIANT enforced: a bound that could never be reached before the deadline of the call bounds nothing. */
function timeProblems(kind: string, ms: unknown, deadlineMs: number): readonly string[] {
  if (typeof ms !== 'number' || ms < deadlineMs) return []
  return [`\`${kind}\` of ${ms} ms never comes before the deadline of the call, ${deadlineMs} ms`]
}

function ownProblems({ name, bounds, at, run }: Readonly<Record<string, unknown>>): readonly string[] {
  return [
    ...(typeof name === 'string' && NAME.test(name) ? [] : ['`name` must match [A-Za-z0-9_-]{1,64}']),
    ...(typeof bounds === 'string' && bounds.trim() !== '' ? [] : ['`bounds` must say in one sentence what it bounds']),
    ...(at === 'call' || at === 'try' ? [] : ['`at` must be call or try']),
    ...(typeof run === 'function' ? [] : ['`run` must be a function']),
  ]
}

/** Two guards for the same tools that are written in an order in which they cannot stand. */
function orderProblems(guards: readonly GuardOptions[]): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = []
  for (const [index, guard] of guards.entries()) {
    for (const outer of guards.slice(0, index)) {
      if (JSON.stringify(outer.for) !== JSON.stringify(guard.for)) continue
      const [outerSlot, slot] = [slotOf(outer), slotOf(guard)]
      const key = `guards[${index}]`
      if (slotRank(outerSlot) > slotRank(slot)) problems.push({ key, message: misplaced(slot, outerSlot) })
      else if (outerSlot === slot && guard.guard !== 'own')
        problems.push({ key, message: `there are two \`${slot}\` guards for the same tools` })
    }
  }
  return problems
}

function misplaced(slot: GuardSlot, outer: GuardSlot): string {
  const hint =
    slot === 'retry' && outer === 'attempt'
      ? ': a deadline around all tries is `tries`'
      : slot === 'tries' && outer === 'retry'
        ? ': a deadline of each try is `attempt`'
        : ''
  return `the list is read outermost first, and \`${slot}\` must stand outside \`${outer}\`${hint}`
}

/** What of the guards does not fit tools that are known now. */
export function guardMisfits(
  guards: readonly GuardOptions[],
  entries: readonly Entry[],
  deadlineMs: number,
): readonly ConfigProblem[] {
  return guards.flatMap((guard, index) => {
    const subject = readSubject(guard.for)
    if (subject.kind === 'bad') return []
    const key = `guards[${index}]`
    return entries.filter(subject.concerns).flatMap(({ tool }): ConfigProblem[] => {
      if (guard.guard === 'retry' && tool.repeat === 'never')
        return [{ key, message: `\`retry\` of \`${tool.name}\`, which must never be repeated` }]
      const endsMs = Math.min(tool.deadlineMs ?? deadlineMs, deadlineMs)
      if ((guard.guard === 'attempt' || guard.guard === 'tries') && guard.ms >= endsMs)
        return [
          {
            key,
            message: `\`${guard.guard}\` of ${guard.ms} ms never comes before the deadline of \`${tool.name}\`, ${endsMs} ms`,
          },
        ]
      return []
    })
  })
}

/** What an operator should see of guards while tools come and go: whom they do not hold for, and that they hold for nobody. */
export function guardWarnings(
  guards: readonly GuardOptions[],
  entries: readonly Entry[],
  deadlineMs: number,
): readonly string[] {
  const misfits = guardMisfits(guards, entries, deadlineMs).map(
    ({ key, message }) => `${key}: ${message}: it has no effect`,
  )
  const idle = guards.flatMap((guard, index) => {
    const subject = readSubject(guard.for)
    return subject.kind === 'ok' && !entries.some(subject.concerns) ? [`guards[${index}]: no known tool matches`] : []
  })
  return [...misfits, ...idle]
}
