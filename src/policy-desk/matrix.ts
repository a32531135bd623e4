// Callers and tools against each other: what each caller gets of each tool, as far as that holds whatever the arguments are.

import type { Outlook } from '../authorize/policy.ts'
import { strictest } from '../authorize/strictest.ts'
import { compileNameGlob } from '../base/glob.ts'
import type { Caller } from '../describe/caller.ts'
import type { Entry } from '../describe/entry.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import type { MatrixRow } from '../gate-contract.ts'
import type { DeskParts } from './desk-parts.ts'
import { callOf, lookUp } from './explain-call.ts'

/**
 * One row for each caller and tool that answers to this caller; `tools` are names or globs, all of them where it is not
 * given. Throws GateConfigError for what is no glob.
 */
export function matrixOf(
  parts: DeskParts,
  callers: readonly Caller[],
  tools: readonly string[] = ['*'],
): readonly MatrixRow[] {
  const wanted = tools.map(globOf)
  const names = [...new Set(parts.catalogue.items().map(({ entry }) => entry.tool.name))]
    .filter((name) => wanted.some((glob) => glob.matches(name)))
    .sort()
  return callers.flatMap((caller) => names.flatMap((tool) => rowOf(parts, caller, tool) ?? []))
}

function globOf(text: string): { matches(name: string): boolean } {
  const glob = compileNameGlob(text)
  if (glob.kind === 'bad')
    throw new GateConfigError([{ key: 'tools', message: `\`${text.slice(0, 40)}\` is no glob: ${glob.reason}` }])
  return glob
}

function rowOf(parts: DeskParts, caller: Caller, tool: string): MatrixRow | undefined {
  const { rooms } = parts
  const call = callOf(parts, caller, tool, {})
  const found = lookUp(parts, call)
  if (found.kind === 'missing') return undefined
  const admitted = rooms.policy.admit(call, found.entry)
  const { decision, depends } =
    admitted.kind === 'deny' ? { decision: admitted.decision, depends: false } : outlookOf(parts, caller, found.entry)
  return { caller, tool, decision, depends }
}

/** Whoever the caller works for may have rules of its own: the strictest answer holds, as it does for a call. */
function outlookOf({ policyOf }: DeskParts, caller: Caller, entry: Entry): Outlook {
  let outlook = policyOf(caller).outlook(caller, entry)
  for (let one = caller; one.parent !== undefined; one = one.parent) {
    if (policyOf(one) === policyOf(one.parent)) continue
    const above = policyOf(one.parent).outlook(one.parent, entry)
    outlook = { decision: strictest(outlook.decision, above.decision), depends: outlook.depends || above.depends }
  }
  return outlook
}
