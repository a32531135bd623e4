// Shapes of maps whose keys are ours, and of values that may have one form or another. A key that is not named is an
// error; so is one that another version of Lockgate may know.

import { didYouMean } from '../../base/did-you-mean.ts'
import type { JsonObject } from '../../base/json-value.ts'
import { type ConfigNode, describeNode, keyBelow, quoted } from './config-node.ts'
import { type Reading, refuse, type Shape, type ShapeValue } from './shape.ts'

type Field<Value, Needed extends boolean> = {
  readonly shape: Shape<Value>
  readonly needed: Needed
  readonly means: string
}

/** `means` is what an editor shows beside the key. */
export const needed = <Value>(shape: Shape<Value>, means: string): Field<Value, true> => ({
  shape,
  needed: true,
  means,
})
export const optional = <Value>(shape: Shape<Value>, means: string): Field<Value, false> => ({
  shape,
  needed: false,
  means,
})

type Fields = Readonly<Record<string, Field<unknown, boolean>>>
type NeededKeys<F extends Fields> = { [Key in keyof F]: F[Key]['needed'] extends true ? Key : never }[keyof F]

export type FieldsValue<F extends Fields> = {
  readonly [Key in NeededKeys<F>]: ShapeValue<F[Key]['shape']>
} & { readonly [Key in Exclude<keyof F, NeededKeys<F>>]?: ShapeValue<F[Key]['shape']> }

/** A map with these keys and no other. */
export function fields<const F extends Fields>(known: F): Shape<FieldsValue<F>> {
  const names = Object.keys(known)
  const shape: Shape<FieldsValue<F>> = {
    expected: `a map with ${names.map((name) => `\`${name}\``).join(', ')}`,
    schema: fieldsSchema(known),
    read(reading) {
      const { node, key } = reading
      if (node.kind !== 'map') return refuse(reading, `expected ${shape.expected}, got ${describeNode(node)}`)
      const values: Record<string, unknown> = {}
      let whole = true
      for (const entry of node.entries) {
        const field = Object.hasOwn(known, entry.key) ? known[entry.key] : undefined
        const below = { ...reading, node: entry.node, key: keyBelow(key, entry.key) }
        const value = field === undefined ? refuseKey(below, entry.key, names, entry.at) : field.shape.read(below)
        if (value === undefined) whole = false
        else values[entry.key] = value
      }
      for (const name of names.filter(
        (name) => known[name]?.needed && !node.entries.some((entry) => entry.key === name),
      )) {
        refuse(reading, `\`${name}\` is missing; expected ${known[name]?.shape.expected ?? ''}`)
        whole = false
      }
      return whole ? (values as FieldsValue<F>) : undefined
    },
  }
  return shape
}

function refuseKey(reading: Reading, name: string, known: readonly string[], at: ConfigNode['at']): undefined {
  const near = didYouMean(name, known)
  const hint = near === undefined ? '' : `; did you mean \`${near}\`?`
  return refuse(
    reading,
    `this version of Lockgate does not know the key ${quoted(name)} here${hint} (known: ${known.join(', ')})`,
    at,
  )
}

function fieldsSchema(known: Fields): JsonObject {
  const all = Object.entries(known)
  const required = all.filter(([, field]) => field.needed).map(([name]) => name)
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      all.map(([name, { shape, means }]) => [name, { description: means, ...shape.schema }]),
    ),
    ...(required.length === 0 ? {} : { required }),
  }
}

/** A map that holds exactly one of these keys, which tells what the rest of it may be. */
export function chosenByKey<const S extends Readonly<Record<string, Shape<unknown>>>>(
  variants: S,
): Shape<ShapeValue<S[keyof S]>> {
  const names = Object.keys(variants)
  const list = names.map((name) => `\`${name}\``).join(', ')
  return {
    expected: `a map with one of ${list}`,
    schema: { oneOf: Object.values(variants).map((variant) => variant.schema) },
    read(reading) {
      const { node } = reading
      if (node.kind !== 'map') return refuse(reading, `expected a map with one of ${list}, got ${describeNode(node)}`)
      const present = names.filter((name) => node.entries.some((entry) => entry.key === name))
      const variant = present.length === 1 ? variants[present[0] ?? ''] : undefined
      if (variant !== undefined) return variant.read(reading) as ShapeValue<S[keyof S]> | undefined
      const got = present.length === 0 ? describeNode(node) : present.map((name) => `\`${name}\``).join(' and ')
      return refuse(reading, `expected exactly one of ${list}, got ${got}`)
    },
  }
}

/** A map of one form where it has this key, and of the other where it has not. */
export function whereKey<One, Other>(name: string, having: Shape<One>, lacking: Shape<Other>): Shape<One | Other> {
  return {
    expected: `${having.expected}, or ${lacking.expected}`,
    schema: { anyOf: [having.schema, lacking.schema] },
    read(reading) {
      const { node } = reading
      const has = node.kind === 'map' && node.entries.some((entry) => entry.key === name)
      return has ? having.read(reading) : lacking.read(reading)
    },
  }
}

type Forms = Readonly<Partial<Record<ConfigNode['kind'], Shape<unknown>>>>

/** A value of one of several forms, told apart by what stands there. */
export function byForm<const F extends Forms>(forms: F): Shape<ShapeValue<F[keyof F]>> {
  const shapes = Object.values(forms).filter((shape) => shape !== undefined)
  const expected = shapes.map((shape) => shape.expected).join(', or ')
  return {
    expected,
    schema: { anyOf: shapes.map((shape) => shape.schema) },
    read(reading) {
      const shape = forms[reading.node.kind]
      if (shape === undefined) return refuse(reading, `expected ${expected}, got ${describeNode(reading.node)}`)
      return shape.read(reading) as ShapeValue<F[keyof F]> | undefined
    },
  }
}
