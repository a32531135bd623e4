// Grants in bounded memory. Where there is no room, one that is over goes first, then the oldest: what is forgotten is asked
// again.

import type { Principal } from '../describe/caller.ts'
import type { GrantRow, IntentAsk, RecordSubject } from '../observe/store.ts'
import { aboutOf, GRANTS_MAX, type HeldGrants, isLive } from './approval-choice.ts'

export type GrantFilter = {
  readonly id?: string
  readonly live?: { readonly at: number }
  readonly tool?: string
  readonly principal?: Principal
  readonly limit: number
}

export class MemoryGrants {
  readonly #rowsMax: number
  /** In the order of granting. */
  readonly #rows = new Map<string, GrantRow>()

  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax
  }

  /** For a call that asks. */
  heldFor(ask: IntentAsk, now: number): HeldGrants {
    const { grantId } = ask
    const about = aboutOf(ask)
    return {
      named: grantId === undefined ? undefined : this.#rows.get(grantId),
      live: () => this.list({ live: { at: now }, tool: about.tool, principal: about, limit: GRANTS_MAX }),
    }
  }

  add(grant: GrantRow): void {
    if (this.#rows.size >= this.#rowsMax) {
      const rows = [...this.#rows.values()]
      const victim = rows.find((row) => isOver(row, grant.grantedAt)) ?? rows[0]
      if (victim !== undefined) this.#rows.delete(victim.id)
    }
    this.#rows.set(grant.id, grant)
  }

  /** Undefined where there is no such grant, or it was revoked before. */
  revoke(id: string, by: string, at: number): GrantRow | undefined {
    const row = this.#rows.get(id)
    if (row === undefined || row.revokedAt !== undefined) return undefined
    const revoked = { ...row, revokedAt: at, revokedBy: by }
    this.#rows.set(id, revoked)
    return revoked
  }

  /** All grants of a person; answers how many. */
  erase({ tenant, user }: RecordSubject): number {
    const theirs = [...this.#rows.values()].filter((row) => row.tenant === tenant && row.user === user)
    for (const { id } of theirs) this.#rows.delete(id)
    return theirs.length
  }

  /** Newest first. */
  list({ id, live, tool, principal, limit }: GrantFilter): GrantRow[] {
    const found = [...this.#rows.values()].filter(
      (row) =>
        (id === undefined || row.id === id) &&
        (live === undefined || !isOver(row, live.at)) &&
        (tool === undefined || row.tool === tool) &&
        (principal === undefined ||
          (row.tenant === principal.tenant && row.user === principal.user && row.agent === principal.agent)),
    )
    return found.reverse().slice(0, limit)
  }
}

const isOver = (row: GrantRow, now: number): boolean => row.revokedAt !== undefined || !isLive(row, now)
