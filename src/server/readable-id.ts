// The id of a request whose text was refused, where every reader would read the same one: then the refusal reaches whoever
// waits for it. Anything else of such a text is not looked at.

import type { RequestId } from './in-flight.ts'

const ID_CHARACTERS_MAX = 256
const QUOTE = '"'

/** Undefined for what is no request, and where the id stands twice, not at all, or as something that is no id. */
export function readableId(text: string): RequestId | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (
    typeof value !== 'object' ||
    value === null ||
    !Object.hasOwn(value, 'method') ||
    !Object.hasOwn(value, 'id') ||
    !('id' in value)
  )
    return undefined
  const { id } = value
  const isId = typeof id === 'string' ? id.length <= ID_CHARACTERS_MAX : Number.isSafeInteger(id)
  const times = topLevelKeys(text).filter((key) => key === 'id').length
  return isId && times === 1 && (typeof id === 'string' || typeof id === 'number') ? id : undefined
}

/** The keys of the outermost object of well-formed JSON text, each as often as it stands there. */
function topLevelKeys(text: string): readonly string[] {
  const keys: string[] = []
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === QUOTE) {
      const end = endOfString(text, index)
      if (depth === 1 && isColonNext(text, end + 1)) keys.push(String(JSON.parse(text.slice(index, end + 1))))
      index = end
    } else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
  }
  return keys
}

function isColonNext(text: string, start: number): boolean {
  let index = start
  while (text[index] === ' ' || text[index] === '\t' || text[index] === '\n' || text[index] === '\r') index += 1
  return text[index] === ':'
}

function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === '\\') index += 1
    else if (text[index] === QUOTE) return index
  }
  return text.length
}
