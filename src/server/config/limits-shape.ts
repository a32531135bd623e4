// `limits`: bounds of every call, and of how many there may be.

import { REPEATS } from '../../gate/gate-options-check.ts'
import type { GateOptions } from '../../gate-contract.ts'
import { duration, namedValues, refined, refuse, type Shape, size, text, whole } from './shape.ts'
import { byForm, fields, optional } from './shape-object.ts'

const DAY_MS = 86_400_000
const COUNT_MAX = 1_000_000_000
const CALLS_MAX = 1_000_000

const repeats = refined(
  fields({
    warn: optional(whole(2, COUNT_MAX), 'From so many on, the outcome says so. Default: 5.'),
    refuse: optional(whole(3, COUNT_MAX), 'From so many on, the call is refused. Default: 10.'),
    pace: optional(
      duration({ min: 0, max: DAY_MS }),
      'Calls that come faster, outside a turn, are made by a program and do not count. 0s counts all. Default: 50ms.',
    ),
  }),
  (value, reading) => {
    const { warn = REPEATS.warn, refuse: last = REPEATS.refuse } = value
    return last > warn ? value : refuse(reading, `\`refuse\` (${last}) must be more than \`warn\` (${warn})`)
  },
)

const calls = whole(1, CALLS_MAX)

/** What an empty map would bound is nothing: an error and not an absence. */
const perMinute = byForm({
  number: calls,
  map: refined(
    fields({
      caller: optional(calls, 'Of one tenant, user and agent.'),
      tenant: optional(calls, 'Of everybody of one tenant together.'),
      tools: optional(
        refined(namedValues(text('a tool name or a glob'), calls, 256), (tools) => Object.fromEntries(tools)),
        'Of each tool that fits, whoever calls it: by name or glob. Of several that fit the least holds.',
      ),
    }),
    (value, reading) =>
      Object.keys(value).length === 0
        ? refuse(reading, 'it bounds nothing; name `caller`, `tenant` or `tools`')
        : value,
  ),
})

type Limits = NonNullable<GateOptions['limits']>

export const limits: Shape<Limits> = refined(
  fields({
    result: optional(
      size({ min: 512, max: 64 * 1_048_576 }),
      'Of what a model reads of one result; more is cut, and said. Default: 48KB.',
    ),
    turn: optional(
      size({ min: 512, max: 64 * 1_048_576 }),
      'Of what a model reads of all results of one turn, shared fairly. Default: 120KB.',
    ),
    deadline: optional(duration({ min: 1, max: DAY_MS }), 'From the opening of a call to its end. Default: 60s.'),
    arguments: optional(size({ min: 2, max: 1_048_576 }), 'Of the arguments of one call. Default: 1MB.'),
    repeats: optional(repeats, 'Equal calls of one conversation with equal results, one after the other.'),
    parallel: optional(whole(1, 256), 'Calls of one turn that run at the same time. Default: 8.'),
    perMinute: optional(perMinute, 'Calls a minute: of one caller where it is a number. Default: no bound.'),
  }),
  (written): Limits => ({
    ...(written.result === undefined ? {} : { resultBytes: written.result }),
    ...(written.turn === undefined ? {} : { turnBytes: written.turn }),
    ...(written.deadline === undefined ? {} : { deadlineMs: written.deadline }),
    ...(written.arguments === undefined ? {} : { argumentBytes: written.arguments }),
    ...(written.repeats === undefined ? {} : { repeats: repeatsOf(written.repeats) }),
    ...(written.parallel === undefined ? {} : { parallel: written.parallel }),
    ...(written.perMinute === undefined ? {} : { perMinute: written.perMinute }),
  }),
)

type WrittenRepeats = NonNullable<ReturnType<typeof repeats.read>>

const repeatsOf = ({ pace, ...counts }: WrittenRepeats): NonNullable<Limits['repeats']> =>
  pace === undefined ? counts : { ...counts, paceMs: pace }
