// Where the `run` of each defined tool is kept. Only `execute/` may open it, and a test of the walls holds that.

import type { JsonObject } from '../base/json-value.ts'
import type { Run, Tool, WorkerRun } from './tool.ts'

type AnyRun = Run<JsonObject, unknown> | WorkerRun

const runs = new WeakMap<object, AnyRun>()

/** Keeps the run of a tool, once. */
export function hideRun(tool: object, run: AnyRun): void {
  runs.set(tool, run)
}

/** Whether `defineTool` made this very object. */
export const hasRun = (tool: object): boolean => runs.has(tool)

// INVARIANT one-gate: the run of a tool is found by identity here and nowhere else; a copy of a tool cannot run.
/** The run of a tool, or the export of a module that is; undefined for anything that `defineTool` did not make. */
export const openRun = (tool: Tool): AnyRun | undefined => runs.get(tool)
