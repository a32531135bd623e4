// What a call touches, as strings: `read file:/ws/a.txt`, `write repo:*`, `connect host:api.example.com`.

/**
 * A parsed resource. A trailing `*` in the key covers everything below. Of files only a slash and a star
 * at the end do; `/.` at the end says that the file before it is meant, whatever its name.
 */
export type Resource = { readonly verb: string; readonly key: string; readonly text: string }

/** What a call touches. `unknown`: the tool declares nothing. `malformed`: it failed to say, so the stricter side counts. */
export type Touches =
  | { readonly kind: 'known'; readonly resources: readonly Resource[] }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'malformed'; readonly reason: string }

export const TOUCHES_UNKNOWN: Touches = Object.freeze({ kind: 'unknown' })

const RESOURCES_MAX = 1_000

/** Splits `verb kind:key`. Undefined when the text has another form. */
export function parseResource(text: string): Resource | undefined {
  const blank = text.indexOf(' ')
  const colon = text.indexOf(':', blank)
  if (blank < 1 || colon < blank + 2) return undefined
  const verb = text.slice(0, blank)
  if (!/^[a-z]+$/.test(verb)) return undefined
  return { verb, key: text.slice(blank + 1), text }
}

/** Reads what a tool's `touches` answered. At most 1,000 resources. */
export function readTouches(answer: unknown): Touches {
  if (!Array.isArray(answer)) return { kind: 'malformed', reason: 'touches did not answer a list' }
  if (answer.length > RESOURCES_MAX)
    return { kind: 'malformed', reason: `touches named over ${RESOURCES_MAX} resources` }
  const resources: Resource[] = []
  for (const text of answer) {
    const resource = typeof text === 'string' ? parseResource(text) : undefined
    if (resource === undefined)
      return { kind: 'malformed', reason: 'touches named something that is no `verb kind:key`' }
    resources.push(resource)
  }
  return { kind: 'known', resources }
}
