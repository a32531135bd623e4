// What a tool holds while it runs. The abort signal is made when somebody asks for it: most tools never do.

import type { Clock } from '../base/clock.ts'
import { errorText } from '../base/error-text.ts'
import type { Call } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Progress, RunContext } from '../describe/tool.ts'

export type ToolLog = (call: Call, message: string, details: Readonly<Record<string, unknown>> | undefined) => void

export class RunScope implements RunContext {
  readonly callId: string
  readonly caller: Caller
  readonly clock: Clock
  readonly #call: Call
  readonly #touches: (resource: string) => boolean
  readonly #log: ToolLog
  #controller: AbortController | undefined
  #aborted: { readonly reason: Error } | undefined
  #over = false

  constructor(call: Call, clock: Clock, mayTouch: (resource: string) => boolean, log: ToolLog) {
    this.#call = call
    this.callId = call.id
    this.caller = call.caller
    this.clock = clock
    this.#touches = mayTouch
    this.#log = log
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted !== undefined && !this.#controller.signal.aborted) this.#controller.abort(this.#aborted.reason)
    return this.#controller.signal
  }

  /** Tells the tool to stop; it may not listen, so nobody waits for it. */
  abort(reason: Error): void {
    this.#aborted = { reason }
    this.#controller?.abort(reason)
  }

  /** The call has its outcome: what the tool still says goes nowhere. */
  end(): void {
    this.#over = true
  }

  // Tools take these out of the context as they like, so each is a function of its own.
  readonly progress = (progress: Progress): void => {
    const { onProgress } = this.#call.request
    if (this.#over || onProgress === undefined) return
    try {
      onProgress(progress)
    } catch (error) {
      this.#log(this.#call, 'the listener for progress failed', { error: errorText(error) })
    }
  }

  readonly mayTouch = (resource: string): boolean => {
    if (this.#over) return false
    try {
      return this.#touches(resource)
    } catch {
      return false
    }
  }

  readonly log = (message: string, details?: Readonly<Record<string, unknown>>): void => {
    this.#log(this.#call, message, details)
  }
}
