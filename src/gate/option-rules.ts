// What one value of an option may be, in words and as a question. For options that a host without types may pass.

export type Rule = {
  readonly expected: string
  readonly holds: (value: unknown) => boolean
  /** What came in its place is never repeated. */
  readonly secret?: true
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isFunction = (value: unknown): boolean => typeof value === 'function'

export const has = (value: unknown, ...names: readonly string[]): boolean =>
  isObject(value) && names.every((name) => isFunction(value[name]))

export const isPath = (value: unknown): boolean => typeof value === 'string' && value !== ''

export const wholeFrom = (low: number, high: number): Rule => ({
  expected: `a whole number from ${low} to ${high}`,
  holds: (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= low && value <= high,
})

export const listOf = (
  expected: string,
  holds: (value: unknown) => boolean,
  itemsMax = Number.MAX_SAFE_INTEGER,
): Rule => ({
  expected: `a list of ${expected}`,
  holds: (value) => Array.isArray(value) && value.length <= itemsMax && value.every(holds),
})

export const oneOf = (...words: readonly (string | boolean)[]): Rule => ({
  expected: words.map((word) => `\`${word}\``).join(' or '),
  holds: (value) => words.some((word) => word === value),
})

/** An object with exactly this one member. */
export const hasOnly = (value: unknown, name: string, holds: (value: unknown) => boolean): boolean =>
  isObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, name) && holds(value[name])
