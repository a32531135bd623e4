// What a tool says about the program that a call starts, and about texts outside of the arguments that decide what it does.
// A tool that fails to say is taken at the stricter side, or refuses the call.

import type { JsonObject } from '../base/json-value.ts'
import type { Entry } from './entry.ts'
import type { BoundText, CommandFacts } from './tool.ts'

const BOUND_TEXTS_MAX = 64
const BOUND_CHARACTERS_MAX = 1_048_576

/** INVARIANT closed: a tool that failed to say which program it starts starts one of which nobody knows anything. */
const UNKNOWN: CommandFacts = Object.freeze({ program: '', reads: false })

/** Undefined for a call that starts no program. `program` is empty where the tool failed to say which one. */
export function commandOf({ tool }: Pick<Entry, 'tool'>, args: JsonObject): CommandFacts | undefined {
  if (tool.command === undefined) return undefined
  try {
    const facts: unknown = tool.command(args)
    if (facts === undefined) return undefined
    return isFacts(facts) ? Object.freeze({ program: facts.program, reads: facts.reads }) : UNKNOWN
  } catch {
    return UNKNOWN
  }
}

const isFacts = (value: unknown): value is CommandFacts =>
  typeof value === 'object' &&
  value !== null &&
  'program' in value &&
  typeof value.program === 'string' &&
  value.program !== '' &&
  'reads' in value &&
  typeof value.reads === 'boolean'

/** Throws for what is no list of at most 64 texts with 1 Mi characters together: nobody could be asked about that. */
export function readBinds(answer: unknown): readonly BoundText[] {
  if (!Array.isArray(answer) || answer.length > BOUND_TEXTS_MAX || !answer.every(isBoundText))
    throw new Error(`\`binds\` did not answer a list of at most ${BOUND_TEXTS_MAX} texts with titles`)
  const texts: readonly BoundText[] = answer
  if (texts.reduce((all, { title, text }) => all + title.length + text.length, 0) > BOUND_CHARACTERS_MAX)
    throw new Error(`\`binds\` answered more than ${BOUND_CHARACTERS_MAX} characters`)
  return Object.freeze(texts.map(({ title, text }) => Object.freeze({ title, text })))
}

const isBoundText = (value: unknown): value is BoundText =>
  typeof value === 'object' &&
  value !== null &&
  'title' in value &&
  typeof value.title === 'string' &&
  'text' in value &&
  typeof value.text === 'string'
