// What tests of this room share: callers, entries and checked inputs, made without any other room.

import type { JsonObject } from '../base/json-value.ts'
import type { CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import type { Entry } from '../describe/entry.ts'
import { readTouches, TOUCHES_UNKNOWN } from '../describe/resource.ts'
import type { BoundText, CommandFacts, Tool } from '../describe/tool.ts'
import { loadPolicy, type Policy, type PolicyContext } from './policy.ts'
import type { PolicyOptions } from './policy-options.ts'

export const ROOTS: ReadonlyMap<string, string> = new Map([['main', '/ws']])

export const ANA: Caller = Object.freeze({
  tenant: 'acme',
  user: 'ana',
  agent: 'helper',
  roles: Object.freeze(['dev']),
  session: 's1',
})

export const caller = (more: Partial<Caller> = {}): Caller => Object.freeze({ ...ANA, ...more })

type EntryParts = {
  readonly effect?: Tool['effect']
  readonly source?: string
  readonly admit?: unknown
  readonly resolve?: Tool['resolve']
  readonly walks?: boolean
  readonly place?: Tool['place']
  readonly sandbox?: Tool['sandbox']
  readonly command?: Tool['command']
  readonly touches?: Tool['touches']
  /** Of its input: name of each argument → its JSON Schema. */
  readonly takes?: JsonObject
}

export function entry(
  name: string,
  { effect = 'write', source = 'host', admit, takes, ...more }: EntryParts = {},
): Entry {
  const tool = {
    name,
    version: '1.0.0',
    description: 'does it',
    input: { type: 'object' },
    effect,
    ...(admit === undefined ? {} : { admit }),
    ...Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined)),
  }
  return Object.freeze({
    tool: Object.freeze(tool) as unknown as Tool,
    source,
    layer: 'builtin',
    state: { kind: 'active' } as const,
    fingerprint: `fingerprint-of-${name}`,
    listing: takes === undefined ? undefined : listing(name, takes),
    checkInput: undefined,
    checkOutput: undefined,
  })
}

const listing = (name: string, properties: JsonObject): NonNullable<Entry['listing']> => ({
  name,
  description: 'does it',
  inputSchema: { type: 'object', properties },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
})

type InputParts = {
  readonly effect?: DeclaredEffect
  readonly touches?: unknown
  readonly command?: CommandFacts
  readonly binds?: readonly BoundText[]
}

/** `touches` as a tool would answer it; left out, the tool declares none. */
export function input(args: JsonObject = {}, { effect = 'write', touches, ...more }: InputParts = {}): CheckedInput {
  const read = touches === undefined ? TOUCHES_UNKNOWN : readTouches(touches)
  return Object.freeze({ kind: 'ok', args, text: JSON.stringify(args), effect, touches: read, ...more })
}

/** The policy of these options; a problem is a failed test. */
export function policyOf(options: PolicyOptions, context: Partial<PolicyContext> = {}): Policy {
  const loaded = loadPolicy(options, { roots: ROOTS, ...context })
  if (loaded.kind === 'bad') throw new Error(JSON.stringify(loaded.problems))
  return loaded.policy
}
