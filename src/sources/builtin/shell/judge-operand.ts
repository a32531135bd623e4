// Judges one operand or value by its slot: whether it may be given, and which part of it names something in the workspace.
// It opens and resolves nothing; that a path stays inside is found out by whoever resolves what is named here.

import type { CompiledSlot } from './compiled-grammar.ts'
import { readPathspec, readRevision } from './git-words.ts'
import { type JudgedOperand, operandRefused as refused } from './judged-operand.ts'
import { shownArgument } from './shown-argument.ts'

/** What the grammar and the other arguments say about an operand. */
export type OperandPlace = {
  readonly slot: CompiledSlot
  readonly walks: boolean
  /** `-` stands for the standard input. */
  readonly stdin: boolean
  /** A revision that may turn out to be a path: git asks the disk, and so it is judged as both. */
  readonly mayBePath: boolean
}

/** What is held against a pattern: linear time in a megabyte of arguments would still be long. */
const PATTERNED_MAX = 4_096
/** What may stand before a path in its argument, and how many of its colons are tried. */
const BEHIND_MAX = 512
const COLONS_MAX = 8

const NOTHING: JudgedOperand = { kind: 'ok', paths: [], bounds: 'nothing' }

export function judgeOperand(text: string, place: OperandPlace): JudgedOperand {
  const { slot } = place
  const misfit = misfitOf(text, slot)
  if (misfit !== undefined) return refused(misfit)
  switch (slot.kind) {
    case 'path':
      return judgePath(text, place)
    case 'pathspec':
      return readPathspec(text)
    case 'revision':
      return readRevision(text, place.mayBePath)
    case 'text':
    case 'number':
      return NOTHING
    case 'none':
      return refused(`${shownArgument(text)} is one argument too many`)
  }
}

function misfitOf(text: string, { oneOf, pattern }: CompiledSlot): string | undefined {
  if (oneOf !== undefined && !oneOf.includes(text))
    return `${shownArgument(text)} is none of ${oneOf.map((one) => `\`${one}\``).join(', ')}`
  if (pattern !== undefined && text.length > PATTERNED_MAX)
    return `${shownArgument(text)} is longer than ${PATTERNED_MAX} characters`
  if (pattern !== undefined && !pattern.test(text))
    return `${shownArgument(text)} does not have the form that is allowed here`
  return undefined
}

function judgePath(text: string, { slot, walks, stdin }: OperandPlace): JudgedOperand {
  if (stdin && text === '-') return { kind: 'ok', paths: [], bounds: 'only' }
  const start = slot.behind === undefined ? 0 : startBehind(text, slot.behind)
  if (start === undefined) return refused(`${shownArgument(text)} does not have the form that is allowed here`)
  if (start === text.length) return refused('a path is empty')
  const stays = start === 0 ? {} : ({ stays: true } as const)
  return { kind: 'ok', paths: [{ start, below: walks, ...stays }], bounds: 'only' }
}

/** Where the path begins in an argument that holds something else before it, up to a colon. */
function startBehind(text: string, behind: NonNullable<CompiledSlot['behind']>): number | undefined {
  let colon = text.indexOf(':')
  for (let tries = 0; tries < COLONS_MAX && colon >= 0 && colon < BEHIND_MAX; tries++) {
    if (behind.test(text.slice(0, colon + 1))) return colon + 1
    colon = text.indexOf(':', colon + 1)
  }
  return undefined
}
