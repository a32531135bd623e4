// What the values of one argument have in common, as a condition that holds for them and for as little else as can be said.

import { canonicalJson, isJsonArray, type JsonValue } from '../base/json-value.ts'
import type { ArgumentGlob, ArgumentTest } from './policy-options.ts'

/** `keeps`: the condition in words. `beside`: values near those that were approved, for which it should not hold. */
export type Narrowed = { readonly name: string; readonly keeps?: string; readonly beside?: readonly JsonValue[] } & (
  | { readonly kind: 'where'; readonly test: ArgumentGlob | ArgumentTest }
  | { readonly kind: 'when'; readonly expression: string }
  /** Any value: a text that was another one each time. */
  | { readonly kind: 'free' }
)

/** More values than these are no list that anybody reads. */
const VALUES_MAX = 8
const EXACT_TEXT_MAX = 500
const LITERAL_MAX = 1_000
const SHORT_MAX = 120

/** A text that somebody writes anew each time, and that could carry anything. */
export const isFreeText = (text: string): boolean =>
  text.length > SHORT_MAX || /[\r\n\t]/.test(text) || text.trim().split(/\s+/).length > 3

/** The narrowest condition on these values of an argument; undefined where there is none worth proposing. */
export function narrowArgument(name: string, values: readonly JsonValue[]): Narrowed | undefined {
  const distinct = [...new Map(values.map((value) => [canonicalJson(value), value])).values()]
  if (distinct.every((value) => typeof value === 'string')) return narrowTexts(name, distinct.toSorted())
  if (distinct.every((value) => typeof value === 'number')) return narrowNumbers(name, distinct.toSorted(ascending))
  if (distinct.every((value) => typeof value === 'boolean')) return narrowFlags(name, distinct)
  return narrowOthers(name, distinct)
}

const ascending = (one: number, other: number): number => one - other

function narrowTexts(name: string, texts: readonly string[]): Narrowed | undefined {
  const folder = texts.length < 2 ? undefined : commonFolder(name, texts)
  if (folder !== undefined) {
    const [first = ''] = texts
    const rest = first.slice(folder.length + 1)
    return {
      ...{ name, kind: 'where', test: `${escapePath(folder)}/**` },
      keeps: `\`${name}\` is always below \`${folder}\``,
      beside: [`${folder}-other/${rest}`, `${folder}.other`, 'other'],
    }
  }
  if (texts.length === 1 || (texts.length <= VALUES_MAX && !texts.some(isFreeText))) return exactTexts(name, texts)
  return texts.some(isFreeText) ? { name, kind: 'free' } : undefined
}

function exactTexts(name: string, texts: readonly string[]): Narrowed | undefined {
  if (texts.some((text) => text.length > EXACT_TEXT_MAX)) return undefined
  const [first = ''] = texts
  return {
    ...{ name, kind: 'where', test: { in: texts } },
    keeps: texts.length === 1 ? `\`${name}\` is always the same` : `\`${name}\` is one of ${texts.length} texts`,
    beside: [`${first}.other`, `other-${first}`].filter((text) => !texts.includes(text)),
  }
}

/** The deepest folder that all paths lie in; undefined for texts that are no paths, and where only the root holds them all. */
function commonFolder(name: string, texts: readonly string[]): string | undefined {
  if (!texts.every((text) => isPath(name, text))) return undefined
  const folders = texts.map((text) => text.split('/').slice(0, -1))
  const [first = []] = folders
  let depth = 0
  while (depth < first.length && folders.every((folder) => folder[depth] === first[depth])) depth += 1
  const common = first.slice(0, depth)
  return common.some((part) => part !== '') ? common.join('/') : undefined
}

/** An address is no path: what stands behind its host can carry anything. */
const isPath = (name: string, text: string): boolean =>
  !/[:\s?#\\]/.test(text) && !/(?:^|\/)\.{1,2}(?:\/|$)|\/\//.test(text) && (name === 'path' || text.includes('/'))

const escapePath = (text: string): string => text.replace(/[*?[\]{}\\]/g, '\\$&')

function narrowNumbers(name: string, numbers: readonly number[]): Narrowed {
  const [min = 0] = numbers
  const max = numbers.at(-1) ?? min
  const isFew = numbers.length <= VALUES_MAX
  return {
    ...{ name, kind: 'where', test: isFew ? { in: numbers } : { min, max } },
    keeps: isFew ? `\`${name}\` is ${numbers.join(' or ')}` : `\`${name}\` is from ${min} to ${max}`,
    beside: [max + 1, min - 1],
  }
}

const narrowFlags = (name: string, flags: readonly boolean[]): Narrowed => ({
  ...{ name, kind: 'where', test: { in: flags } },
  keeps: `\`${name}\` is ${flags.join(' or ')}`,
  ...(flags.length === 1 ? { beside: [flags[0] !== true] } : {}),
})

/** Lists, objects, nothing, and values of several kinds: only as what they were, whole. */
function narrowOthers(name: string, values: readonly JsonValue[]): Narrowed | undefined {
  if (values.length > VALUES_MAX || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return undefined
  const literals = values.map(celLiteral)
  const expression =
    literals.length === 1 ? `args.${name} == ${literals[0] ?? ''}` : `args.${name} in [${literals.join(', ')}]`
  if (expression.length > LITERAL_MAX) return undefined
  return { name, kind: 'when', expression, keeps: `\`${name}\` is exactly what it was`, beside: ['other'] }
}

/** A JSON value as CEL writes it. */
function celLiteral(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (isJsonArray(value)) return `[${value.map(celLiteral).join(', ')}]`
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${celLiteral(item)}`)
    .join(', ')}}`
}
