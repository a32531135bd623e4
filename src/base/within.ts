// Waiting for somebody else's promise, but not for ever.

import type { Clock } from './clock.ts'

export type Waited<Value> = { readonly kind: 'value'; readonly value: Value } | { readonly kind: 'late' }

/** The value of a promise, or `late` once `waitMs` have passed. A rejection comes through; a late one is dropped. */
export function within<Value>(
  promise: PromiseLike<Value>,
  waitMs: number,
  clock: Clock,
  kind: 'awaited' | 'background' = 'awaited',
): Promise<Waited<Value>> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(Math.max(0, waitMs), () => resolve({ kind: 'late' }), kind)
    promise.then(
      (value) => {
        cancel()
        resolve({ kind: 'value', value })
      },
      (error: unknown) => {
        cancel()
        reject(error)
      },
    )
  })
}

/** True for anything that can be awaited; everything else is used at once, without a turn of the event loop. */
export const isPromiseLike = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
