// Looks through a folder before it is moved: what may not be touched by itself may not be moved inside a folder either.

import type { RunContext } from '../../../describe/tool.ts'
import type { ToolFailure } from '../../../describe/tool-failure.ts'
import { protectedName } from '../../../machine/protected-names.ts'
import { hiddenIn } from '../../../machine/visible-name.ts'
import { fileFailure } from './file-failure.ts'
import type { Settled } from './file-place.ts'
import { fileResource } from './file-resources.ts'

const ENTRIES_MAX = 10_000
const DEPTH_MAX = 64

/** Why a folder may not be moved; undefined where it may. */
export async function treeProblem(
  { from, to }: { readonly from: Settled; readonly to: Settled },
  context: RunContext,
): Promise<ToolFailure | undefined> {
  let seen = 0
  let kept = 0
  for await (const step of from.folder.walk(from.relative, { depthMax: DEPTH_MAX, enter: () => true })) {
    if (step.kind === 'own') return notPermitted('it holds files of the gate itself, which stay where they are')
    if (step.kind === 'unreadable')
      return notPermitted('a folder in it cannot be read, so nobody knows what would be moved')
    const { relative, depth, kind } = step.entry
    if (++seen > ENTRIES_MAX)
      return fileFailure('too_large', `the folder holds more than ${ENTRIES_MAX} entries; move its parts`)
    if (depth === DEPTH_MAX && kind === 'directory')
      return fileFailure('too_large', `the folder is more than ${DEPTH_MAX} levels deep; move its parts`)
    const problem = nameProblem(relative, targetOf(relative, { from, to }))
    if (problem !== undefined) return notPermitted(problem)
    if (!mayMove(relative, { from, to }, context)) kept++
    if (context.signal.aborted) return notPermitted('the call was cancelled')
  }
  return kept === 0 ? undefined : notPermitted(`it holds ${kept} entries that this caller may not move`)
}

/** Whether an entry below the folder may be moved with it: asked again when the move happens, for it may have come since. */
export function mayMoveAlong(
  relative: string,
  ends: { readonly from: Settled; readonly to: Settled },
  context: RunContext,
): boolean {
  return nameProblem(relative, targetOf(relative, ends)) === undefined && mayMove(relative, ends, context)
}

/** A name is judged where it stands and where it would stand: `git/config` is ordinary until it is below `.config`. */
function nameProblem(source: string, target: string): string | undefined {
  const held = protectedName(source.split('/'))
  if (held !== undefined)
    return `it holds \`${held}\`, which is protected; move its other parts, or have a person do it`
  const reached = protectedName(target.split('/'))
  if (reached !== undefined)
    return `it would put a file at \`${reached}\`, which is protected: other programs of this machine act on it by themselves`
  const hidden = hiddenIn(target.slice(target.lastIndexOf('/') + 1))
  return hidden === undefined ? undefined : `a name in it holds ${hidden}; give that one visible characters first`
}

const targetOf = (relative: string, { from, to }: { readonly from: Settled; readonly to: Settled }): string =>
  to.relative + relative.slice(from.relative.length)

function mayMove(
  relative: string,
  { from, to }: { readonly from: Settled; readonly to: Settled },
  context: RunContext,
): boolean {
  const source = from.folder.absolute(relative)
  const target = to.folder.absolute(targetOf(relative, { from, to }))
  const touched = [fileResource('read', source), fileResource('write', source), fileResource('write', target)]
  return touched.every((resource) => context.mayTouch(resource))
}

const notPermitted = (reason: string): ToolFailure => fileFailure('not_permitted', `the folder is not moved: ${reason}`)
