// Where a tool can run. Only the names; what each means for a call is for whoever executes it.

/**
 * Where a tool runs: in the gate's own process, in a worker thread, as a child process, as a child in a sandbox, or on
 * another server. Contracts name every place but `sandbox`: a `child` is put into one as `sandbox` and the rules say.
 */
export const PLACES = ['process', 'worker', 'child', 'sandbox', 'upstream'] as const
export type Place = (typeof PLACES)[number]
