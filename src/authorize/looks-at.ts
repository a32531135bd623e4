// Whether rules look at certain arguments: for calls of which some arguments are no longer known. It answers yes wherever
// they might.

import type { CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Tool } from '../describe/tool.ts'
import { type Rule, speaksOfCaller, speaksOfPrograms } from './rule.ts'

/** An argument that files can stand in for. */
const PATH = 'path'

/** `rules`: those that can speak of the tool. `names`: the arguments whose values stand for others. */
export function looksAt(
  rules: readonly Rule[],
  { caller, tool, input }: { readonly caller: Caller; readonly tool: Tool; readonly input: CheckedInput },
  names: readonly string[],
): boolean {
  // What the tool makes of its arguments, the effect or what it touches, may come from any of them.
  if (typeof tool.effect !== 'string') return true
  const touches = input.touches.kind !== 'unknown'
  const starts = tool.command !== undefined
  // Where there is no such argument, the files that the call touches are looked at in its place.
  const asked = touches && !Object.hasOwn(input.args, PATH) ? [...names, PATH] : names
  return rules
    .filter((rule) => speaksOfCaller(rule, caller))
    .some(
      (rule) =>
        (rule.resources !== undefined && touches) ||
        (starts && speaksOfPrograms(rule)) ||
        rule.where.some(({ name, way: [first = name] }) => asked.includes(name) || asked.includes(first)) ||
        looksAtWhen(rule, asked, touches),
    )
}

function looksAtWhen({ when }: Rule, names: readonly string[], touches: boolean): boolean {
  if (when === undefined) return false
  const { ways, whole, resources } = when.reads
  return whole || (resources && touches) || ways.some(([first = '']) => names.includes(first))
}
