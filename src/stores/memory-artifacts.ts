// What was cut out of results, for a gate that keeps nothing on disk: the newest contents within bounds of bytes, gone with
// the process. It hands nothing to another principal than the one that it was kept for.

import type {
  Artifact,
  ArtifactBounds,
  ArtifactKept,
  ArtifactRow,
  ArtifactStore,
  RecordSubject,
} from '../observe/store.ts'
import { heldBy, inVain } from './artifact-bounds.ts'

type Filter = Parameters<ArtifactStore['list']>[0]

export class MemoryArtifacts implements ArtifactStore {
  readonly #bytesMax: number
  readonly #failure: () => string | undefined
  /** In the order of being kept. */
  readonly #kept = new Map<string, Artifact>()
  #bytes = 0

  /** `failure`: why nothing can be kept now. */
  constructor(bytesMax: number, failure: () => string | undefined) {
    this.#bytesMax = bytesMax
    this.#failure = failure
  }

  async keep({ row, content }: Artifact, given: ArtifactBounds): Promise<ArtifactKept> {
    const bounds = { ...given, bytesMax: Math.min(given.bytesMax, this.#bytesMax) }
    const why = this.#failure() ?? inVain(row, bounds)
    if (why !== undefined) return { kind: 'refused', why }
    this.dropExpired(row.at)
    this.#drop(row.id)
    this.#makeRoom(row, bounds)
    // The caller's buffer may be used again.
    this.#kept.set(row.id, { row, content: Uint8Array.from(content) })
    this.#bytes += row.bytes
    return { kind: 'kept' }
  }

  async find(id: string, principal: ArtifactRow['principal'], now: number): Promise<Artifact | undefined> {
    const kept = this.#kept.get(id)
    if (kept === undefined || kept.row.expiresAt <= now || !heldBy(kept.row, principal)) return undefined
    return { row: kept.row, content: Uint8Array.from(kept.content) }
  }

  async list({ principal, limit }: Filter): Promise<readonly ArtifactRow[]> {
    const rows = [...this.#kept.values()].map(({ row }) => row).reverse()
    return (principal === undefined ? rows : rows.filter((row) => heldBy(row, principal))).slice(0, limit)
  }

  /** All contents of a person; answers how many. */
  erase({ tenant, user }: RecordSubject): number {
    const theirs = [...this.#kept.values()].filter(
      ({ row }) => row.principal.tenant === tenant && row.principal.user === user,
    )
    for (const { row } of theirs) this.#drop(row.id)
    return theirs.length
  }

  dropExpired(now: number): void {
    for (const { row } of this.#kept.values()) if (row.expiresAt <= now) this.#drop(row.id)
  }

  #makeRoom(row: ArtifactRow, { bytesMax, principalBytesMax }: ArtifactBounds): void {
    let theirs = 0
    for (const kept of this.#kept.values()) if (heldBy(kept.row, row.principal)) theirs += kept.row.bytes
    for (const { row: oldest } of this.#kept.values()) {
      const isTheirs = heldBy(oldest, row.principal)
      const tooMuch = this.#bytes + row.bytes > bytesMax
      if (!tooMuch && (!isTheirs || theirs + row.bytes <= principalBytesMax)) continue
      if (isTheirs) theirs -= oldest.bytes
      this.#drop(oldest.id)
    }
  }

  #drop(id: string): void {
    const kept = this.#kept.get(id)
    if (kept === undefined) return
    this.#kept.delete(id)
    this.#bytes -= kept.row.bytes
  }
}
