// Builds the large or odd inputs that the corpus only describes. Inputs that are no values but behaviours in time (slow
// bytes, endless cursors, redirect loops) are played by the servers of the tests that need them, and are refused here.

type Generated = { readonly gen: string } & Readonly<Record<string, unknown>>

/**
 * Replaces every `{ gen: … }` and `{ raw_json: … }` below a value by what it describes. Raw JSON is text that must be
 * parsed, since it holds duplicate keys or `__proto__`; `JSON.parse` does it unless the entrance under test reads text.
 */
export function buildInput(value: unknown, parse: (text: string) => unknown = JSON.parse): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => buildInput(item, parse))
  if ('gen' in value && typeof value.gen === 'string') return generate(value as Generated)
  if ('raw_json' in value && typeof value.raw_json === 'string') return parse(value.raw_json)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, buildInput(inner, parse)]))
}

const BUILDERS: ReadonlyMap<string, (given: Generated) => unknown> = new Map<string, (given: Generated) => unknown>([
  ['repeat', ({ prefix = '', unit = '', times = 0, suffix = '' }) => `${prefix}${String(unit).repeat(Number(times))}${suffix}`],
  ['nest', ({ open, close, core = '', ...size }) => `${String(open).repeat(sizeOf(size))}${core}${String(close).repeat(sizeOf(size))}`],
  ['bytes', (given) => 'x'.repeat(sizeOf(given))],
  ['bytes_no_newline', (given) => 'x'.repeat(sizeOf(given))],
  ['array', buildArray],
  ['nested_array', (given) => wrap(sizeOf(given), [], (inner) => [inner])],
  ['nested_object', (given) => wrap(sizeOf(given), {}, (inner) => ({ a: inner }))],
  ['nested_properties', (given) => wrap(sizeOf(given), {}, (inner) => ({ type: 'object', properties: { a: inner } }))],
  ['wide', (given) => ({ type: 'object', properties: fromIndex(sizeOf(given), (index) => [`p${index}`, { type: 'string' }]) })],
  ['allOf', (given) => ({ type: 'object', allOf: Array.from({ length: sizeOf(given) }, () => ({ type: 'object' })) })],
  ['ref_doubling', buildDoubling],
])

function generate(given: Generated): unknown {
  const build = BUILDERS.get(given.gen)
  if (build === undefined) throw new Error(`the corpus describes an input that is not built here: ${given.gen}`)
  return build(given)
}

/** The corpus names the size of a thing as fits it: `times`, `depth`, `size`, `properties`, `levels`. */
function sizeOf(given: Readonly<Record<string, unknown>>): number {
  for (const name of ['times', 'depth', 'size', 'properties', 'levels', 'length', 'k']) {
    if (typeof given[name] === 'number') return given[name]
  }
  throw new Error('the corpus describes an input without a size')
}

function buildArray({ item, first, numbered_names: isNumbered, ...size }: Generated): readonly unknown[] {
  const items = Array.from({ length: sizeOf(size) }, (_, index) => {
    const built = buildInput(item)
    return isNumbered === true ? { ...(built as object), name: `t${index}` } : built
  })
  return first === undefined ? items : [first, ...items.slice(1)]
}

function wrap(depth: number, core: unknown, around: (inner: unknown) => unknown): unknown {
  let value = core
  for (let level = 1; level < depth; level++) value = around(value)
  return value
}

/** Each definition refers to the next one twice, so that checking one value costs two to the power of the levels. */
function buildDoubling(given: Generated): unknown {
  const levels = sizeOf(given)
  const definitions = fromIndex(levels, (level) => {
    const next = { $ref: `#/$defs/d${level + 1}` }
    return [`d${level}`, { anyOf: [next, next] }]
  })
  return { type: 'object', properties: { v: { $ref: '#/$defs/d0' } }, $defs: { ...definitions, [`d${levels}`]: { type: 'string' } } }
}

const fromIndex = <Value>(length: number, entry: (index: number) => readonly [string, Value]): Readonly<Record<string, Value>> =>
  Object.fromEntries(Array.from({ length }, (_, index) => entry(index)))
