// Names a value in a message: its kind and a short excerpt, never a whole object and never more than 60 characters of it.

import { isJsonArray, type JsonValue } from '../../base/json-value.ts'

const EXCERPT_MAX = 60

/** Such as "the string `"3"`" or "an array of 3 items". */
export function describeValue(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return value === '' ? 'an empty string' : `the string \`${excerpt(value)}\``
    case 'number':
      return `the number \`${value}\``
    case 'boolean':
      return `\`${value}\``
    default:
      return value === null ? 'null' : describeContainer(value)
  }
}

function describeContainer(value: Exclude<JsonValue, string | number | boolean | null>): string {
  if (isJsonArray(value))
    return value.length === 0 ? 'an empty array' : `an array of ${countOf(value.length, 'item', 'items')}`
  const keys = Object.keys(value).length
  return keys === 0 ? 'an empty object' : `an object with ${countOf(keys, 'property', 'properties')}`
}

export const countOf = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

/** JSON text of a string, cut. */
function excerpt(text: string): string {
  const short = [...text.slice(0, EXCERPT_MAX + 1)]
  const json = JSON.stringify(short.slice(0, EXCERPT_MAX - 3).join(''))
  if (text.length <= EXCERPT_MAX - 3 && json.length <= EXCERPT_MAX) return json
  return `${json.slice(0, EXCERPT_MAX - 2)}…"`
}

const LISTED_MAX = 10
const NAME_MAX = 40

/** A few values as JSON in backticks, then how many more there are. */
export function listValues(values: readonly JsonValue[], listedMax = LISTED_MAX): string {
  const shown = values.slice(0, listedMax).map((value) => `\`${shorten(JSON.stringify(value))}\``)
  return joinSome(shown, values.length)
}

/** A few names in backticks, then how many more there are. */
export function listNames(names: readonly string[], listedMax = LISTED_MAX): string {
  return joinSome(
    names.slice(0, listedMax).map((name) => `\`${shorten(name)}\``),
    names.length,
  )
}

const joinSome = (shown: readonly string[], total: number): string =>
  total > shown.length ? `${shown.join(', ')} and ${total - shown.length} more` : shown.join(', ')

export const shorten = (text: string): string => (text.length > NAME_MAX ? `${text.slice(0, NAME_MAX)}…` : text)
