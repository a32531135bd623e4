// The ids under which one client waits for answers. An id in use is refused a second time: two answers under one id
// could not be told apart, and one of them would reach whoever asked for the other.

import { isJsonObject } from '../base/json-value.ts'

export type RequestId = string | number

export class InFlight {
  // 1 and "1" are two ids; a Map keeps them apart.
  readonly #ids = new Set<RequestId>()

  get size(): number {
    return this.#ids.size
  }

  has(id: RequestId): boolean {
    return this.#ids.has(id)
  }

  /** Takes all of them, or none and names the one that is in use, or that stands twice among them. */
  add(ids: readonly RequestId[]): RequestId | undefined {
    const twice = ids.find((id, index) => this.#ids.has(id) || ids.indexOf(id) !== index)
    if (twice !== undefined) return twice
    for (const id of ids) this.#ids.add(id)
    return undefined
  }

  /** True where one of them was in use. */
  delete(ids: readonly RequestId[]): boolean {
    return ids.map((id) => this.#ids.delete(id)).some((deleted) => deleted)
  }
}

/** The ids of the requests in a message or a batch of them. */
export function requestsIn(body: unknown): readonly RequestId[] {
  return (Array.isArray(body) ? body : [body]).flatMap((message) => {
    if (!isJsonObject(message) || typeof message.method !== 'string') return []
    const { id } = message
    return typeof id === 'string' || typeof id === 'number' ? [id] : []
  })
}
