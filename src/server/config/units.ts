// Durations and sizes as an operator writes them: `45s`, `48KB`. A value outside of its range is an error and is never
// rewritten to one inside. A kilobyte here is 1,024 bytes, and `KiB` says the same; a megabyte is 1,024 of them.

/** Milliseconds of each unit. */
const DURATION_UNITS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** Bytes of each unit. */
const SIZE_UNITS = new Map([
  ['B', 1],
  ['KB', 1_024],
  ['KiB', 1_024],
  ['MB', 1_048_576],
  ['MiB', 1_048_576],
])

export const DURATION_PATTERN = `[0-9]{1,12}(\\.[0-9]{1,6})?(${[...DURATION_UNITS.keys()].join('|')})`
export const SIZE_PATTERN = `[0-9]{1,12}(\\.[0-9]{1,6})?(${[...SIZE_UNITS.keys()].join('|')})`

/** Milliseconds of `500ms`, `45s`, `5m`, `1.5h`, `7d`; undefined for anything else and for parts of a millisecond. */
export const parseDurationMs = (text: string): number | undefined => parseUnits(text, DURATION_PATTERN, DURATION_UNITS)

/** Bytes of `900B`, `48KB`, `1.5MB`; undefined for anything else and for parts of a byte. */
export const parseSizeBytes = (text: string): number | undefined => parseUnits(text, SIZE_PATTERN, SIZE_UNITS)

function parseUnits(text: string, pattern: string, units: ReadonlyMap<string, number>): number | undefined {
  const parts = new RegExp(`^(?:${pattern})$`).exec(text)
  const factor = units.get(parts?.[2] ?? '')
  if (factor === undefined) return undefined
  const amount = Number.parseFloat(text) * factor
  return Number.isSafeInteger(amount) ? amount : undefined
}

/** `90000` as `90s`: the largest unit that divides it. */
export const formatDuration = (milliseconds: number): string => formatUnits(milliseconds, DURATION_UNITS)

/** `49152` as `48KB`: the largest unit that divides it. */
export const formatSize = (bytes: number): string =>
  formatUnits(bytes, new Map([...SIZE_UNITS].filter(([unit]) => !unit.includes('i'))))

function formatUnits(amount: number, units: ReadonlyMap<string, number>): string {
  const fitting = [...units].filter(([, factor]) => amount % factor === 0).at(-1) ?? ['', 1]
  return `${amount / fitting[1]}${fitting[0]}`
}
