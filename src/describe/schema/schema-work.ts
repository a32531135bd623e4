// Bounds what one value can cost when it meets a schema: references that come back to the same value never end, and
// references that fan out double the work at each step. It looks only at schemas that judge the same value; those below a
// property or an item are bounded by the value itself.

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json-value.ts'

/** Schemas that may judge one value, references written out. */
const FAN_OUT_MAX = 2_000
const CHAIN_MAX = 64

type Work = { readonly count: number; readonly height: number }

/** The reason why a check would never end or cost too much, or undefined. `inPlace` holds what each schema applies to its own value. */
export function findEndlessness(inPlace: ReadonlyMap<JsonObject, readonly JsonValue[]>): string | undefined {
  const measure = new WorkMeasure(inPlace)
  for (const schema of inPlace.keys()) {
    measure.measure(schema, 0)
    if (measure.reason !== undefined) return measure.reason
  }
  return undefined
}

class WorkMeasure {
  reason: string | undefined
  readonly #inPlace: ReadonlyMap<JsonObject, readonly JsonValue[]>
  readonly #known = new Map<JsonObject, Work | 'open'>()

  constructor(inPlace: ReadonlyMap<JsonObject, readonly JsonValue[]>) {
    this.#inPlace = inPlace
  }

  measure(schema: JsonObject, chain: number): Work {
    const known = this.#known.get(schema)
    if (known === 'open')
      this.reason ??=
        'a reference leads back to itself before it reaches a property or an item, so a check would never end'
    else if (known !== undefined) return known
    else if (chain > CHAIN_MAX) this.reason ??= `references lead from one to the next more than ${CHAIN_MAX} times`
    if (this.reason !== undefined) return { count: 0, height: 0 }
    this.#known.set(schema, 'open')
    const work = this.#sum(schema, chain)
    this.#known.set(schema, work)
    if (work.count > FAN_OUT_MAX)
      this.reason ??= `references and compositions fan out to more than ${FAN_OUT_MAX} checks of one value`
    if (work.height > CHAIN_MAX) this.reason ??= `references lead from one to the next more than ${CHAIN_MAX} times`
    return work
  }

  #sum(schema: JsonObject, chain: number): Work {
    let count = 1
    let height = 0
    for (const below of this.#inPlace.get(schema) ?? []) {
      const work = isJsonObject(below) ? this.measure(below, chain + 1) : { count: 1, height: 0 }
      count += work.count
      height = Math.max(height, work.height)
      if (this.reason !== undefined) break
    }
    return { count, height: height + 1 }
  }
}
