// One job for a worker thread, and how it can end. Only shapes; `worker-host.ts` runs jobs.

/** What a job is told besides its arguments. Has to be cloneable. */
export type WorkerFacts = Readonly<Record<string, unknown>>

export type WorkerJob = {
  readonly args: unknown
  readonly facts: WorkerFacts
  /** Milliseconds that the job has, for its own planning; `signal` ends it. */
  readonly leftMs: number
  /** Asks the job to stop; a tenth of a second later its thread is terminated. */
  readonly signal: AbortSignal
  /** What `progress()` was given, or a generator yielded; unchecked. */
  readonly onProgress?: (progress: unknown) => void
  readonly onLog?: (message: string, details: unknown) => void
}

export type WorkerEnd =
  /** What the export answered; `content` and `display` where it answered with a `ToolResult`. Unchecked. */
  | { readonly kind: 'answered'; readonly value: unknown; readonly content?: unknown; readonly display?: unknown }
  /** The options of the `ToolFailure` that it returned or threw. Unchecked. */
  | { readonly kind: 'failed'; readonly failure: unknown }
  /** It threw something else, or its answer cannot be cloned; the text is for the operator. */
  | { readonly kind: 'threw'; readonly reason: string }
  /** The thread died under it. */
  | { readonly kind: 'crashed'; readonly reason: string; readonly limit?: 'memoryBytes' }
  /** Its signal aborted. `started`: the export had been called. `terminated`: it did not stop when asked. */
  | { readonly kind: 'stopped'; readonly started: boolean; readonly terminated: boolean }
  /** The module or its export is not there, or a thread cannot be started: nothing was called. */
  | { readonly kind: 'unstarted'; readonly reason: string }
