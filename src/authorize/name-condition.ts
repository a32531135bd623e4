// A list of globs over names: tools, sources, users. One of them has to match; an empty list matches nothing.

import { compileNameGlob, type NameGlob } from '../base/glob.ts'
import type { OptionReader } from './option-reader.ts'

export class NameCondition {
  readonly globs: readonly NameGlob[]

  constructor(globs: readonly NameGlob[]) {
    this.globs = globs
  }

  // INVARIANT closed: an empty list has no glob that matches, so it allows nothing.
  matches(name: string): boolean {
    return this.globs.some((glob) => glob.matches(name))
  }
}

/** What a glob over tool or source names can be made of; any other character could never match. */
const NAME_GLOB = /^[A-Za-z0-9_\-*?[\]!^{},\\]*$/

export function readToolNames(value: unknown, key: string, reader: OptionReader): NameCondition | undefined {
  return readNames(value, key, reader, (text) =>
    NAME_GLOB.test(text) && !hasStray(text)
      ? undefined
      : 'is no tool name or glob over tool names: these have letters, digits, `_` and `-`',
  )
}

const PROGRAM_GLOB = /^[A-Za-z0-9_.+\-*?[\]!^{},\\]*$/

/** Programs by the bare names that callers know. */
export function readProgramNames(value: unknown, key: string, reader: OptionReader): NameCondition | undefined {
  return readNames(value, key, reader, (text) =>
    PROGRAM_GLOB.test(text) && !hasStray(text)
      ? undefined
      : 'is no program name or glob over program names: a rule names the bare program, such as `git`',
  )
}

/** A comma outside of `{…}`, a `!` or `^` outside of `[…]`: signs that mean nothing there, and that no name has. */
function hasStray(text: string): boolean {
  let outside = text.replace(/\\.|\[[^\]]*\]/g, '')
  for (let before = ''; before !== outside; ) {
    before = outside
    if (/[!^]/.test(outside)) return true
    outside = outside.replace(/\{[^{}]*\}/g, '')
  }
  return outside.includes(',')
}

export function readNames(
  value: unknown,
  key: string,
  reader: OptionReader,
  objection: (text: string) => string | undefined = () => undefined,
): NameCondition | undefined {
  const texts = reader.texts(value, key)
  if (texts === undefined) return undefined
  const globs: NameGlob[] = []
  for (const text of texts) {
    const glob = compileNameGlob(text)
    const problem = objection(text) ?? (glob.kind === 'bad' ? `is no glob: ${glob.reason}` : undefined)
    if (problem !== undefined) reader.problem(key, `\`${text}\` ${problem}`)
    else if (glob.kind === 'ok') globs.push(glob)
  }
  return globs.length === texts.length ? new NameCondition(globs) : undefined
}
