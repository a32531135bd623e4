// What a value of the configuration may be: one description that both reads it, with positions and in words, and gives
// the JSON Schema for editors, so that the two cannot drift apart. A shape refuses everything that it does not name.

import { didYouMean } from '../../base/did-you-mean.ts'
import type { JsonObject } from '../../base/json-value.ts'
import { type ConfigNode, describeNode, keyBelow, type NodeProblem, type Position, quoted } from './config-node.ts'
import { DURATION_PATTERN, formatDuration, formatSize, parseDurationMs, parseSizeBytes, SIZE_PATTERN } from './units.ts'

/** One value on its way in. */
export type Reading = {
  readonly node: ConfigNode
  readonly key: string
  readonly report: (problem: NodeProblem) => void
}

export interface Shape<Value> {
  /** For `expected …`. */
  readonly expected: string
  readonly schema: JsonObject
  /** Undefined after at least one problem was reported. */
  read(reading: Reading): Value | undefined
}

export type ShapeValue<S> = S extends Shape<infer Value> ? Value : never

/** Reports a problem of the value itself, and answers undefined. */
export function refuse({ node, key, report }: Reading, message: string, at: Position = node.at): undefined {
  report({ at, key, message })
  return undefined
}

const refuseKind = <Value>(shape: Shape<Value>, reading: Reading): undefined => {
  const hint = reading.node.kind === 'number' && shape.schema.type === 'string' ? '; put it in quotes' : ''
  return refuse(reading, `expected ${shape.expected}, got ${describeNode(reading.node)}${hint}`)
}

// An editor sees the text before it is expanded, so a reference has to pass wherever a text of some form is asked for.
const REFERENCE = '\\$\\{'

const TEXT_MAX = 16_384

/** A text that is not empty, of one form where a pattern is given. At most 16,384 characters. */
export function text(expected = 'a text', pattern?: string): Shape<string> {
  const form = pattern === undefined ? undefined : new RegExp(`^(?:${pattern})$`, 'u')
  const shape: Shape<string> = {
    expected,
    schema: {
      type: 'string',
      minLength: 1,
      ...(pattern === undefined ? {} : { pattern: `^(?:${pattern})$|${REFERENCE}` }),
    },
    read(reading) {
      const { node } = reading
      if (node.kind !== 'text' || node.text === '' || form?.test(node.text) === false) return refuseKind(shape, reading)
      if (node.text.length > TEXT_MAX) return refuse(reading, `a text is at most ${TEXT_MAX} characters long`)
      return node.text.includes('\0') ? refuse(reading, 'a text holds no NUL character') : node.text
    },
  }
  return shape
}

/** A text that may be empty, e.g. the value of a variable. */
export function anyText(): Shape<string> {
  const filled = text()
  return {
    expected: filled.expected,
    schema: { type: 'string' },
    read: (reading) => (reading.node.kind === 'text' && reading.node.text === '' ? '' : filled.read(reading)),
  }
}

export function flag(): Shape<boolean> {
  const shape: Shape<boolean> = {
    expected: '`true` or `false`',
    schema: { type: 'boolean' },
    read: (reading) => (reading.node.kind === 'flag' ? reading.node.value : refuseKind(shape, reading)),
  }
  return shape
}

/** Any finite number. */
export function number(): Shape<number> {
  const shape: Shape<number> = {
    expected: 'a number',
    schema: { type: 'number' },
    read: (reading) =>
      reading.node.kind === 'number' && Number.isFinite(reading.node.value)
        ? reading.node.value
        : refuseKind(shape, reading),
  }
  return shape
}

/** A whole number of a range. */
export function whole(min: number, max: number): Shape<number> {
  const shape: Shape<number> = {
    expected: `a whole number from ${min} to ${max}`,
    schema: { type: 'integer', minimum: min, maximum: max },
    read(reading) {
      const { node } = reading
      if (node.kind !== 'number') return refuseKind(shape, reading)
      const { value } = node
      const holds = Number.isSafeInteger(value) && value >= min && value <= max
      return holds ? value : refuse(reading, `expected ${shape.expected}, got the number ${quoted(node.source)}`)
    },
  }
  return shape
}

/** Exactly this number. */
export function exactly(value: number): Shape<number> {
  const shape: Shape<number> = {
    expected: `the number \`${value}\``,
    schema: { const: value },
    read: (reading) =>
      reading.node.kind === 'number' && reading.node.value === value ? value : refuseKind(shape, reading),
  }
  return shape
}

