// The guards of a gate, for whoever looks at them; and the check, once the operator's own tools are there, that the host's
// guards and what tools demand of the machine hold for them.

import type { Entry } from '../describe/entry.ts'
import { type ConfigProblem, GateConfigError } from '../describe/gate-config-error.ts'
import type { Catalogue } from '../discover/catalogue.ts'
import { guardMisfits } from '../execute/check-guards.ts'
import { asksMachine, unkeptLimits } from '../execute/choose-place.ts'
import type { GuardList, ListedGuard } from '../execute/guard-list.ts'
import type { GateOptions, GuardRow } from '../gate-contract.ts'
import type { MachineAbilities } from '../machine/abilities.ts'

/** Outermost first. A name that no tool answers to has no guards. */
export function guardRows(guards: GuardList, catalogue: Catalogue, tool?: string): readonly GuardRow[] {
  if (tool === undefined) return guards.all([...catalogue.effective()]).map(rowOf)
  const entry = catalogue.entryOf(tool)
  return entry === undefined ? [] : guards.of(entry).map(rowOf)
}

const rowOf = ({ name, bounds, entries }: ListedGuard): GuardRow => ({
  name,
  bounds,
  tools: entries === undefined ? 'all' : entries.map(({ tool }) => tool.name),
})

/** @throws GateConfigError for a guard that does not fit a tool, and for a bound that this machine must keep and cannot. */
export async function checkGuardFit(
  { guards = [] }: GateOptions,
  entries: readonly Entry[],
  deadlineMs: number,
  machine: () => Promise<MachineAbilities>,
): Promise<void> {
  const problems = [...guardMisfits(guards, entries, deadlineMs), ...(await machineMisfits(entries, machine))]
  if (problems.length > 0) throw new GateConfigError(problems)
}

async function machineMisfits(
  entries: readonly Entry[],
  machine: () => Promise<MachineAbilities>,
): Promise<readonly ConfigProblem[]> {
  const strict = entries.filter(
    ({ tool }) => asksMachine(tool) && tool.sandbox === 'required' && tool.limits !== undefined,
  )
  if (strict.length === 0) return []
  const abilities = await machine()
  return strict.flatMap(({ tool }) =>
    unkeptLimits(tool, abilities).map((limit) => {
      const ability = abilities.limits[limit]
      const mend = ability.kind === 'unenforced' ? `: ${ability.reason}; ${ability.mend}` : ''
      return {
        key: `${tool.name}.limits.${limit}`,
        message: `this machine cannot keep it, and the sandbox is required${mend}`,
      }
    }),
  )
}
