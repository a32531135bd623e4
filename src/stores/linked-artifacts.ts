// The artifacts of a SQLite store, as its caller's thread has them: each question goes to the worker. It never rejects where
// something is to be kept: a store that cannot write says so.

import type { ArtifactStore } from '../observe/store.ts'
import { checkLimit } from './record-draft.ts'
import type { WorkerLink } from './worker-link.ts'

export const linkedArtifacts = (link: WorkerLink): ArtifactStore => ({
  keep: async (artifact, bounds) => {
    try {
      return await link.ask<'keep-artifact'>({ kind: 'keep-artifact', artifact, bounds })
    } catch {
      // The reason is the operator's: it names files.
      return { kind: 'refused', why: 'it cannot be kept now' }
    }
  },
  find: async (artifact, principal, now) =>
    await link.ask<'find-artifact'>({ kind: 'find-artifact', artifact, principal, now }),
  list: async (filter) => {
    checkLimit(filter.limit)
    return await link.ask<'artifacts'>({ kind: 'artifacts', filter })
  },
})
