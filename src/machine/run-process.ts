// Runs one command to its end and says how it ended. There is no shell, no inherited environment and no unbounded anything:
// what it prints is kept at both ends, what floods is ended, and when the command is over so is everything that it started.
// An end is its exit and a short grace for its pipes, never their closing: somebody else may hold them for ever.

import type { Clock } from '../base/clock.ts'
import type { MachineAbilities } from './abilities.ts'
import { leavingPlaceholders } from './placeholders.ts'
import { prepareLaunch } from './prepare-launch.ts'
import type { ProcessEnd, ProcessPlan } from './process-plan.ts'
import { RunningProcess } from './running-process.ts'

export type RunParts = { readonly clock: Clock; readonly abilities: MachineAbilities }

/** Never rejects for anything that a command or a machine does. */
export async function runProcess(plan: ProcessPlan, { clock, abilities }: RunParts): Promise<ProcessEnd> {
  while (plan.sandbox !== undefined && leavingPlaceholders() !== undefined) await leavingPlaceholders()
  if (plan.signal.aborted) return { kind: 'unstarted', why: 'refused', reason: 'it was ended before it had started' }
  const launch = prepareLaunch(plan, abilities)
  if (launch.kind === 'unstarted') return launch
  return new RunningProcess(plan, launch, clock).end
}