/** One of some words. */
export function choice<const Word extends string>(words: readonly Word[]): Shape<Word> {
  const shape: Shape<Word> = {
    expected: `one of ${words.map((word) => `\`${word}\``).join(', ')}`,
    schema: { anyOf: [{ enum: [...words] }, { type: 'string', pattern: REFERENCE }] },
    read(reading) {
      const { node } = reading
      if (node.kind !== 'text') return refuseKind(shape, reading)
      const word = words.find((known) => known === node.text)
      if (word !== undefined) return word
      const near = didYouMean(node.text, words)
      return refuse(
        reading,
        `expected ${shape.expected}, got ${quoted(node.text)}${near === undefined ? '' : `; did you mean \`${near}\`?`}`,
      )
    },
  }
  return shape
}

type Range = { readonly min: number; readonly max: number }

/** Milliseconds, written `500ms`, `45s`, `5m`, `1h`, `7d`. */
export const duration = (range: Range): Shape<number> =>
  measure(
    `a duration from \`${formatDuration(range.min)}\` to \`${formatDuration(range.max)}\`, such as \`45s\``,
    DURATION_PATTERN,
    parseDurationMs,
    range,
  )

/** Bytes, written `900B`, `48KB`, `1MB`; a kilobyte is 1,024 bytes. */
export const size = (range: Range): Shape<number> =>
  measure(
    `a size from \`${formatSize(range.min)}\` to \`${formatSize(range.max)}\`, such as \`48KB\``,
    SIZE_PATTERN,
    parseSizeBytes,
    range,
  )

function measure(
  expected: string,
  pattern: string,
  parse: (text: string) => number | undefined,
  { min, max }: Range,
): Shape<number> {
  const shape: Shape<number> = {
    expected,
    schema: { type: 'string', pattern: `^(?:${pattern})$|${REFERENCE}` },
    read(reading) {
      const amount = reading.node.kind === 'text' ? parse(reading.node.text) : undefined
      if (amount !== undefined && amount >= min && amount <= max) return amount
      // The quotes that a number would need are not the mistake here: the unit is missing.
      return refuse(reading, `expected ${expected}, got ${describeNode(reading.node)}`)
    },
  }
  return shape
}

/** A list of at most so many values of one shape. */
export function listOf<Value>(item: Shape<Value>, itemsMax = 1_000): Shape<readonly Value[]> {
  const shape: Shape<readonly Value[]> = {
    expected: `a list, each of it ${item.expected}`,
    schema: { type: 'array', items: item.schema, maxItems: itemsMax },
    read(reading) {
      const { node, key } = reading
      if (node.kind !== 'list') return refuseKind(shape, reading)
      if (node.items.length > itemsMax) return refuse(reading, `a list holds at most ${itemsMax} values here`)
      const values = node.items.map((value, index) => item.read({ ...reading, node: value, key: `${key}[${index}]` }))
      const read = values.filter((value) => value !== undefined)
      return read.length === values.length ? read : undefined
    },
  }
  return shape
}

/** Names of the operator's own, each with a value of one shape. Unique, in the order of the file. */
export function namedValues<Value>(
  name: Shape<string>,
  value: Shape<Value>,
  namesMax = 1_000,
): Shape<ReadonlyMap<string, Value>> {
  const shape: Shape<ReadonlyMap<string, Value>> = {
    expected: 'a map',
    schema: { type: 'object', propertyNames: name.schema, additionalProperties: value.schema, maxProperties: namesMax },
    read(reading) {
      const { node, key } = reading
      if (node.kind !== 'map') return refuseKind(shape, reading)
      if (node.entries.length > namesMax) return refuse(reading, `a map holds at most ${namesMax} names here`)
      const values = new Map<string, Value>()
      for (const entry of node.entries) {
        const below = keyBelow(key, entry.key)
        const named = name.read({ ...reading, key: below, node: { kind: 'text', text: entry.key, at: entry.at } })
        const read = value.read({ ...reading, key: below, node: entry.node })
        if (named !== undefined && read !== undefined) values.set(named, read)
      }
      return values.size === node.entries.length ? values : undefined
    },
  }
  return shape
}

/** The same value in another form, or a further condition on it. */
export function refined<From, To>(
  shape: Shape<From>,
  refine: (value: From, reading: Reading) => To | undefined,
): Shape<To> {
  return {
    expected: shape.expected,
    schema: shape.schema,
    read(reading) {
      const value = shape.read(reading)
      return value === undefined ? undefined : refine(value, reading)
    },
  }
}
