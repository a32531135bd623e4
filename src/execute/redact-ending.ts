// What a tool answered, without the secrets in it. It stands where nothing outside holds the answer yet, and closes: where the
// answer cannot be looked at, nothing of it goes out.

import type { Call, Ending } from '../describe/call.ts'
import type { ContentPart, Display } from '../describe/content.ts'
import type { OutcomeError } from '../describe/outcome.ts'
import type { Redacted, Redactor } from '../describe/redactor.ts'
import { redactShown } from './redact-shown.ts'

/** Names what was taken out in the trail of the call. The very ending, where nothing was. Throws what the answer throws. */
export function redactEnding(call: Call, ending: Ending, redactor: Redactor): Ending {
  const names = new Set(call.trail.redacted)
  const before = names.size
  const take = <Value>({ value, names: found }: Redacted<Value>): Value => {
    for (const name of found) names.add(name)
    return value
  }
  const made = ending.kind === 'value' ? cleanValue(ending, redactor, take) : cleanFailure(ending, redactor, take)
  if (names.size > before) call.trail.redacted = [...names]
  return made
}

type Take = <Value>(redacted: Redacted<Value>) => Value

function cleanValue(ending: Ending & { kind: 'value' }, redactor: Redactor, take: Take): Ending {
  const value = take(
    typeof ending.value === 'string' ? redactShown(ending.value, redactor) : redactor.json<unknown>(ending.value),
  )
  const content = ending.content && partsOf(ending.content, redactor, take)
  const display = ending.display && displayOf(ending.display, redactor, take)
  if (value === ending.value && content === ending.content && display === ending.display) return ending
  return {
    ...ending,
    value,
    ...(content === undefined ? {} : { content }),
    ...(display === undefined ? {} : { display }),
  }
}

function cleanFailure(ending: Ending & { kind: 'failure' }, redactor: Redactor, take: Take): Ending {
  const error = errorOf(ending.error, redactor, take)
  const content = ending.content && partsOf(ending.content, redactor, take)
  const display = ending.display && displayOf(ending.display, redactor, take)
  if (error === ending.error && content === ending.content && display === ending.display) return ending
  return {
    ...ending,
    error,
    ...(content === undefined ? {} : { content }),
    ...(display === undefined ? {} : { display }),
  }
}

function errorOf(error: OutcomeError, redactor: Redactor, take: Take): OutcomeError {
  const message = take(redactor.text(error.message))
  const help = error.help && take(redactor.text(error.help))
  const details = error.details && take(redactor.json(error.details))
  if (message === error.message && help === error.help && details === error.details) return error
  return { ...error, message, ...(help === undefined ? {} : { help }), ...(details === undefined ? {} : { details }) }
}

function partsOf(parts: readonly ContentPart[], redactor: Redactor, take: Take): readonly ContentPart[] {
  const made = parts.map((part) => partOf(part, redactor, take))
  return made.every((part, index) => part === parts[index]) ? parts : made
}

/** Pictures and sounds are no text: what is base64 there stays as it is. */
function partOf(given: ContentPart, redactor: Redactor, take: Take): ContentPart {
  const part = withRest(given, redactor, take)
  if (part.type === 'text') return withText(part, 'text', redactor, take)
  if (part.type === 'resource_link') return withText(withText(part, 'uri', redactor, take), 'name', redactor, take)
  if (part.type !== 'resource') return part
  const { resource } = part
  const named = withText(withRest(resource, redactor, take), 'uri', redactor, take)
  const text = named.text === undefined ? undefined : take(redactor.text(named.text))
  const blob = named.blob === undefined ? undefined : blobOf(named.blob, named.mimeType, redactor, take)
  if (named === resource && text === resource.text && blob === resource.blob) return part
  return {
    ...part,
    resource: { ...named, ...(text === undefined ? {} : { text }), ...(blob === undefined ? {} : { blob }) },
  }
}

const OWN_MEMBERS = new Set(['type', 'text', 'data', 'blob', 'uri', 'name', 'resource'])

/** What a part carries besides: its `_meta`, annotations, a description. */
function withRest<Of extends object>(of: Of, redactor: Redactor, take: Take): Of {
  const entries = Object.entries(of)
  const others = entries.filter(([key]) => !OWN_MEMBERS.has(key))
  if (others.length === 0) return of
  const rest = Object.fromEntries(others)
  const made = take(redactor.json(rest))
  if (made === rest) return of
  return { ...Object.fromEntries(entries.filter(([key]) => OWN_MEMBERS.has(key))), ...made } as Of
}

const TEXT_TYPE = /^text\/|[/+](?:json|xml|yaml|javascript|toml)\b/

/** A text that is handed on as bytes is one all the same. */
function blobOf(blob: string, mimeType: string | undefined, redactor: Redactor, take: Take): string {
  if (mimeType === undefined || !TEXT_TYPE.test(mimeType)) return blob
  const text = Buffer.from(blob, 'base64').toString()
  const clean = take(redactor.text(text))
  return clean === text ? blob : Buffer.from(clean).toString('base64')
}

function displayOf(display: Display, redactor: Redactor, take: Take): Display {
  switch (display.kind) {
    case 'image':
      return display
    case 'link':
      return take(redactor.json(display))
    case 'table': {
      const rows = display.rows.map((row) => rowOf(row, display.columns, redactor, take))
      const columns = take(redactor.json(display.columns))
      const isClean = columns === display.columns && rows.every((row, index) => row === display.rows[index])
      return isClean ? display : { ...display, columns, rows }
    }
    case 'diff':
    case 'file':
      return withText(withText(display, 'path', redactor, take), 'text', redactor, take)
    default:
      return withText(display, 'text', redactor, take)
  }
}

/** The column says what stands in it. */
function rowOf(row: readonly string[], columns: readonly string[], redactor: Redactor, take: Take): readonly string[] {
  const cells = row.map((cell, index) => Object.values(take(redactor.json({ [columns[index] ?? '']: cell })))[0] ?? '')
  return cells.every((cell, index) => cell === row[index]) ? row : cells
}

function withText<Name extends string, Of extends { readonly [Key in Name]: string }>(
  of: Of,
  name: Name,
  redactor: Redactor,
  take: Take,
): Of {
  const text = take(redactShown(of[name], redactor))
  return text === of[name] ? of : { ...of, [name]: text }
}
