// How many questions wait for a person now, for whoever watches the gate. Questions of other processes are learnt from the
// store when somebody asks for the number, which is then right the next time; nothing is decided by it.

import type { ApprovalRow, Store } from '../observe/store.ts'

/** More than so many are not told apart. */
const LISTED_MAX = 1_000

export class OpenApprovals {
  readonly #store: Pick<Store, 'approvals'>
  /** By id, when each runs out. */
  #open = new Map<string, number>()
  #isReading = false

  constructor(store: Pick<Store, 'approvals'>) {
    this.#store = store
  }

  note({ id, state, expiresAt }: ApprovalRow): void {
    if (state !== 'open') this.#open.delete(id)
    else if (this.#open.size < LISTED_MAX) this.#open.set(id, expiresAt)
  }

  count(now: number): number {
    for (const [id, expiresAt] of this.#open) if (expiresAt <= now) this.#open.delete(id)
    return this.#open.size
  }

  /** Learns of the questions of others. Never throws; what cannot be read leaves the number as it was. */
  async refresh(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      const rows = await this.#store.approvals({ state: 'open', limit: LISTED_MAX })
      this.#open = new Map(rows.map(({ id, expiresAt }) => [id, expiresAt]))
    } catch {
      // The store says elsewhere what is wrong with it.
    } finally {
      this.#isReading = false
    }
  }
}
