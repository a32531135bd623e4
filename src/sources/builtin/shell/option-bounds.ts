// Checks single values of what an operator writes about commands. Each answers with its problem, named by key.

import type { ConfigProblem } from '../../../describe/gate-config-error.ts'
import { PROCESS_LIMITS, SANDBOX_MODES } from '../../../machine/abilities.ts'

export const DAY_MS = 86_400_000

export class OptionBounds {
  readonly problems: ConfigProblem[] = []
  readonly #key: string

  /** @param key The way to the object whose values are read. */
  constructor(key: string) {
    this.#key = key
  }

  problem(key: string, message: string): void {
    this.problems.push({ key: key === '' ? this.#key : `${this.#key}.${key}`, message })
  }

  /** The members of an object with no other names than these. Undefined where it is none. */
  members(value: unknown, key: string, known: readonly string[]): Readonly<Record<string, unknown>> | undefined {
    if (!isRecord(value)) {
      this.problem(key, 'expected an object')
      return undefined
    }
    for (const name of Object.keys(value))
      if (!known.includes(name))
        this.problem(key === '' ? name : `${key}.${name}`, `unknown key; known: ${known.join(', ')}`)
    return value
  }

  count(value: unknown, key: string, { least, most, otherwise }: Range): number {
    if (value === undefined) return otherwise
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most) return value
    this.problem(key, `expected a whole number from ${least} to ${most}`)
    return otherwise
  }

  flag(value: unknown, key: string, otherwise: boolean): boolean {
    if (value === undefined || typeof value === 'boolean') return value ?? otherwise
    this.problem(key, 'expected true or false')
    return otherwise
  }

  oneOf<Known extends string>(value: unknown, key: string, known: readonly Known[], otherwise: Known): Known {
    if (value === undefined) return otherwise
    const found = known.find((one) => one === value)
    if (found === undefined) this.problem(key, `expected one of ${known.join(', ')}`)
    return found ?? otherwise
  }

  texts(value: unknown, key: string): readonly string[] {
    if (value === undefined) return []
    if (Array.isArray(value) && value.every(isPlain)) return value
    this.problem(key, 'expected a list of texts')
    return []
  }

  sandbox(value: unknown, otherwise: (typeof SANDBOX_MODES)[number]): (typeof SANDBOX_MODES)[number] {
    return this.oneOf(value, 'sandbox', SANDBOX_MODES, otherwise)
  }

  /** Bounds of processes, with the defaults for what is not given. */
  limits(value: unknown, defaults: KeptLimits): KeptLimits {
    const given = value === undefined ? {} : (this.members(value, 'limits', [...PROCESS_LIMITS, 'outputBytes']) ?? {})
    const limits = { ...defaults }
    for (const [name, range] of Object.entries(RANGES))
      if (isLimit(name) && given[name] !== undefined)
        limits[name] = this.count(given[name], `limits.${name}`, { ...range, otherwise: defaults[name] })
    return limits
  }

  /** Those of the limits that were given. */
  asked(value: unknown, limits: KeptLimits): Partial<KeptLimits> {
    const asked: Partial<KeptLimits> = {}
    for (const name of Object.keys(isRecord(value) ? value : {})) if (isLimit(name)) asked[name] = limits[name]
    return asked
  }
}

type Range = { readonly least: number; readonly most: number; readonly otherwise: number }
type LimitName = (typeof PROCESS_LIMITS)[number] | 'outputBytes'
/** Every bound of a command, in bytes, milliseconds and numbers. */
export type KeptLimits = Record<LimitName, number>

const RANGES: Readonly<Record<LimitName, Omit<Range, 'otherwise'>>> = {
  outputBytes: { least: 1_024, most: 8_388_608 },
  cpuMs: { least: 100, most: DAY_MS },
  memoryBytes: { least: 16_777_216, most: 2 ** 40 },
  processes: { least: 1, most: 100_000 },
  fileBytes: { least: 1_024, most: 2 ** 40 },
  openFiles: { least: 16, most: 1_048_576 },
}

const isLimit = (name: string): name is LimitName => Object.hasOwn(RANGES, name)

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Text that can be an argument of a program. */
export const isPlain = (value: unknown): value is string =>
  typeof value === 'string' && !value.includes('\0') && value.isWellFormed()
