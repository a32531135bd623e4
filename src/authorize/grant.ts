// What a wider answer of a person covers. A grant turns an ask into an allow for the calls that fit it, and touches no deny:
// it is looked at only where the policy has answered `ask`, and only as far as that ask lets an answer reach.

import type { JsonObject, JsonValue } from '../base/json-value.ts'
import type { CheckedInput } from '../describe/call.ts'
import { type Caller, samePrincipal } from '../describe/caller.ts'
import { type Decision, REACHES, type Reach } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import { argumentHolds, readWhere } from './argument-condition.ts'
import { FileScope } from './file-scope.ts'
import { OptionReader } from './option-reader.ts'

/** Argument name → globs that the argument has to fit. */
export type Where = Readonly<Record<string, readonly string[]>>

/** Of a grant what decides which calls it covers. */
export type Granted = {
  readonly reach: Reach
  readonly tenant: string
  readonly user: string
  readonly agent: string
  readonly session?: string
  readonly workspace: string
  readonly task?: string
  readonly tool: string
  readonly fingerprint: string
  readonly effect: string
  readonly where?: Where
  readonly onlyNamed?: true
  readonly policyVersion: string
  /** What asked, when the person answered. */
  readonly askedBy: readonly string[]
}

export type AskingCall = {
  readonly caller: Caller
  /** Names the workspace, as in the digest of the call. */
  readonly workspace: string
  readonly entry: Pick<Entry, 'tool' | 'fingerprint'>
  readonly input: Pick<CheckedInput, 'args' | 'effect' | 'touches' | 'binds'>
  readonly decision: Decision
  /** Everything that asks about the call: rules and defaults. */
  readonly askedBy: readonly string[]
  /** Workspace roots by name. */
  readonly roots: ReadonlyMap<string, string>
}

/** What nobody can take back, and what nobody vouches for, is answered call by call. */
export const mayReachFurther = (effect: string): boolean => effect !== 'destructive' && effect !== 'undeclared'

/** A script that an answer was for may be another one at the next call: whoever said yes has not read that. */
export const bindsText = ({ binds = [] }: Pick<CheckedInput, 'binds'>): boolean => binds.length > 0

/** Whether an ask lets an answer reach so far. */
export const reachesTo = ({ reach = 'once' }: Decision, wanted: Reach): boolean =>
  REACHES.indexOf(wanted) <= REACHES.indexOf(reach)

/** Whether a grant covers a call that asks. Whether it is still live is the store's to say. */
export function grantCovers(grant: Granted, call: AskingCall): boolean {
  const { caller, workspace, entry, input, decision, roots } = call
  return (
    // INVARIANT deny-wins: a grant can satisfy an ask, and never outranks a deny.
    decision.kind === 'ask' &&
    mayReachFurther(input.effect) &&
    !bindsText(input) &&
    grant.reach !== 'once' &&
    reachesTo(decision, grant.reach) &&
    samePrincipal(grant, caller) &&
    (grant.reach !== 'session' || grant.session === caller.session) &&
    grant.workspace === workspace &&
    grant.task === caller.task?.name &&
    grant.tool === entry.tool.name &&
    grant.fingerprint === entry.fingerprint &&
    grant.effect === input.effect &&
    grant.policyVersion === decision.policyVersion &&
    // A person who was asked by one rule has said nothing to another one.
    call.askedBy.length > 0 &&
    call.askedBy.every((asking) => grant.askedBy.includes(asking)) &&
    argumentsFit(grant, input, roots)
  )
}

function argumentsFit(
  { reach, where, onlyNamed }: Granted,
  input: AskingCall['input'],
  roots: ReadonlyMap<string, string>,
): boolean {
  if (where === undefined) return reach === 'session' && onlyNamed !== true
  if (onlyNamed === true) return hasExactly(input.args, where)
  if (!touchesOneFile(input)) return false
  const conditions = readWhere(where, 'where', new OptionReader({}, []))
  // INVARIANT closed: globs that cannot be read cover nothing.
  if (conditions === undefined) return false
  const argued = {
    args: input.args,
    scope: new FileScope(roots.values()),
    // Also of a tool that resolves its arguments: what could be read in two ways is covered in neither.
    resolved: false,
    filtered: false,
    pathless: false,
    pathAsked: undefined,
    folders: () => [],
    files: () => [],
  }
  // Judged like an allow rule: every value has to fit, and what is not there does not.
  return conditions.every((condition) => argumentHolds(condition, 'wide', argued))
}

/** These very values and no others: not another spelling of a path, not a list of them, not a number for its digits. */
function hasExactly(args: JsonObject, where: Where): boolean {
  const names = Object.keys(where)
  if (names.length === 0 || Object.keys(args).some((name) => !Object.hasOwn(where, name))) return false
  return names.every((name) => {
    const [exact, ...others] = where[name] ?? []
    return Object.hasOwn(args, name) && others.length === 0 && exact !== undefined && exactly(args[name]) === exact
  })
}

/** The text as a glob that matches nothing else. */
export const literal = (text: string): string => text.replaceAll(/[\\*?[\]{},!]/g, String.raw`\$&`)

/** One value as a glob; undefined where it is no single value. A text that reads like a number or boolean begins with `\`. */
export function exactly(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value)
  if (typeof value !== 'string') return undefined
  return /^(?:true|false|-?\d.*)$/s.test(value) ? `\\${value}` : literal(value)
}

/** A pattern over a path speaks of one file or folder; a call that touches another one besides is another matter. */
export function touchesOneFile({ touches }: Pick<CheckedInput, 'touches'>): boolean {
  if (touches.kind !== 'known') return false
  const keys = new Set(touches.resources.map(({ key }) => key))
  return keys.size === 1 && [...keys].every((key) => key.startsWith('file:'))
}
