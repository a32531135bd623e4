// Every program grammar that comes with the package. A name says nothing here: only programs that an operator names may be run,
// and `inspect` means those that only look.

import type { ProgramGrammar } from './program-grammar.ts'
import { GIT } from './shipped-programs-git.ts'
import { NPM } from './shipped-programs-npm.ts'
import { SEARCH_PROGRAMS } from './shipped-programs-search.ts'
import { TEXT_PROGRAMS } from './shipped-programs-text.ts'

/** Alone, it runs what stands on its standard input. */
const node: ProgramGrammar = {
  operands: [{ kind: 'text', oneOf: ['--version', '-v'] }],
  least: 1,
  literal: true,
  reads: true,
}

/** Those of `inspect`. */
export const INSPECTING: ReadonlyMap<string, ProgramGrammar> = new Map(
  Object.entries({ git: GIT, ...TEXT_PROGRAMS, ...SEARCH_PROGRAMS, node, npm: NPM }),
)

const NOTHING: ProgramGrammar = { reads: true }
const sleep: ProgramGrammar = {
  operands: [{ kind: 'number', pattern: '[0-9]{1,6}(?:\\.[0-9]{1,6})?[smh]?' }],
  least: 1,
  ends: false,
  reads: true,
}

/** All that can be named. */
export const SHIPPED: ReadonlyMap<string, ProgramGrammar> = new Map([
  ...INSPECTING,
  ['true', NOTHING],
  ['false', { ...NOTHING, benign: [1] }],
  ['sleep', sleep],
])
