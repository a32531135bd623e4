// A grammar made ready for judging: sets and maps instead of lists, patterns that are matched in linear time. Made once for
// each grammar; it refuses a pattern that cannot be matched so.

import { type LinearPattern, readPattern } from '../../../describe/schema/linear-pattern.ts'
import type { OperandKind, OperandSlot, ProgramGrammar } from './program-grammar.ts'

export type CompiledSlot = {
  readonly kind: OperandKind
  readonly oneOf: readonly string[] | undefined
  readonly pattern: LinearPattern | undefined
  readonly behind: LinearPattern | undefined
}

export type CompiledGrammar = {
  readonly flags: ReadonlySet<string>
  readonly clusters: ReadonlySet<string>
  readonly values: ReadonlyMap<string, CompiledSlot>
  /** By the name without `=`: those whose value can only be joined. */
  readonly joined: ReadonlyMap<string, CompiledSlot>
  readonly forms: readonly LinearPattern[]
  readonly operands: readonly CompiledSlot[]
  readonly behindEnds: CompiledSlot | undefined
  readonly subcommands: ReadonlyMap<string, ProgramGrammar>
  readonly instead: ReadonlyMap<string, string>
}

const NUMBER = '[0-9]{1,9}'
const made = new WeakMap<ProgramGrammar, CompiledGrammar>()

/** @throws TypeError for a pattern that is none; `readPrograms` has refused those of operators before. */
export function compiledGrammar(grammar: ProgramGrammar): CompiledGrammar {
  const known = made.get(grammar)
  if (known !== undefined) return known
  const all = Object.entries(grammar.values ?? {}).map(([name, slot]) => [name, compiledSlot(slot)] as const)
  const compiled: CompiledGrammar = {
    flags: new Set(grammar.flags),
    clusters: new Set(grammar.clusters),
    values: new Map(all.filter(([name]) => !name.endsWith('='))),
    joined: new Map(all.filter(([name]) => name.endsWith('=')).map(([name, slot]) => [name.slice(0, -1), slot])),
    forms: (grammar.forms ?? []).map(wholePattern),
    operands: (grammar.operands ?? []).map(compiledSlot),
    behindEnds: grammar.behindEnds === undefined ? undefined : compiledSlot(grammar.behindEnds),
    subcommands: new Map(Object.entries(grammar.subcommands ?? {})),
    instead: new Map(Object.entries(grammar.instead ?? {})),
  }
  made.set(grammar, compiled)
  return compiled
}

function compiledSlot({ kind, oneOf, pattern, behind }: OperandSlot): CompiledSlot {
  const wanted = pattern ?? (kind === 'number' ? NUMBER : undefined)
  return {
    kind,
    oneOf,
    pattern: wanted === undefined ? undefined : wholePattern(wanted),
    behind: behind === undefined ? undefined : wholePattern(behind),
  }
}

function wholePattern(source: string): LinearPattern {
  const read = readPattern(`^(?:${source})$`)
  if (read.kind === 'bad') throw new TypeError(`a pattern of a program grammar cannot be used: ${read.reason}`)
  return read.pattern
}
