// Which tools a guard of the host stands before: by name or glob, by family and by source. All keys that are given have to hold.

import { compileNameGlob } from '../base/glob.ts'
import type { Entry } from '../describe/entry.ts'

export type SubjectRead =
  | { readonly kind: 'ok'; readonly concerns: (entry: Entry) => boolean }
  | { readonly kind: 'bad'; readonly reason: string }

const KEYS = ['tool', 'family', 'source']

/** INVARIANT closed: a subject that names nothing, or something that is no glob, is refused and never stands for all. */
export function readSubject(subject: unknown): SubjectRead {
  if (typeof subject !== 'object' || subject === null || Array.isArray(subject))
    return {
      kind: 'bad',
      reason: '`for` names tools: `{ tool, family, source }`, each a name, a glob or a list of them',
    }
  const given = Object.entries(subject).filter(([, value]) => value !== undefined)
  const unknown = given.find(([key]) => !KEYS.includes(key))
  if (unknown !== undefined)
    return { kind: 'bad', reason: `\`for.${unknown[0]}\` is unknown; known: ${KEYS.join(', ')}` }
  if (given.length === 0) return { kind: 'bad', reason: '`for` is empty; `{ tool: "*" }` is every tool' }
  const tests: ((entry: Entry) => boolean)[] = []
  for (const [key, value] of given) {
    const names = namesOf(value)
    if (names.kind === 'bad') return { kind: 'bad', reason: `\`for.${key}\` ${names.reason}` }
    tests.push((entry) => names.matches(nameOf(entry, key)))
  }
  return { kind: 'ok', concerns: (entry) => tests.every((holds) => holds(entry)) }
}

/** A tool of no family is of none that a guard could name: a glob that fits everything fits a name, and this is none. */
function nameOf({ tool, family, source }: Entry, key: string): string | undefined {
  if (key === 'tool') return tool.name
  return key === 'family' ? family : source
}

type Names =
  | { readonly kind: 'ok'; matches(name: string | undefined): boolean }
  | { readonly kind: 'bad'; readonly reason: string }

function namesOf(value: unknown): Names {
  const texts: unknown[] = Array.isArray(value) ? value : [value]
  if (texts.length === 0) return { kind: 'bad', reason: 'is an empty list' }
  const globs = texts.map((text) => (typeof text === 'string' && text !== '' ? compileNameGlob(text) : undefined))
  const kept = globs.flatMap((glob) => (glob?.kind === 'ok' ? [glob] : []))
  if (kept.length < globs.length) return { kind: 'bad', reason: 'holds something that is no name and no glob' }
  return { kind: 'ok', matches: (name) => name !== undefined && kept.some((glob) => glob.matches(name)) }
}
