// Who touches what, as a tree of names, so that those that a call meets are found without looking at all others.

import type { LaneKey, LaneKeys } from './lane-keys.ts'

class Branch<Item> {
  readonly above: Branch<Item> | undefined
  readonly name: string
  below: Map<string, Branch<Item>> | undefined
  readers: Item[] | undefined
  writers: Item[] | undefined
  /** How many writers are here and below. */
  writing = 0

  constructor(above: Branch<Item> | undefined, name: string) {
    this.above = above
    this.name = name
  }

  get isBare(): boolean {
    return isNone(this.readers) && isNone(this.writers) && (this.below === undefined || this.below.size === 0)
  }
}

/** Where one item stands; for taking it out again. The first `reads` of them only read. */
export type LaneStand<Item> = { readonly at: readonly Branch<Item>[]; readonly reads: number }

export class LaneIndex<Item> {
  readonly #root = new Branch<Item>(undefined, '')

  /**
   * Puts an item in its places, and calls `tell` for each other one that it meets, once for each meeting: one of both writes
   * what the other touches.
   */
  add(item: Item, { reads, writes }: LaneKeys, tell: ((other: Item) => void) | undefined): LaneStand<Item> {
    const others =
      tell &&
      ((other: Item): void => {
        if (other !== item) tell(other)
      })
    const at: Branch<Item>[] = []
    for (const key of reads) at.push(this.#put(item, key, false, others))
    for (const key of writes) at.push(this.#put(item, key, true, others))
    return { at, reads: reads.length }
  }

  remove(item: Item, { at, reads }: LaneStand<Item>): void {
    for (let index = 0; index < at.length; index++) {
      const branch = at[index]
      if (branch === undefined) continue
      if (index < reads) takeOut(branch.readers, item)
      else {
        takeOut(branch.writers, item)
        for (let above: Branch<Item> | undefined = branch; above !== undefined; above = above.above) above.writing -= 1
      }
      prune(branch)
    }
  }

  #put(item: Item, key: LaneKey, writes: boolean, tell: ((item: Item) => void) | undefined): Branch<Item> {
    let at = this.#root
    for (const name of key) {
      if (tell !== undefined) tellHere(at, writes, tell)
      if (writes) at.writing += 1
      at.below ??= new Map()
      let next = at.below.get(name)
      if (next === undefined) {
        next = new Branch(at, name)
        at.below.set(name, next)
      }
      at = next
    }
    if (tell !== undefined) tellAll(at, writes, tell)
    if (writes) at.writing += 1
    const into = writes ? 'writers' : 'readers'
    const here = at[into]
    if (here === undefined) at[into] = [item]
    else here.push(item)
    return at
  }
}

function tellHere<Item>({ readers, writers }: Branch<Item>, writes: boolean, tell: (item: Item) => void): void {
  if (writers !== undefined) for (const item of writers) tell(item)
  if (writes && readers !== undefined) for (const item of readers) tell(item)
}

/** Everything below. Its depth is that of the keys that stand there, which is no matter of how many calls there are. */
function tellAll<Item>(at: Branch<Item>, writes: boolean, tell: (item: Item) => void): void {
  if (!writes && at.writing === 0) return
  tellHere(at, writes, tell)
  if (at.below !== undefined) for (const next of at.below.values()) tellAll(next, writes, tell)
}

function takeOut<Item>(items: Item[] | undefined, item: Item): void {
  const index = items?.indexOf(item) ?? -1
  if (index !== -1) items?.splice(index, 1)
}

/** Forgets names under which nobody stands any more. */
function prune<Item>(from: Branch<Item>): void {
  for (let at = from; at.above !== undefined && at.isBare; at = at.above) at.above.below?.delete(at.name)
}

const isNone = (items: readonly unknown[] | undefined): boolean => items === undefined || items.length === 0
