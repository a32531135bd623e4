// What was kept whole of cut results, over the admin API. A credential reads what its own caller may still read, and nothing of
// anybody else; for the operator there is a list, without contents and without arguments.

import type { Hono } from 'hono'
import type { Gate } from '../gate-contract.ts'
import type { ArtifactRow } from '../observe/store.ts'
import { needs } from './admin-needs.ts'
import { json, readId, readLimit, readQuery } from './admin-request.ts'
import type { CallerSessions } from './caller-sessions.ts'
import type { HttpEnvironment } from './http-environment.ts'
import { problem } from './problem.ts'

export type ArtifactRoutesParts = { readonly gate: Pick<Gate, 'artifacts'>; readonly sessions: CallerSessions }

/** What a browser may be told to take a content for. Anything else came from somewhere and is only bytes. */
const PLAIN: ReadonlyMap<string, string> = new Map([
  ['application/json', 'application/json'],
  ['text/plain', 'text/plain; charset=utf-8'],
])

export function artifactRoutes(app: Hono<HttpEnvironment>, { gate, sessions }: ArtifactRoutesParts): void {
  app.get('/api/artifacts', needs('GET /api/artifacts'), async (context) => {
    const asked = readQuery(context.req.url, ['limit'])
    if (asked.kind === 'refused') return asked.response
    const limit = readLimit(asked.value.limit)
    if (limit.kind === 'refused') return limit.response
    const rows = await gate.artifacts.list({ limit: limit.value })
    return json({ artifacts: rows.map(artifactView) })
  })
  app.get('/api/artifacts/:id', needs('GET /api/artifacts/{id}'), async (context) => {
    const id = readId(context.req.param('id'))
    const { caller } = sessions.of(context.get('credential'))
    const artifact = id === undefined ? undefined : await gate.artifacts.find(id, caller)
    if (artifact === undefined)
      return problem('not_found', 'nothing is kept under this id for the caller of this credential, or not any more')
    const { row, content } = artifact
    return new Response(new Uint8Array(content), {
      headers: {
        'content-type': PLAIN.get(row.mediaType) ?? 'application/octet-stream',
        'content-disposition': `attachment; filename="${/^art_[0-9a-f]{32}$/.test(row.id) ? row.id : 'artifact'}"`,
        etag: `"${row.digest}"`,
      },
    })
  })
}

/** Arguments may hold anything, and whoever lists is not their caller. */
function artifactView({ call, ...row }: ArtifactRow): object {
  const { argumentsText: _, ...told } = call
  return { ...row, call: told }
}
