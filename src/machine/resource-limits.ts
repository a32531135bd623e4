// The bounds that the kernel keeps for each process alone, as arguments of `prlimit`. A group of the whole tree, where there
// is one, keeps the rest. No process ever leaves a core file: it would hold whatever the process held.

import { readdirSync, readFileSync } from 'node:fs'
import type { MachineAbilities } from './abilities.ts'
import type { ProcessLimits } from './process-plan.ts'

/** Empty where this machine has no `prlimit`. `sandboxed`: the command runs as a user that nobody else is. */
export function resourceLimitArguments(
  limits: Omit<ProcessLimits, 'outputBytes' | 'floodBytes'>,
  { prlimit, limits: kept }: MachineAbilities,
  sandboxed: boolean,
): readonly string[] {
  if (prlimit === undefined) return []
  const by = (limit: keyof typeof kept): boolean => {
    const ability = kept[limit]
    return ability.kind === 'enforced' && ability.by === 'prlimit'
  }
  const bounds: string[] = ['--core=0:0']
  if (limits.cpuMs !== undefined && kept.cpuMs.kind === 'enforced') {
    const seconds = Math.max(1, Math.ceil(limits.cpuMs / 1_000))
    // The first one can be caught, the second one cannot.
    bounds.push(`--cpu=${seconds}:${seconds + 1}`)
  }
  if (limits.fileBytes !== undefined && by('fileBytes')) bounds.push(same('fsize', limits.fileBytes))
  if (limits.openFiles !== undefined && by('openFiles')) bounds.push(same('nofile', limits.openFiles))
  if (limits.memoryBytes !== undefined && by('memoryBytes')) bounds.push(same('data', limits.memoryBytes))
  if (limits.processes !== undefined && by('processes')) {
    // The kernel counts by user. In a sandbox that is the command and the one that collects its orphans.
    bounds.push(same('nproc', limits.processes + (sandboxed ? 1 : threadsOfUser())))
  }
  return [prlimit, ...bounds, '--']
}

const same = (name: string, value: number): string => `--${name}=${Math.floor(value)}:${Math.floor(value)}`

/** Threads that the gate's user has now, of whatever program. */
function threadsOfUser(): number {
  const user = process.getuid?.() ?? 0
  let count = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8')
      if (Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]) === user)
        count += Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 1)
    } catch {
      // It has ended since it was listed.
    }
  }
  return count
}
