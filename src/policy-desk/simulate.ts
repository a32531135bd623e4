// Recorded calls under other rules. Each is decided again from what its record holds, under the rules in force and under the
// changed ones; where a record does not hold enough to tell, that is said, and nothing is guessed. Runs no tool.

import type { Policy } from '../authorize/policy.ts'
import type { PolicyOptions } from '../authorize/policy-options.ts'
import { redactedArguments } from '../authorize/redacted-arguments.ts'
import type { JsonObject } from '../base/json-value.ts'
import type { CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import type { RecordedRange, SimulatedCall, Simulation } from '../gate-contract.ts'
import type { DeskParts } from './desk-parts.ts'
import { callOf } from './explain-call.ts'
import { type RecordedCall, recordedCalls, VERSION_KEPT } from './recorded-calls.ts'

/** Calls that are decided before other work of the process gets its turn. */
const BATCH = 256

/** @throws GateConfigError for rules that do not hold. */
export async function simulate(parts: DeskParts, options: PolicyOptions, range: RecordedRange): Promise<Simulation> {
  const loaded = parts.load(options)
  if (loaded.kind === 'bad') throw new GateConfigError(loaded.problems)
  const pair = { current: parts.policy(), changed: loaded.policy, against: range.against ?? 'current' }
  const differing: SimulatedCall[] = []
  const untold: Simulation['untold'][number][] = []
  let calls = 0
  for (const [index, recorded] of (await recordedCalls(parts.store, range)).entries()) {
    if (index % BATCH === BATCH - 1) await new Promise((resolve) => setImmediate(resolve))
    const compared = await compare(parts, pair, recorded)
    if (typeof compared === 'string') {
      untold.push({ callId: recorded.callId, tool: recorded.tool, why: compared })
      continue
    }
    calls += 1
    if (differs(compared)) differing.push(simulated(recorded, compared))
  }
  return { calls, differing, untold }
}

type Pair = { readonly current: Policy; readonly changed: Policy; readonly against: 'current' | 'recorded' }

type Compared = {
  readonly caller: Caller
  readonly before: Decision
  readonly beforeBy: SimulatedCall['beforeBy']
  readonly after: Decision
  /** `before` was decided anew, and has everything that a decision has. */
  readonly judged?: true
}

/** How far an answer of a person reaches, and where a call has to run, are part of the decision; a record does not tell them. */
const differs = ({ before, beforeBy, after, judged }: Compared): boolean =>
  before.kind !== after.kind ||
  (beforeBy === 'again' && before.kind === 'ask' && reachOf(before) !== reachOf(after)) ||
  (judged === true && placeOf(before) !== placeOf(after))

const placeOf = ({ place = [] }: Decision): string => place.toSorted().join(' ')

const reachOf = ({ reach = 'once' }: Decision): string => reach

const simulated = ({ callId, at, tool, args }: RecordedCall, { caller, before, beforeBy, after }: Compared) => ({
  ...{ callId, at, tool, caller, before, beforeBy, after },
  arguments: args.kind === 'whole' ? args.args : NOTHING,
})

const NOTHING: JsonObject = Object.freeze({})

/** The answers before and after, or why nothing can be said. */
async function compare(parts: DeskParts, pair: Pair, recorded: RecordedCall): Promise<Compared | string> {
  const { decision, caller: read, tool } = recorded
  if (read.kind === 'bad') return `its caller cannot be read from the record: ${read.reason}`
  const { caller } = read
  // What a task allowed is not recorded, and no rule can undo what it denied.
  if (decision.by === 'task') return { caller, before: decision, beforeBy: 'record', after: decision }
  const found = parts.catalogue.find(tool)
  if (found.kind === 'missing')
    return found.code === 'not_found' ? 'there is no such tool any more' : 'its tool cannot be called now'
  const misfit = pair.changed.fits(found.entry)
  if (misfit !== undefined) return `under the changed rules its tool would be held: ${misfit}`
  const input = await inputOf(parts, caller, found.entry, recorded)
  const after = judge(pair.changed, caller, found.entry, input)
  if (typeof after === 'string') return after
  if (pair.against === 'recorded' && isOfRules(decision)) return { caller, before: decision, beforeBy: 'record', after }
  const again = judge(pair.current, caller, found.entry, input)
  if (typeof again === 'string') return again
  if (!isOfRules(decision) || !pair.current.version.startsWith(decision.policyVersion))
    return { caller, before: again, beforeBy: 'again', after, judged: true }
  if (again.kind !== decision.kind)
    return `the same rules answer ${again.kind} now, where they answered ${decision.kind}: its tool, or what its arguments mean, has changed since`
  return { caller, before: again, beforeBy: 'record', after, judged: true }
}

/** Stops, the loop guard and faults are no word of the rules. */
const isOfRules = ({ by, policyVersion }: Decision): boolean =>
  by !== 'stop' && by !== 'loop' && by !== 'closed' && policyVersion.length >= VERSION_KEPT

/** What the decision can be made from, or why there is only what holds for all calls of the tool. `hidden`: arguments. */
type Seen =
  | { readonly kind: 'input'; readonly input: CheckedInput; readonly hidden: readonly string[] }
  | { readonly kind: 'none'; readonly why: string }

async function inputOf(parts: DeskParts, caller: Caller, entry: Entry, { args }: RecordedCall): Promise<Seen> {
  if (args.kind === 'unread')
    return { kind: 'none', why: 'it was denied before its arguments were read, and the changed rules look at them' }
  if (args.kind === 'cut') return { kind: 'none', why: 'its arguments were cut in the record, and rules look at them' }
  const hidden = redactedArguments(args.args)
  const checked = await parts.rooms.check(callOf(parts, caller, entry.tool.name, args.args), entry)
  if (checked.kind === 'ok') return { kind: 'input', input: checked, hidden }
  const why = hidden.length > 0 ? hiddenText(hidden) : `its tool refuses these arguments now: ${checked.message}`
  return { kind: 'none', why }
}

const hiddenText = (names: readonly string[]): string =>
  `${names.map((name) => `\`${name}\``).join(', ')} ${names.length === 1 ? 'was' : 'were'} redacted in the record, and rules look at ${names.length === 1 ? 'it' : 'them'}`

/** What a policy answers, or why that cannot be told. */
function judge(policy: Policy, caller: Caller, entry: Entry, seen: Seen): Decision | string {
  const admitted = policy.admit(caller, entry)
  if (admitted.kind === 'deny') return admitted.decision
  if (seen.kind === 'input') {
    const { hidden, input } = seen
    return hidden.length > 0 && policy.looksAt(caller, entry, input, hidden)
      ? hiddenText(hidden)
      : policy.decide(caller, entry, input)
  }
  const { decision, depends } = policy.outlook(caller, entry)
  return depends ? seen.why : decision
}
