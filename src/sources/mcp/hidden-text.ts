// Finds what hides in the texts of a tool definition: names, descriptions, and every key and string of its schemas. What
// the texts say is not judged; a person reads them where the call is shown.

import { hiddenIn } from '../../machine/visible-name.ts'

/** Line ends and tabs belong into a text; a lone carriage return overwrites a line on a terminal and does not. */
const PLAIN_BREAKS = /\r\n|\n|\t/g

/** Where something hides and what it is, e.g. `description: an invisible character`; undefined where nothing does. */
export function hiddenText(value: unknown, place: string): string | undefined {
  const pending: { readonly place: string; readonly value: unknown }[] = [{ place, value }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { place, value } = next
    if (typeof value === 'string') {
      const hidden = hiddenIn(value.replace(PLAIN_BREAKS, ' '))
      if (hidden !== undefined) return `${place}: ${hidden}`
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        const hidden = hiddenIn(key)
        if (hidden !== undefined) return `a key in ${place}: ${hidden}`
        pending.push({ place, value: inner })
      }
    }
  }
  return undefined
}
