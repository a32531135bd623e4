// What a host may do with the catalogue of a gate: tools of its own, and a look at everything that is known.

import { effectMost } from '../describe/effect.ts'
import type { Tool } from '../describe/tool.ts'
import type { Catalogue, CatalogueItem } from '../discover/catalogue.ts'
import type { AnyTool, CatalogueRow, Gate } from '../gate-contract.ts'
import type { RunningSources } from './run-sources.ts'

/** Tools that the host itself registers. */
export const HOST = { source: 'host', layer: 'user', identity: '', foreign: false } as const

export const gateCatalogue = (catalogue: Catalogue, sources: RunningSources): Gate['catalogue'] => ({
  register: (tool: AnyTool) => void catalogue.add(HOST, tool as Tool),
  retire: (name) => catalogue.retire(HOST.source, name),
  rows: () => catalogue.items().map(rowOf),
  sources: () => sources.rows(),
})

const rowOf = ({ entry, shadowedBy }: CatalogueItem): CatalogueRow => ({
  name: entry.tool.name,
  version: entry.tool.version,
  source: entry.source,
  layer: entry.layer,
  effect: effectMost(entry.tool.effect),
  fingerprint: entry.fingerprint,
  state: entry.state,
  ...(shadowedBy === undefined ? {} : { shadowedBy }),
})
