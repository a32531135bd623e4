// `artifacts`, `redaction`, `audit`, `telemetry` and `log`: what is kept of results, what is taken out of them, how calls are
// recorded and watched. What would be set in vain is refused where it is written.

import {
  CHECKPOINT_MS_MAX,
  CHECKPOINT_PLACES_MAX,
  CHECKPOINT_ROWS_MAX,
  isAuditKey,
  KEEP_MS,
  KEPT_BYTES,
  vainArtifacts,
} from '../../gate/observing-options.ts'
import type { ArtifactsOptions, RedactionOptions } from '../../gate-contract.ts'
import { redactionProblems } from '../../observe/redact/create-redactor.ts'
import { keyBelow } from './config-node.ts'
import { nodeAt } from './node-at.ts'
import {
  choice,
  duration,
  flag,
  listOf,
  namedValues,
  type Reading,
  refined,
  refuse,
  type Shape,
  size,
  text,
  whole,
} from './shape.ts'
import { byForm, fields, optional } from './shape-object.ts'
import { located, path } from './source-shape.ts'

const NAMES_MAX = 256

/** A flag that can only say no. */
const off = refined(flag(), (value, reading) =>
  value ? refuse(reading, 'they are kept anyway; `false`, or a map of bounds') : (false as const),
)

const keptSize = size(KEPT_BYTES)

const artifactBounds: Shape<ArtifactsOptions> = refined(
  fields({
    keep: optional(duration(KEEP_MS), 'How long. Default: 1d.'),
    total: optional(keptSize, 'Of all together; the oldest go first. Default: 256MB.'),
    perCaller: optional(keptSize, 'Of one tenant, user and agent. Default: 64MB.'),
    each: optional(keptSize, 'Of a single one; a larger one is not kept, and its notice says so. Default: 32MB.'),
  }),
  ({ keep, total, perCaller, each }, reading) => {
    const options: ArtifactsOptions = {
      ...(keep === undefined ? {} : { keepMs: keep }),
      ...(total === undefined ? {} : { bytesMax: total }),
      ...(perCaller === undefined ? {} : { principalBytesMax: perCaller }),
      ...(each === undefined ? {} : { eachBytesMax: each }),
    }
    const vain = vainArtifacts(options)
    for (const { key, message } of vain) refuseBelow(reading, WRITTEN[key], message)
    return vain.length === 0 ? options : undefined
  },
)

const WRITTEN = { principalBytesMax: 'perCaller', eachBytesMax: 'each' } as const

export const artifacts: Shape<false | ArtifactsOptions> = byForm({ flag: off, map: artifactBounds })

const ruleName = text('the name of a rule: 1 to 40 lower-case letters, digits, `-` and `_`', '[a-z0-9][a-z0-9_-]{0,39}')
const ruleNames = listOf(ruleName, NAMES_MAX)

const writtenRedaction = fields({
  on: optional(
    byForm({ text: choice(['all']), list: ruleNames }),
    'Shipped rules that are on besides the default ones, by name; `all`: every one.',
  ),
  off: optional(ruleNames, 'Shipped rules that are off, by name.'),
  keys: optional(
    listOf(text('the name of a key'), NAMES_MAX),
    'Further keys whose values are secret, each as one word or several joined: `pin_code`.',
  ),
  patterns: optional(
    namedValues(ruleName, text('a pattern'), NAMES_MAX),
    'Rules of your own: a name, and a linear-time regular expression. Its first group, or else the whole, is the secret.',
  ),
})

export const redaction: Shape<RedactionOptions> = refined(writtenRedaction, ({ patterns, ...named }, reading) => {
  const options: RedactionOptions = {
    ...named,
    ...(patterns === undefined ? {} : { patterns: [...patterns].map(([name, pattern]) => ({ name, pattern })) }),
  }
  const problems = redactionProblems(options)
  for (const { key, message } of problems) refuseBelow(reading, key, message)
  return problems.length === 0 ? options : undefined
})

export const audit = fields({
  checkpointEvery: optional(
    located(whole(1, CHECKPOINT_ROWS_MAX)),
    'Records between two signed checkpoints. Default: 1000.',
  ),
  checkpointAfter: optional(
    located(duration({ min: 1, max: CHECKPOINT_MS_MAX })),
    'How long a record may stay without a checkpoint that covers it. Default: 60s.',
  ),
  checkpointTo: optional(
    located(listOf(located(text('`stderr` or the path of a file')), CHECKPOINT_PLACES_MAX)),
    'Where copies of checkpoints go: `stderr`, and files outside of the workspace. Without a copy elsewhere nobody can see that the end of the records is gone.',
  ),
  signingKey: optional(
    path,
    'The file of the Ed25519 key that signs, outside of the workspace; made where it is not there. Default: beside the database.',
  ),
  onFailure: optional(
    located(choice(['refuse', 'reads'])),
    'While records cannot be kept: refuse all calls, or let those go on that only read. Default: `refuse`.',
  ),
  keep: optional(duration(KEEP_MS), 'After so long records are dropped. Default: never.'),
  seal: optional(
    located(flag()),
    'Whether what is personal in records is encrypted with a key of each person, so that it can be erased. Default: true, in a database.',
  ),
  key: optional(
    located(
      refined(text('32 bytes in base64'), (value, reading) =>
        // What was written is a key, and is not repeated.
        isAuditKey(value)
          ? value
          : refuse(reading, 'expected 32 bytes in base64, such as `openssl rand -base64 32` prints'),
      ),
    ),
    '32 bytes in base64 that encrypt those keys in turn. Keep it elsewhere: `${env:NAME}`.',
  ),
})

const LOG_LEVELS = ['error', 'warning', 'info'] as const
const LOG_FORMATS = ['text', 'json'] as const

/** What `serve` writes to stderr. */
export type LogOptions = {
  readonly level?: (typeof LOG_LEVELS)[number]
  readonly format?: (typeof LOG_FORMATS)[number]
}

export const log: Shape<LogOptions> = fields({
  level: optional(choice(LOG_LEVELS), 'The least that is written. Default: `warning`.'),
  format: optional(choice(LOG_FORMATS), '`json`: one object a line. Default: `text`.'),
})

export type WrittenAudit = NonNullable<ReturnType<typeof audit.read>>

/** A problem at one key of the map that is read. */
function refuseBelow(reading: Reading, key: string, message: string): void {
  const { node, way } = nodeAt(reading.node, key)
  reading.report({ at: node.at, key: way.reduce(keyBelow, reading.key), message })
}
