// The one place where it is decided what a secret is: values that are known, well-known forms, what stands under a name that says
// so, rules of the operator. It refuses to find what is compressed, encrypted or spelt out, and never gives back what it took.

import type { Redacted, RedactedStream, Redactor } from '../../describe/redactor.ts'
import { ExactValues, type SecretValue } from './exact-values.ts'
import { KeyedSecrets } from './find-keyed.ts'
import { shapeCandidates } from './find-shapes.ts'
import { type Finding, ordered, withoutFindings } from './finding.ts'
import { type OwnPattern, OwnPatterns, patternProblem } from './own-patterns.ts'
import { type Candidate, PairScanner } from './pair-scanner.ts'
import { redactJson } from './redact-json.ts'
import { HeldBackStream } from './redacted-stream.ts'
import { SecretKeys } from './secret-keys.ts'
import { SHAPE_NAMES, SHAPE_RULES } from './secret-shapes.ts'

export type RedactorOptions = {
  /** Shipped rules by name that are on besides the default ones. */
  readonly on?: readonly string[] | 'all'
  readonly off?: readonly string[]
  /** Further names of secrets. */
  readonly keys?: readonly string[]
  readonly patterns?: readonly OwnPattern[]
  /** Values that were handed out: asked for with each text, so that they may change; equal lists are read once. */
  readonly values?: () => readonly SecretValue[]
}

export type RedactionProblem = { readonly key: 'on' | 'off' | 'keys' | 'patterns'; readonly message: string }

/** What of the options cannot be kept. */
export function redactionProblems(options: Omit<RedactorOptions, 'values'>): readonly RedactionProblem[] {
  const { on = [], off = [], keys = [], patterns = [] } = options
  const unknown = (key: 'on' | 'off', names: readonly string[]): readonly RedactionProblem[] =>
    names
      .filter((name) => !SHAPE_NAMES.includes(name))
      .map((name) => ({ key, message: `there is no rule \`${name}\`; there are ${SHAPE_NAMES.join(', ')}` }))
  return [
    ...unknown('on', on === 'all' ? [] : on),
    ...unknown('off', off),
    ...keys
      .filter((key) => !/[A-Za-z0-9]{3}/.test(key) || key.length > 96)
      .map((key) => ({ key: 'keys' as const, message: `\`${key.slice(0, 100)}\` is no name of 3 to 96 characters` })),
    ...patterns.flatMap(({ name, pattern }): readonly RedactionProblem[] => {
      const named = /^[a-z0-9][a-z0-9_-]{0,39}$/.test(name)
        ? undefined
        : 'is no name of a rule: up to 40 of a-z, 0-9, _ and -'
      const problem = named ?? patternProblem(pattern)
      return problem === undefined ? [] : [{ key: 'patterns', message: `\`${name}\`: ${problem}` }]
    }),
  ]
}

/** Throws RangeError where `redactionProblems` has something to say. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  const [problem] = redactionProblems(options)
  if (problem !== undefined) throw new RangeError(`${problem.key}: ${problem.message}`)
  return new WiredRedactor(options)
}

const NOTHING: readonly string[] = Object.freeze([])
/** Shorter texts cannot hold a secret that is told by itself. */
const TEXT_MIN = 8

class WiredRedactor implements Redactor {
  readonly #keys: SecretKeys
  readonly #keyed: KeyedSecrets
  readonly #shapes: readonly Candidate[]
  #scanner: PairScanner
  readonly #own: OwnPatterns
  readonly #values: () => readonly SecretValue[]
  #known: readonly SecretValue[] = []
  #exact = new ExactValues([])

  constructor({ on = [], off = [], keys = [], patterns = [], values = () => [] }: RedactorOptions) {
    const isOn = ({ name, isOn }: { name: string; isOn: boolean }): boolean =>
      !off.includes(name) && (isOn || on === 'all' || on.includes(name))
    this.#keys = new SecretKeys(keys)
    this.#keyed = new KeyedSecrets(this.#keys)
    this.#shapes = shapeCandidates(SHAPE_RULES.filter(isOn))
    this.#scanner = new PairScanner(this.#shapes, this.#keyed)
    this.#own = new OwnPatterns(patterns)
    this.#values = values
  }

  text(text: string): Redacted<string> {
    const findings = this.#find(text)
    if (findings.length === 0) return { value: text, names: NOTHING }
    return { value: withoutFindings(text, findings), names: [...new Set(findings.map(({ name }) => name))] }
  }

  json<Value>(value: Value): Redacted<Value> {
    const names = new Set<string>()
    const made = redactJson(value, { keys: this.#keys, text: (text, into) => this.#cleaned(text, into) }, names)
    // The shape is kept: texts stay texts, and objects objects.
    return names.size === 0 ? { value, names: NOTHING } : { value: made as Value, names: [...names] }
  }

  jsonText(text: string): Redacted<string> {
    if (!this.#mayHold(text)) return { value: text, names: NOTHING }
    let parsed: unknown
    try {
      parsed = JSON.parse(text)
    } catch {
      return this.text(text)
    }
    const { value, names } = this.json(parsed)
    return names.length === 0 ? { value: text, names } : { value: JSON.stringify(value), names }
  }

  stream(): RedactedStream {
    const { spanMax, isEmpty } = this.#exactNow()
    return new HeldBackStream({ find: (text) => this.#find(text), spanMax, holdsEncoded: !isEmpty })
  }

  #cleaned(text: string, names: Set<string>): string {
    const findings = this.#find(text)
    if (findings.length === 0) return text
    for (const { name } of findings) names.add(name)
    return withoutFindings(text, findings)
  }

  #find(text: string): readonly Finding[] {
    if (text.length < TEXT_MIN) return []
    const findings: Finding[] = []
    const exact = this.#exactNow()
    const keyed: Finding[] = []
    this.#scanner.find(text, findings, keyed)
    exact.findBroken(text, findings)
    // Of two names for one secret the more exact one stands.
    if (keyed.length > 0) findings.push(...keyed)
    if (!this.#own.isEmpty) this.#own.find(text, findings)
    return ordered(findings)
  }

  /** Whether reading a JSON text is worth it. */
  #mayHold(text: string): boolean {
    if (text.length < TEXT_MIN) return false
    return !this.#own.isEmpty || this.#keyed.mayHold(text) || this.#find(text).length > 0
  }

  #exactNow(): ExactValues {
    const values = this.#values()
    if (values === this.#known) return this.#exact
    const isEqual = values.length === this.#known.length && values.every((one, at) => sameValue(one, this.#known[at]))
    if (!isEqual) {
      this.#exact = new ExactValues(values.map(({ name, value }) => ({ name: markerName(name), value })))
      this.#scanner = new PairScanner([...this.#exact.candidates, ...this.#shapes], this.#keyed)
    }
    this.#known = values
    return this.#exact
  }
}

const sameValue = (one: SecretValue, other: SecretValue | undefined): boolean =>
  one.name === other?.name && one.value === other.value

/** `X-Api-Key` as `x-api-key`. */
const markerName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .slice(0, 40) || 'secret'
