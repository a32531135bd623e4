// Numbers of a gate in the text format of Prometheus, version 0.0.4. It counts nothing itself.

export type Sample = {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

/** Buckets of a histogram: `counts[n]` is of what is at most `bounds[n]` and more than the bound before; the last is the rest. */
export type HistogramSample = {
  readonly labels?: Readonly<Record<string, string>>
  readonly bounds: readonly number[]
  readonly counts: ArrayLike<number>
  readonly sum: number
}

export type Family = { readonly name: string; readonly help: string } & (
  | { readonly type: 'counter' | 'gauge'; readonly samples: readonly Sample[] }
  | { readonly type: 'histogram'; readonly samples: readonly HistogramSample[] }
)

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Families without a sample are left out. */
export function prometheusText(families: readonly Family[]): string {
  let text = ''
  for (const family of families) {
    if (family.samples.length === 0) continue
    text += `# HELP ${family.name} ${escaped(family.help)}\n# TYPE ${family.name} ${family.type}\n`
    if (family.type === 'histogram') for (const sample of family.samples) text += histogram(family.name, sample)
    else for (const { labels, value } of family.samples) text += line(family.name, labels, value)
  }
  return text
}

function histogram(name: string, { labels, bounds, counts, sum }: HistogramSample): string {
  let text = ''
  let total = 0
  for (const [index, bound] of bounds.entries()) {
    total += counts[index] ?? 0
    text += line(`${name}_bucket`, { ...labels, le: String(bound) }, total)
  }
  total += counts[bounds.length] ?? 0
  text += line(`${name}_bucket`, { ...labels, le: '+Inf' }, total)
  return text + line(`${name}_sum`, labels, sum) + line(`${name}_count`, labels, total)
}

function line(name: string, labels: Sample['labels'], value: number): string {
  const pairs = Object.entries(labels ?? {}).map(([key, text]) => `${key}="${escapedLabel(text)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

const escapedLabel = (text: string): string => escaped(text.toWellFormed()).replaceAll('"', '\\"')
