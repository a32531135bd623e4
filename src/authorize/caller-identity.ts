// Who asks, as the host or a credential says it: checked, bounded and frozen before anything is decided for it. Nothing in
// here comes from a model, and nothing is repaired: an identity that is not exactly what it claims is none.

import { compileNameGlob } from '../base/glob.ts'
import type { Caller, Task } from '../describe/caller.ts'
import { LAYERS, type Layer } from '../describe/layer.ts'
import { hiddenIn } from '../machine/visible-name.ts'
import { isPlainObject, nameOf } from './option-reader.ts'

const KEYS = ['tenant', 'user', 'agent', 'roles', 'session', 'task', 'step', 'layers']
const TASK_KEYS = ['name', 'allow']
const TEXT_MAX = 256
const ROLES_MAX = 64
const ALLOW_MAX = 1_000
/** Callers that work for each other, one for the next. */
const ANCESTORS_MAX = 16

/** Whoever says nothing is the one user of a gate on their own machine, with no role and no task. */
export const LOCAL_CALLER: Caller = Object.freeze({
  tenant: 'local',
  user: 'local',
  agent: 'agent',
  roles: Object.freeze([]),
  session: 'default',
})

export type CallerRead =
  | { readonly kind: 'ok'; readonly caller: Caller }
  | { readonly kind: 'bad'; readonly reason: string }

type Read<Value> = { readonly kind: 'ok'; readonly value: Value } | { readonly kind: 'bad'; readonly reason: string }

const bad = (reason: string): { readonly kind: 'bad'; readonly reason: string } => ({ kind: 'bad', reason })
const ok = <Value>(value: Value): { readonly kind: 'ok'; readonly value: Value } => ({ kind: 'ok', value })

/**
 * Reads a caller. What is left out is taken from `defaults`, and from `LOCAL_CALLER` where these are silent; what is there
 * has to hold. Texts have 1 to 256 characters and hide none; at most 64 roles; a task's `allow` at most 1,000 names or
 * globs, of which an empty list allows nothing; `layers` by name, of which an empty list leaves no tool.
 */
export function readCaller(value: unknown, defaults: Partial<Caller> = {}): CallerRead {
  if (!isPlainObject(value)) return bad(`a caller must be an object, not ${nameOf(value)}`)
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) return bad(`unknown key \`${cut(unknown)}\` in a caller; known: ${KEYS.join(', ')}`)
  const given = new Map<string, unknown>([...Object.entries(LOCAL_CALLER), ...present(defaults), ...present(value)])
  const texts = new Map<string, string>()
  for (const key of ['tenant', 'user', 'agent', 'session']) {
    const text = readText(given.get(key), key)
    if (text.kind === 'bad') return text
    texts.set(key, text.value)
  }
  const roles = readTexts(given.get('roles'), 'roles', ROLES_MAX)
  if (roles.kind === 'bad') return roles
  const task = given.has('task') ? readTask(given.get('task')) : ok(undefined)
  if (task.kind === 'bad') return task
  const step = given.has('step') ? readText(given.get('step'), 'step') : ok(undefined)
  if (step.kind === 'bad') return step
  const layers = given.has('layers') ? readLayers(given.get('layers')) : ok(undefined)
  if (layers.kind === 'bad') return layers
  const [tenant = '', user = '', agent = '', session = ''] = texts.values()
  const caller = {
    tenant,
    user,
    agent,
    roles: roles.value,
    session,
    ...(task.value === undefined ? {} : { task: task.value }),
    ...(step.value === undefined ? {} : { step: step.value }),
    ...(layers.value === undefined ? {} : { layers: layers.value }),
  }
  return { kind: 'ok', caller: Object.freeze(caller) }
}

/**
 * Reads a caller that works for `parent`. It is of the same tenant and user; what is left out is the parent's, but for the
 * roles where `inherits` is false: then it has those that are named and no other. INVARIANT child-within-parent: it cannot
 * have a role or a layer that the parent does not have, and the parent stays beside it, so that the policy asks about both.
 */
