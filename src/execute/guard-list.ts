// The one list of guards: checked when it is made, printed for the operator, and composed into a chain for each tool, of the
// guards that concern it and no others, so that a tool pays nothing for guards that it has not.

import type { Entry } from '../describe/entry.ts'
import { compose, type Guard, type Next } from './guard.ts'
import { GUARD_SLOTS, type GuardSlot, orderProblem } from './guard-slots.ts'

export type PlacedGuard = { readonly slot: GuardSlot; readonly guard: Guard }

export type ListedGuard = {
  readonly name: string
  readonly bounds: string
  /** Absent: before every tool. */
  readonly entries?: readonly Entry[]
}

/** Of these there may be several before one tool, in the order in which they were given. */
const MANY: readonly GuardSlot[] = ['own at call', 'own at try']

export class GuardList {
  readonly #placed: readonly PlacedGuard[]
  readonly #innermost: Next
  readonly #chains = new WeakMap<Entry, Next>()

  /** `placed`: outermost first. Throws for an unsafe order: this is the gate's own list. */
  constructor(placed: readonly PlacedGuard[], innermost: Next) {
    const problem = orderProblem(placed.map(({ slot }) => slot))
    if (problem !== undefined) throw new Error(problem)
    this.#placed = Object.freeze([...placed])
    this.#innermost = innermost
  }

  /** The way of a call to this tool, composed once. */
  chainOf(entry: Entry): Next {
    const known = this.#chains.get(entry)
    if (known !== undefined) return known
    const chain = compose(this.#before(entry), this.#innermost)
    this.#chains.set(entry, chain)
    return chain
  }

  /** The guards before one tool, outermost first. */
  of(entry: Entry): readonly ListedGuard[] {
    return this.#before(entry).map((guard) => ({
      name: guard.name,
      bounds: guard.boundsOf?.(entry) ?? guard.bounds,
      entries: [entry],
    }))
  }

  /** Every guard, and which of these tools it stands before. */
  all(entries: readonly Entry[]): readonly ListedGuard[] {
    return this.#placed.map(({ guard }) => {
      const { name, bounds } = guard
      if (guard.concerns === undefined) return { name, bounds }
      return { name, bounds, entries: entries.filter((entry) => this.#before(entry).includes(guard)) }
    })
  }

  #before(entry: Entry): readonly Guard[] {
    return GUARD_SLOTS.flatMap((slot) => {
      const here = this.#placed.filter((one) => one.slot === slot && (one.guard.concerns?.(entry) ?? true))
      // Of two that stand at one place the later one was written for fewer tools: it holds alone.
      const kept = MANY.includes(slot) ? here : here.slice(-1)
      return kept.map(({ guard }) => guard)
    })
  }
}
