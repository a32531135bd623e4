// Settles where a call runs just before it does, and notes it. What the machine can do is found out once, when the first
// call needs to know.

import type { Ending } from '../describe/call.ts'
import { refused } from '../describe/refused.ts'
import type { MachineAbilities } from '../machine/abilities.ts'
import { asksMachine, choosePlace } from './choose-place.ts'
import type { Guard, Job, Next } from './guard.ts'

export function placeGuard(machine: () => Promise<MachineAbilities>): Guard {
  return {
    name: 'place',
    bounds: 'chooses where the tool runs, from its contract, the rules and the machine',
    boundsOf: ({ tool }) => `runs the tool in: ${tool.place ?? 'process'}${sandboxText(tool.sandbox, tool.place)}`,
    run: (job, next) =>
      asksMachine(job.entry.tool) || job.input.binds !== undefined
        ? afterAsking(job, next, machine)
        : place(job, next, undefined),
  }
}

const sandboxText = (sandbox = 'preferred', place: string | undefined): string =>
  place === 'child' ? `, sandbox ${sandbox}` : ''

function place(job: Job, next: Next, machine: MachineAbilities | undefined): Promise<Ending> {
  const { trail } = job.call
  const choice = choosePlace(job.entry.tool, trail.decision, machine)
  if (choice.kind === 'refused') return Promise.resolve(choice.ending)
  trail.place = choice.chosen
  return next(job)
}

async function afterAsking(job: Job, next: Next, machine: () => Promise<MachineAbilities>): Promise<Ending> {
  const abilities = asksMachine(job.entry.tool) ? await machine() : undefined
  if (!(await bindsStill(job)))
    return refused('unavailable', 'what this call would run has changed since it was allowed; make the call again', {
      retry: { advice: 'safe' },
    })
  return place(job, next, abilities)
}

/** INVARIANT last-check: the text that an approval was for is the text that is there now. */
async function bindsStill({ call, entry, input }: Job): Promise<boolean> {
  if (input.binds === undefined) return true
  try {
    const now = await entry.tool.binds?.(input.args, call.caller)
    return JSON.stringify(now) === JSON.stringify(input.binds)
  } catch {
    return false
  }
}
