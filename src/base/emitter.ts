// Events with types. A listener that throws is the listener's own fault: it reaches `failed` and nobody else.

export class Emitter<Events extends Record<string, unknown>> {
  readonly #listeners = new Map<keyof Events, Set<(detail: never) => void>>()
  readonly #failed: (event: string, error: unknown) => void

  constructor(failed: (event: string, error: unknown) => void) {
    this.#failed = failed
  }

  /** Listens until the answer is called. */
  on<Name extends keyof Events>(event: Name, listener: (detail: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners)
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  emit<Name extends keyof Events & string>(event: Name, detail: Events[Name]): void {
    const listeners = this.#listeners.get(event)
    if (listeners === undefined) return
    for (const listener of [...listeners]) {
      try {
        ;(listener as (detail: Events[Name]) => void)(detail)
      } catch (error) {
        this.#failed(event, error)
      }
    }
  }
}
