// Where a call runs: one function from what the tool says, what the rules demand and what this machine can do. It refuses to
// let a call run anywhere else than where the operator wants it, and says why it runs where it does.

import type { Ending } from '../describe/call.ts'
import type { Decision } from '../describe/decision.ts'
import type { Place } from '../describe/place.ts'
import { refused } from '../describe/refused.ts'
import type { ChosenPlace, Tool } from '../describe/tool.ts'
import { type MachineAbilities, PROCESS_LIMITS, type ProcessLimit, type SandboxAbility } from '../machine/abilities.ts'

export type Choice =
  | { readonly kind: 'chosen'; readonly chosen: ChosenPlace }
  | { readonly kind: 'refused'; readonly ending: Ending }

export type PlaceTool = Pick<Tool, 'place' | 'sandbox' | 'limits'>

const OWN: Readonly<Record<Exclude<Place, 'sandbox' | 'child'>, ChosenPlace>> = {
  process: Object.freeze({ place: 'process', why: 'the tool runs in the gate itself' }),
  worker: Object.freeze({ place: 'worker', why: 'the tool names a module for a worker' }),
  upstream: Object.freeze({ place: 'upstream', why: 'another server does the work' }),
}

/** Whether the machine has to be asked: only commands can run in several places. */
export const asksMachine = ({ place }: PlaceTool): boolean => place === 'child'

/** `machine` is only looked at where `asksMachine`. */
export function choosePlace(
  tool: PlaceTool,
  decision: Decision | undefined,
  machine: MachineAbilities | undefined,
): Choice {
  const { place = 'process' } = tool
  const demanded = decision?.place
  if (place !== 'child') {
    const chosen = OWN[place]
    return demanded === undefined || demanded.includes(chosen.place) ? { kind: 'chosen', chosen } : elsewhere(decision)
  }
  const unkept = tool.sandbox === 'required' && machine !== undefined ? unkeptLimits(tool, machine) : []
  if (unkept.length > 0)
    return unavailable(`this machine cannot keep ${unkept.join(', ')}, and the tool must not run without`)
  return childPlace(tool, decision, machine?.sandbox)
}

function childPlace(tool: PlaceTool, decision: Decision | undefined, sandbox: SandboxAbility | undefined): Choice {
  const demanded = decision?.place
  const { sandbox: mode = 'preferred' } = tool
  const missing = sandbox?.kind === 'ready' ? undefined : (sandbox?.reason ?? 'nobody knows what this machine can do')
  // A sandbox is a child that can do less, so it is good for both demands.
  if (demanded !== undefined && !demanded.includes('child')) {
    if (!demanded.includes('sandbox')) return elsewhere(decision)
    if (missing !== undefined) return unavailable(missing)
    return chosen('sandbox', 'a rule lets it run only in a sandbox')
  }
  if (mode === 'off') return chosen('child', 'the sandbox is off for this tool')
  if (missing === undefined) return chosen('sandbox', `the sandbox is ${mode} and there is one`)
  if (mode === 'required') return unavailable(missing)
  return chosen('child', `a sandbox is preferred and there is none: ${missing}`)
}

/** Bounds of a tool that this machine does not enforce. */
export const unkeptLimits = ({ limits }: PlaceTool, machine: MachineAbilities): readonly ProcessLimit[] =>
  PROCESS_LIMITS.filter((limit) => limits?.[limit] !== undefined && machine.limits[limit].kind === 'unenforced')

const chosen = (place: Place, why: string): Choice => ({ kind: 'chosen', chosen: Object.freeze({ place, why }) })

/** INVARIANT closed: where the sandbox is needed and missing, nothing runs. */
const unavailable = (help: string): Choice => ({
  kind: 'refused',
  ending: refused(
    'unavailable',
    'this tool runs only inside bounds that this machine does not have; tell the operator',
    {
      retry: { advice: 'never' },
      help,
    },
  ),
})

function elsewhere(decision: Decision | undefined): Choice {
  const help = decision?.rule?.text
  return {
    kind: 'refused',
    ending: refused('permission_denied', 'a rule lets this call run only in another place than its tool runs in', {
      ...(help === undefined ? {} : { help }),
    }),
  }
}
