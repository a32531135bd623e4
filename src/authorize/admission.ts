// What stands between a caller and a tool besides the rules: the task that the host set, and the tool's own `admit`.

import { compileNameGlob } from '../base/glob.ts'
import { isPromiseLike } from '../base/within.ts'
import type { Caller } from '../describe/caller.ts'
import type { Tool } from '../describe/tool.ts'
import { NameCondition } from './name-condition.ts'

/** The tools of each task; lists that cannot change are compiled once. */
const tasks = new WeakMap<readonly string[], NameCondition>()

/** Whether the caller's task leaves a tool to it. Without a task, or without a list, it narrows nothing. */
export function taskIncludes({ task }: Caller, name: string): boolean {
  if (task?.allow === undefined) return true
  const known = tasks.get(task.allow)
  if (known !== undefined) return known.matches(name)
  // INVARIANT closed: an entry that is no glob matches nothing, and a list without entries allows nothing.
  const condition = new NameCondition(
    task.allow.flatMap((text) => {
      const glob = compileNameGlob(text)
      return glob.kind === 'ok' ? [glob] : []
    }),
  )
  if (Object.isFrozen(task.allow)) tasks.set(task.allow, condition)
  return condition.matches(name)
}

/**
 * What the tool's own `admit` says, at once: listing and calling ask the same question and must hear the same answer.
 * INVARIANT closed: anything but `true` is no, a throw and a promise included.
 */
export function toolAdmits(tool: Tool, caller: Caller, onFault: (fault: unknown) => void): boolean {
  if (tool.admit === undefined) return true
  try {
    const answer: unknown = tool.admit(caller)
    // A promise is no answer; if it fails later on, that is told and brings nobody down.
    if (isPromiseLike(answer)) answer.then(() => onFault(new Error('`admit` answered with a promise')), onFault)
    return answer === true
  } catch (fault) {
    onFault(fault)
    return false
  }
}
