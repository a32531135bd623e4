// Conditions on who asks. A role holds where the caller has one that fits; a task or a step only
// where the caller has one.

import type { Caller } from '../describe/caller.ts'
import { type NameCondition, readNames } from './name-condition.ts'
import type { OptionReader } from './option-reader.ts'

const KEYS = ['agent', 'user', 'role', 'tenant', 'task', 'step'] as const
type Key = (typeof KEYS)[number]

export type CallerCondition = { readonly key: Key; readonly names: NameCondition }

export function readCallers(value: unknown, key: string, reader: OptionReader): readonly CallerCondition[] | undefined {
  const fields = reader.fields(value, key, KEYS)
  if (fields === undefined) return undefined
  if (fields.size === 0) return reader.problem(key, 'names no caller, so it narrows nothing; leave it out')
  const conditions: CallerCondition[] = []
  for (const name of KEYS) {
    if (!fields.has(name)) continue
    const names = readNames(fields.get(name), `${key}.${name}`, reader)
    if (names !== undefined) conditions.push({ key: name, names })
  }
  return conditions.length === fields.size ? conditions : undefined
}

export function callerHolds({ key, names }: CallerCondition, caller: Caller): boolean {
  if (key === 'role') return caller.roles.some((role) => names.matches(role))
  if (key === 'task') return caller.task !== undefined && names.matches(caller.task.name)
  const own = caller[key]
  return own !== undefined && names.matches(own)
}
