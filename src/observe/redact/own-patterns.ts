// Rules of the operator: regular expressions that are matched in linear time, whatever the text.

import { createRequire } from 'node:module'
import type { Finding } from './finding.ts'

export type OwnPattern = { readonly name: string; readonly pattern: string }

const PATTERN_MAX = 1_024
const load = createRequire(import.meta.url)
let engine: typeof import('re2js') | undefined

const compile = (pattern: string): import('re2js').RE2JS => {
  engine ??= load('re2js') as typeof import('re2js')
  return engine.RE2JS.compile(pattern)
}

/** Why a pattern cannot be one; undefined: it can. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > PATTERN_MAX) return `it has ${pattern.length} characters; at most ${PATTERN_MAX}`
  try {
    return compile(pattern).matcher('').find() ? 'it matches a text in which there is nothing' : undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read'
  }
}

export class OwnPatterns {
  readonly #patterns: readonly { readonly name: string; readonly compiled: import('re2js').RE2JS }[]

  constructor(patterns: readonly OwnPattern[]) {
    this.#patterns = patterns.map(({ name, pattern }) => ({ name, compiled: compile(pattern) }))
  }

  get isEmpty(): boolean {
    return this.#patterns.length === 0
  }

  find(text: string, into: Finding[]): void {
    for (const { name, compiled } of this.#patterns) {
      const matcher = compiled.matcher(text)
      while (matcher.find()) {
        const group = matcher.groupCount() > 0 && matcher.start(1) >= 0 ? 1 : 0
        const [from, to] = [matcher.start(group), matcher.end(group)]
        if (to > from) into.push({ from, to, name })
      }
    }
  }
}