export function readChild(value: unknown, parent: Caller, inherits: boolean): CallerRead {
  if (!isPlainObject(value)) return bad(`a child must be an object, not ${nameOf(value)}`)
  const unknown = Object.keys(value).find((key) => !CHILD_KEYS.includes(key))
  if (unknown !== undefined) return bad(`unknown key \`${cut(unknown)}\` in a child; known: ${CHILD_KEYS.join(', ')}`)
  if (ancestorsOf(parent) >= ANCESTORS_MAX) return bad(`over ${ANCESTORS_MAX} callers would work for each other`)
  const { parent: _, ...own } = parent
  const read = readCaller(value, inherits ? own : { ...own, roles: [] })
  if (read.kind === 'bad') return read
  const { roles, layers } = read.caller
  const role = roles.find((name) => !parent.roles.includes(name))
  if (role !== undefined) return bad(`\`roles\`: \`${cut(role)}\` is none of the roles that the parent has`)
  const layer = layers?.find((name) => parent.layers !== undefined && !parent.layers.includes(name))
  if (layer !== undefined) return bad(`\`layers\`: \`${layer}\` is not in force for the parent`)
  return { kind: 'ok', caller: Object.freeze({ ...read.caller, parent }) }
}

const CHILD_KEYS = ['agent', 'roles', 'session', 'task', 'step', 'layers']

function ancestorsOf(caller: Caller): number {
  let count = 0
  for (let above = caller.parent; above !== undefined; above = above.parent) count += 1
  return count
}

function readLayers(value: unknown): Read<readonly Layer[]> {
  const texts = readTexts(value, 'layers', LAYERS.length)
  if (texts.kind === 'bad') return texts
  const layers = LAYERS.filter((layer) => texts.value.includes(layer))
  const unknown = texts.value.find((text) => !layers.some((layer) => layer === text))
  return unknown === undefined
    ? ok(Object.freeze(layers))
    : bad(`\`layers\`: \`${cut(unknown)}\` is no layer; known: ${LAYERS.join(', ')}`)
}

/** Own fields that say something; undefined is what a host writes for nothing. */
const present = (given: object): readonly (readonly [string, unknown])[] =>
  Object.entries(given).filter(([, field]) => field !== undefined)

function readTask(value: unknown): Read<Task> {
  if (!isPlainObject(value)) return bad(`\`task\` must be an object, not ${nameOf(value)}`)
  const fields = new Map(Object.entries(value))
  const unknown = [...fields.keys()].find((key) => !TASK_KEYS.includes(key))
  if (unknown !== undefined) return bad(`unknown key \`${cut(unknown)}\` in a task; known: ${TASK_KEYS.join(', ')}`)
  const name = readText(fields.get('name'), 'task.name')
  if (name.kind === 'bad') return name
  if (!fields.has('allow')) return ok(Object.freeze({ name: name.value }))
  // INVARIANT closed: `allow` that is there and says nothing is no list, and never the same as a task without one.
  const allow = readTexts(fields.get('allow'), 'task.allow', ALLOW_MAX)
  if (allow.kind === 'bad') return allow
  for (const pattern of allow.value) {
    const glob = compileNameGlob(pattern)
    if (glob.kind === 'bad') return bad(`\`task.allow\`: \`${cut(pattern)}\` is no glob: ${glob.reason}`)
  }
  return ok(Object.freeze({ name: name.value, allow: allow.value }))
}

function readTexts(value: unknown, key: string, max: number): Read<readonly string[]> {
  if (!Array.isArray(value)) return bad(`\`${key}\` must be a list of texts, not ${nameOf(value)}`)
  if (value.length > max) return bad(`\`${key}\` has more than ${max} entries`)
  const texts: string[] = []
  for (const item of value) {
    const text = readText(item, key)
    if (text.kind === 'bad') return text
    texts.push(text.value)
  }
  return ok(Object.freeze(texts))
}

function readText(value: unknown, key: string): Read<string> {
  if (typeof value !== 'string') return bad(`\`${key}\` must be a text, not ${nameOf(value)}`)
  if (value.trim() === '') return bad(`\`${key}\` is empty`)
  if (value.length > TEXT_MAX) return bad(`\`${key}\` is longer than ${TEXT_MAX} characters`)
  if (!value.isWellFormed()) return bad(`\`${key}\` holds half a character`)
  const hidden = hiddenIn(value)
  return hidden === undefined ? ok(value) : bad(`\`${key}\` holds ${hidden}`)
}

const cut = (text: string): string => JSON.stringify(text.slice(0, 40)).slice(1, -1)
