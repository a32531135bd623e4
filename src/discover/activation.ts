// When the tools of a source are there at all: for callers with some role, or where the workspace holds something. What a
// workspace holds is looked up, and believed for a moment.

import type { Clock } from '../base/clock.ts'
import type { Caller } from '../describe/caller.ts'
import type { Activation } from '../describe/source.ts'

/** Whether one of the workspace's roots holds something at this relative path. */
export type InWorkspace = (path: string) => boolean

/** Why an activation does not hold for a caller; undefined where it does. */
export function inactive(
  activation: Activation | undefined,
  caller: Caller,
  inWorkspace: InWorkspace,
): string | undefined {
  if (activation === undefined) return undefined
  const { roles, workspace } = activation
  if (roles !== undefined && !roles.some((role) => caller.roles.includes(role)))
    return `it is there only for callers with one of the roles ${roles.join(', ')}`
  if (workspace !== undefined && !workspace.some(inWorkspace))
    return `it is there only where the workspace holds one of ${workspace.join(', ')}`
  return undefined
}

const BELIEVED_MS = 2_000
const PATHS_MAX = 1_000

/** The same look-up, asked at most once in two seconds for each path. One that fails has found nothing. */
export function believed(look: InWorkspace, clock: Clock): InWorkspace {
  const answers = new Map<string, { readonly held: boolean; readonly untilMs: number }>()
  return (path) => {
    const known = answers.get(path)
    const nowMs = clock.monotonic()
    if (known !== undefined && nowMs < known.untilMs) return known.held
    if (answers.size >= PATHS_MAX) answers.clear()
    const held = holds(look, path)
    answers.set(path, { held, untilMs: nowMs + BELIEVED_MS })
    return held
  }
}

function holds(look: InWorkspace, path: string): boolean {
  try {
    return look(path)
  } catch {
    return false
  }
}
