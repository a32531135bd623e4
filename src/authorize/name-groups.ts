// The policy's named sets of tools: `groups: { repo: ['git_*'] }`. A rule or step that speaks of a group that is not there
// is an error with the name that was most likely meant; an empty group matches nothing.

import { didYouMean } from '../base/did-you-mean.ts'
import { NameCondition, readToolNames } from './name-condition.ts'
import type { OptionReader } from './option-reader.ts'

export type Groups = ReadonlyMap<string, NameCondition>

/** The tools of some groups: in one of them is enough. */
export type GroupCondition = { readonly names: readonly string[]; readonly tools: NameCondition }

const NAME = /^[A-Za-z0-9_.-]{1,64}$/

export function readGroups(value: unknown, key: string, reader: OptionReader): Groups {
  const groups = new Map<string, NameCondition>()
  if (value === undefined) return groups
  for (const [name, given] of reader.fields(value, key) ?? []) {
    const at = `${key}.${name}`
    if (!NAME.test(name)) reader.problem(at, 'a group is named with 1 to 64 letters, digits, `_`, `.` and `-`')
    if (!Array.isArray(given)) {
      reader.problem(at, 'must be a list of tool names and globs')
      continue
    }
    const tools = readToolNames(given, at, reader)
    if (tools !== undefined) groups.set(name, tools)
  }
  return groups
}

export function readGroupNames(
  value: unknown,
  key: string,
  groups: Groups,
  reader: OptionReader,
): GroupCondition | undefined {
  const names = reader.texts(value, key)
  if (names === undefined) return undefined
  const unknown = names.filter((name) => !groups.has(name))
  for (const name of unknown) {
    const meant = didYouMean(name, groups.keys())
    const hint = meant === undefined ? '' : `; did you mean \`${meant}\`?`
    const known = groups.size === 0 ? 'the policy has none' : `known: ${[...groups.keys()].join(', ')}`
    reader.problem(key, `\`${name}\` is no group${hint} (${known})`)
  }
  if (unknown.length > 0) return undefined
  // INVARIANT closed: an empty list of groups, and an empty group, has no tool.
  return { names, tools: new NameCondition(names.flatMap((name) => groups.get(name)?.globs ?? [])) }
}
