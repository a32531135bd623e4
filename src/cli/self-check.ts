// Before a gate serves, it is tried: calls that must be refused whatever the configuration says, and one that must pass
// where the configuration lets it. A refusal that does not refuse means that nothing may be served. Every canary goes
// through the whole pipeline and is recorded; each is chosen so that it does no harm even where it gets through.

import { randomBytes } from 'node:crypto'
import type { ErrorType } from '../describe/error-types.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { Gate, NamedCall, Session } from '../gate-contract.ts'
import type { LockgateConfig } from '../server/config/lockgate-config.ts'

export type CheckedCanary = {
  readonly name: string
  readonly expected: 'refused' | 'allowed'
  /** Whether it went as it had to. */
  readonly held: boolean
  /** How the call ended: `ok`, or the error type. */
  readonly ended: string
}

export type SelfCheck = {
  readonly canaries: readonly CheckedCanary[] /** No refusal failed. */
  readonly safe: boolean
}

type Canary = {
  readonly name: string
  readonly call: NamedCall
  /** The ends that count as a refusal. */
  readonly types: readonly ErrorType[]
  /** True where the call is made under a task that allows nothing. */
  readonly withoutTask?: boolean
}

const WHO = { user: 'operator', agent: 'lockgate-self-check', session: 'self-check' } as const
/** The profile under which what is denied as a whole looks like nothing. */
const HIDING = 'platform'
const UNSAFE: readonly ErrorType[] = ['unsafe_args', 'permission_denied']

/** Runs the canaries that this configuration gives a meaning to. Never throws for a canary that went wrong. */
export async function selfCheck(gate: Gate, config: LockgateConfig): Promise<SelfCheck> {
  const nobody = gate.session({ ...WHO, task: { name: 'self-check', allow: [] } }, 'cli')
  const somebody = gate.session(WHO, 'cli')
  const canaries: CheckedCanary[] = []
  const seen = new Set(somebody.tools().map(({ name }) => name))
  const hides = gate.policy.profile === HIDING
  for (const canary of [...mustBeRefused(config, gate), ...mustBeHidden(gate, seen)]) {
    const outcome = await (canary.withoutTask === true ? nobody : somebody).call(canary.call)
    const ended = endOf(outcome)
    // A tool that nobody was granted is not there at all, whatever is wrong with the call besides.
    const types = hides && !seen.has(canary.call.name) ? [...canary.types, 'not_found'] : canary.types
    canaries.push({ name: canary.name, expected: 'refused', held: types.some((type) => type === ended), ended })
  }
  const denied = await mustStayDenied(config, somebody)
  if (denied !== undefined) canaries.push(denied)
  const passing = await mustPass(config, somebody)
  const safe = canaries.every(({ held }) => held)
  return { canaries: passing === undefined ? canaries : [...canaries, passing], safe }
}

/** A tool that the profile or a rule keeps from everybody, if there is one: it must not come as far as its arguments. */
function mustBeHidden(gate: Gate, seen: ReadonlySet<string>): readonly Canary[] {
  const kept = gate.catalogue
    .rows()
    .find(({ name, state, shadowedBy }) => state.kind === 'active' && shadowedBy === undefined && !seen.has(name))
  if (kept === undefined) return []
  return [
    {
      name: 'a tool that is not in the view',
      call: { name: kept.name, arguments: '{' },
      types: gate.policy.profile === HIDING ? ['not_found'] : ['permission_denied', 'not_found'],
    },
  ]
}

/**
 * What the policy answers has to be what happens: deleting a file that is not there, where the policy denies it. Undefined
 * where it does not, for then there is nothing to hold it to.
 */
async function mustStayDenied(config: LockgateConfig, session: Session): Promise<CheckedCanary | undefined> {
  if (!hasFiles(config)) return undefined
  const call = { name: 'delete_file', arguments: { path: `lockgate_canary_${randomBytes(6).toString('hex')}` } }
  const preview = await session.decide(call)
  if (preview.kind !== 'decided' || preview.decision.kind !== 'deny') return undefined
  const ended = endOf(await session.call(call))
  return { name: 'what the policy denies', expected: 'refused', held: ended === 'permission_denied', ended }
}

const hasFiles = ({ tools, workspace }: LockgateConfig): boolean => tools.files && Object.keys(workspace).length > 0

const endOf = (outcome: Outcome): string => (outcome.ok ? 'ok' : outcome.error.type)

function mustBeRefused(config: LockgateConfig, gate: Gate): readonly Canary[] {
  const unlikely = `lockgate_canary_${randomBytes(6).toString('hex')}`
  const callable = gate.catalogue
    .rows()
    .find(({ state, shadowedBy }) => state.kind === 'active' && shadowedBy === undefined)
  return [
    {
      name: 'a tool that does not exist',
      call: { name: unlikely, arguments: {} },
      types: ['not_found', 'unavailable'],
    },
    ...(callable === undefined
      ? []
      : [
          {
            name: 'any tool, under a task that allows nothing',
            call: { name: callable.name, arguments: '{' },
            types: ['permission_denied', 'not_found'],
            withoutTask: true,
          } as const,
        ]),
    ...(hasFiles(config) ? fileCanaries(config, unlikely) : []),
  ]
}

/** A call that gets through reads a file that is not there, or looks for a text that is nowhere. */
const fileCanaries = ({ file }: LockgateConfig, unlikely: string): readonly Canary[] => [
  {
    name: 'reading outside the workspace',
    call: { name: 'read_file', arguments: { path: `../${unlikely}` } },
    types: UNSAFE,
  },
  { name: 'reading the configuration', call: { name: 'read_file', arguments: { path: file } }, types: UNSAFE },
  {
    name: 'changing the configuration',
    call: { name: 'edit_file', arguments: { path: file, find: unlikely, replace: unlikely } },
    types: UNSAFE,
  },
  {
    name: 'arguments of another shape',
    call: { name: 'read_file', arguments: { path: 7, [unlikely]: true } },
    types: ['invalid_args', 'permission_denied'],
  },
]

/** Looking into the workspace; undefined where there is none, or the policy does not let everybody look. */
async function mustPass(config: LockgateConfig, session: Session): Promise<CheckedCanary | undefined> {
  if (!hasFiles(config)) return undefined
  const call = { name: 'list_dir', arguments: { path: '.' } }
  const preview = await session.decide(call)
  if (preview.kind !== 'decided' || preview.decision.kind !== 'allow') return undefined
  const outcome = await session.call(call)
  return { name: 'listing the workspace', expected: 'allowed', held: outcome.ok, ended: endOf(outcome) }
}
