// What a machine can do to keep a command in its bounds: which sandbox, which limits, how a whole tree of processes is
// ended. Only shapes; `probe-machine.ts` finds out.

/** Bounds of a process and everything that it starts. */
export const PROCESS_LIMITS = ['cpuMs', 'memoryBytes', 'processes', 'fileBytes', 'openFiles'] as const
export type ProcessLimit = (typeof PROCESS_LIMITS)[number]

/** `required`: nothing runs without one. `preferred`: without one it runs all the same, and its record says so. */
export const SANDBOX_MODES = ['required', 'preferred', 'off'] as const
export type SandboxMode = (typeof SANDBOX_MODES)[number]

export type SandboxAbility =
  | { readonly kind: 'ready'; readonly by: 'bwrap' | 'sandbox-exec'; readonly path: string }
  | { readonly kind: 'missing'; readonly reason: string; readonly mend: string }

/** By a control group a limit holds for the whole tree; by `prlimit` for each process alone. */
export type LimitAbility =
  | { readonly kind: 'enforced'; readonly by: 'prlimit' | 'cgroup v1' | 'cgroup v2' }
  | { readonly kind: 'unenforced'; readonly reason: string; readonly mend: string }

/** A folder of a control group hierarchy in which the gate can make groups of its own. */
export type GroupParent = {
  readonly folder: string
  readonly version: 'cgroup v1' | 'cgroup v2'
  readonly keeps: readonly ('cpuMs' | 'memoryBytes' | 'processes')[]
}

export type MachineAbilities = {
  readonly sandbox: SandboxAbility
  readonly limits: Readonly<Record<ProcessLimit, LimitAbility>>
  /** The strongest way to end everything that a command started, where no sandbox holds it. */
  readonly tree: 'cgroup' | 'group'
  /** Where groups can be made. Absent: nowhere. */
  readonly groups?: readonly GroupParent[]
  /** Absolute path of `prlimit`. Absent: there is none. */
  readonly prlimit?: string
}
