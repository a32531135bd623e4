// The one page of a running gate: what runs, for whoever came with an opening link; for everybody else only that a gate
// runs here. Plain HTML without a script; everything that comes from outside is escaped.

import { sha256 } from '../base/digest.ts'
import type { CatalogueRow, Gate, SourceRow } from '../gate-contract.ts'

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}table{border-collapse:collapse;width:100%}' +
  'td,th{text-align:left;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #8884;vertical-align:top}code,pre{font:14px/1.4 ui-monospace,monospace}' +
  'pre{background:#8882;padding:.8rem;overflow:auto}.failed{color:#b00}@media(prefers-color-scheme:dark){body{background:#111;color:#eee}.failed{color:#f77}}'

/** Allows the one style sheet above, by its digest, and nothing else at all. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${Buffer.from(sha256(STYLE), 'hex').toString('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** For whoever has no cookie. */
export const closedPage = (): string =>
  page('<p>A Lockgate gate runs here. Its console opens with the single-use link that it printed when it started.</p>')

export function openPage(gate: Gate, mcpUrl: string): string {
  const sources = gate.catalogue.sources()
  const rows = gate.catalogue.rows()
  return page(`${sourceTable(sources, rows)}${warningList(gate.warnings())}${heldList(rows)}${connecting(mcpUrl)}`)
}

function sourceTable(sources: readonly SourceRow[], rows: readonly CatalogueRow[]): string {
  const callable = (name: string): number =>
    rows.filter(
      ({ source, state, shadowedBy }) => source === name && state.kind === 'active' && shadowedBy === undefined,
    ).length
  const lines = sources.map(({ name, state, tools }) => {
    const why = state.kind === 'failed' ? `: ${state.reason}` : ''
    return `<tr><td><code>${escapeHtml(name)}</code></td><td class="${state.kind}">${escapeHtml(`${state.kind}${why}`)}</td><td>${callable(name)} of ${tools}</td></tr>`
  })
  const empty = sources.length === 0 ? '<tr><td colspan="3">no sources are configured</td></tr>' : ''
  return `<h2>Sources</h2><table><tr><th>Source</th><th>State</th><th>Callable tools</th></tr>${lines.join('')}${empty}</table>`
}

function heldList(rows: readonly CatalogueRow[]): string {
  const held = rows.flatMap(({ name, source, state }) =>
    state.kind === 'held'
      ? [`<li><code>${escapeHtml(name)}</code> (${escapeHtml(source)}): ${escapeHtml(state.reason)}</li>`]
      : [],
  )
  return held.length === 0 ? '' : `<h2>Tools that cannot be called</h2><ul>${held.join('')}</ul>`
}

const warningList = (warnings: readonly string[]): string =>
  warnings.length === 0
    ? ''
    : `<h2>Warnings</h2><ul>${warnings.map((warning) => `<li>${escapeHtml(warning)}</li>`).join('')}</ul>`

function connecting(mcpUrl: string): string {
  const entry = JSON.stringify(
    { mcpServers: { lockgate: { type: 'http', url: mcpUrl, headers: { Authorization: 'Bearer CALL_TOKEN' } } } },
    null,
    2,
  )
  return `<h2>Connect a client</h2><p>MCP is served at <code>${escapeHtml(mcpUrl)}</code>. Put the <code>call</code> token that was printed at the start in the place of <code>CALL_TOKEN</code>.</p><pre>${escapeHtml(entry)}</pre>`
}

const page = (body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Lockgate</title><style>${STYLE}</style></head><body><h1>Lockgate</h1>${body}</body></html>`

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES.get(char) ?? '')
