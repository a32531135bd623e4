// Builds the large inputs that the corpus only describes.

type Generated = { readonly gen: string } & Readonly<Record<string, unknown>>

/** Replaces every `{ gen: … }` below a value by what it describes. */
export function buildInput(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(buildInput)
  if ('gen' in value) return generate(value as Generated)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, buildInput(inner)]))
}

function generate({ gen, prefix = '', unit = '', times = 0, suffix = '' }: Generated): unknown {
  if (gen === 'repeat') return `${String(prefix)}${String(unit).repeat(Number(times))}${String(suffix)}`
  throw new Error(`the corpus describes an input that is not built here: ${gen}`)
}
