// What may stand in the options that say how results are kept, cleaned and recorded, and which of them hold only together: a
// setting that nothing would keep is refused. Files, keys and patterns are judged where they are opened and compiled.

import type { ConfigProblem } from '../describe/gate-config-error.ts'
import { redactionProblems } from '../observe/redact/create-redactor.ts'
import type { RedactionOptions } from './gate-options.ts'
import { hasOnly, isFunction, isObject, isPath, listOf, oneOf, type Rule, wholeFrom } from './option-rules.ts'

const DAY_MS = 86_400_000
const KIB = 1_024
const GIB = 1_024 ** 3
/** Of what is kept: a hundred years are as good as for ever. */
export const KEEP_MS = { min: 1_000, max: 36_500 * DAY_MS } as const
export const CHECKPOINT_ROWS_MAX = 1_000_000
export const CHECKPOINT_MS_MAX = DAY_MS
export const CHECKPOINT_PLACES_MAX = 16
/** Of bounds on kept results. */
export const KEPT_BYTES = { min: KIB, max: 1_024 * GIB } as const
const NAMES_MAX = 256
const AUDIT_KEY_BYTES = 32

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

/** Base64 of 32 bytes, in either alphabet. */
export const isAuditKey = (text: string): boolean =>
  /^[A-Za-z0-9+/_-]{43}=?$/.test(text) && Buffer.from(text, 'base64').length === AUDIT_KEY_BYTES

const keptBytes = wholeFrom(KEPT_BYTES.min, KEPT_BYTES.max)

/** The members of each of these options. */
export const OBSERVING: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  artifacts: {
    keepMs: wholeFrom(KEEP_MS.min, KEEP_MS.max),
    bytesMax: keptBytes,
    principalBytesMax: keptBytes,
    eachBytesMax: keptBytes,
  },
  redaction: {
    on: {
      expected: '`all`, or a list of names of rules',
      holds: (value) => value === 'all' || (Array.isArray(value) && value.length <= NAMES_MAX && value.every(isText)),
    },
    off: listOf('names of rules', isText, NAMES_MAX),
    keys: listOf('names of keys', isText, NAMES_MAX),
    patterns: listOf(
      '`{ name, pattern }`',
      (value) => isObject(value) && Object.keys(value).length === 2 && isText(value.name) && isText(value.pattern),
      NAMES_MAX,
    ),
  },
  audit: {
    checkpointEvery: wholeFrom(1, CHECKPOINT_ROWS_MAX),
    checkpointMs: wholeFrom(1, CHECKPOINT_MS_MAX),
    checkpointTo: listOf(
      '`stderr`, `{ file }` or functions',
      (place) => place === 'stderr' || isFunction(place) || hasOnly(place, 'file', isPath),
      CHECKPOINT_PLACES_MAX,
    ),
    signingKey: {
      expected: '`{ file }` or `{ pem }`',
      holds: (value) => hasOnly(value, 'file', isPath) || hasOnly(value, 'pem', isText),
      secret: true,
    },
    onFailure: oneOf('refuse', 'reads'),
    keepMs: wholeFrom(KEEP_MS.min, KEEP_MS.max),
    seal: oneOf(true, false),
    key: {
      expected: '32 bytes in base64',
      holds: (value) => typeof value === 'string' && isAuditKey(value),
      secret: true,
    },
  },
}

/** What is known of the records when the options are judged: `own` is a store that the host has made. */
export type RecordPlace = 'memory' | 'database' | 'own'

type AuditKeys = {
  readonly [Key in 'checkpointEvery' | 'checkpointMs' | 'checkpointTo' | 'signingKey' | 'seal' | 'key']?: unknown
}

type VainAudit = { readonly key: Exclude<keyof AuditKeys, 'signingKey'>; readonly message: string }

/** Settings of `audit` that nothing would keep, each with its key below `audit`. */
export function vainAudit(audit: AuditKeys, place: RecordPlace): readonly VainAudit[] {
  const problems: VainAudit[] = []
  const given = (key: keyof AuditKeys): boolean => audit[key] !== undefined
  if (place !== 'database') {
    const why = place === 'memory' ? 'records in memory are not sealed' : 'a store of your own seals by itself'
    if (audit.seal === true) problems.push({ key: 'seal', message: `${why}; keep records in SQLite` })
    if (given('key')) problems.push({ key: 'key', message: `${why}: there is no key to encrypt` })
  } else if (audit.seal === false && given('key'))
    problems.push({ key: 'key', message: 'it encrypts the keys of sealed records, and `seal` is `false`' })
  if (place !== 'database' && !given('signingKey'))
    for (const key of ['checkpointEvery', 'checkpointMs', 'checkpointTo'] as const)
      if (given(key))
        problems.push({
          key,
          message: 'nothing is signed without a key: records that are no file of ours need `signingKey`',
        })
  return problems
}

/** Options of `createGate` that hold only together. */
export function observingProblems(options: Readonly<Record<string, unknown>>): readonly ConfigProblem[] {
  const { audit, artifacts, redaction, store } = options
  return [
    ...(isObject(audit) ? vainAudit(audit, placeOf(store)).map((one) => ({ ...one, key: `audit.${one.key}` })) : []),
    ...(isObject(artifacts) ? vainArtifacts(artifacts).map((one) => ({ ...one, key: `artifacts.${one.key}` })) : []),
    // Their forms have been checked by `OBSERVING`.
    ...(isObject(redaction)
      ? redactionProblems(redaction as RedactionOptions).map((one) => ({ ...one, key: `redaction.${one.key}` }))
      : []),
  ]
}

const placeOf = (store: unknown): RecordPlace => {
  if (store === undefined || store === 'memory') return 'memory'
  return hasOnly(store, 'sqlite', isPath) ? 'database' : 'own'
}

const MIB = KIB * KIB
/** How long, and how much, is kept of cut results where nothing is said. */
export const ARTIFACTS = {
  ...{ keepMs: DAY_MS, bytesMax: 256 * MIB, principalBytesMax: 64 * MIB, eachBytesMax: 32 * MIB },
} as const

/** A bound that another one never lets come true. Bounds that are not given follow the given ones. */
export function vainArtifacts(
  bounds: {
    readonly [Key in 'bytesMax' | 'principalBytesMax' | 'eachBytesMax']?: unknown
  },
): readonly { key: 'principalBytesMax' | 'eachBytesMax'; message: string }[] {
  const { principalBytesMax, eachBytesMax } = bounds
  const all = numberOr(bounds.bytesMax, ARTIFACTS.bytesMax)
  const own = Math.min(numberOr(principalBytesMax, ARTIFACTS.principalBytesMax), all)
  return [
    ...(typeof principalBytesMax === 'number' && principalBytesMax > all
      ? [
          {
            key: 'principalBytesMax' as const,
            message: `one caller may keep ${principalBytesMax} bytes, all together ${all}`,
          },
        ]
      : []),
    ...(typeof eachBytesMax === 'number' && eachBytesMax > own
      ? [
          {
            key: 'eachBytesMax' as const,
            message: `one result may have ${eachBytesMax} bytes, and its caller may keep ${own}`,
          },
        ]
      : []),
  ]
}

const numberOr = (value: unknown, fallback: number): number => (typeof value === 'number' ? value : fallback)
