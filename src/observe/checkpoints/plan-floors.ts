// Up to where the rows of each chain are old enough to be dropped: what a gate signs before it drops anything, so that one that
// ends in between leaves records that hold. More may stand there than is dropped then. It drops nothing.

import type { ChainFloor, Store } from '../store.ts'

type Readable = Pick<Store, 'heads' | 'records'>

/** `before`: milliseconds since the Unix epoch. */
export async function planFloors(store: Readable, before: number): Promise<readonly ChainFloor[]> {
  const floors: ChainFloor[] = []
  for (const head of await store.heads()) {
    const { chain } = head
    const [first] = await store.records({ chain, since: before, unopened: true, limit: 1 })
    if (first === undefined) floors.push(head)
    // Rows before it are old; where the chain begins with it there are none.
    else if (first.seq > 1) {
      const [last] = await store.records({ chain, afterSeq: first.seq - 2, unopened: true, limit: 1 })
      if (last?.seq === first.seq - 1) floors.push({ chain, seq: last.seq, hash: last.hash })
    }
  }
  return floors
}
