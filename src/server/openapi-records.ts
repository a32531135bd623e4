// The part of the OpenAPI document that is about records and artifacts.

import { ERROR_TYPES } from '../describe/error-types.ts'
import { answer, ID, LIMIT, listOf, problemBody, QUERY_REFUSALS, REFUSALS, scoped } from './openapi-parts.ts'
import { reference } from './openapi-schemas.ts'
import { RECORD_KINDS } from './record-filters.ts'

const filter = (name: string, description: string, schema: object = { type: 'string', maxLength: 256 }): object => ({
  ...{ name, in: 'query', description, schema },
})
const TIME = 'A duration that counts back from now (`7d`), a date, or milliseconds since the Unix epoch.'

const FILTERS = [
  filter('kind', 'Of this kind.', { enum: RECORD_KINDS }),
  filter('callId', 'Of this call.'),
  filter('chain', 'Of this chain: what one process has written.'),
  ...['tenant', 'user', 'agent', 'session'].map((name) =>
    filter(name, `Of this ${name}; records of erased persons fit none.`),
  ),
  filter('tool', 'Of calls of this tool.'),
  filter('source', 'Of calls of tools of this source.'),
  filter('since', `From then on. ${TIME}`),
  filter('until', `Before then. ${TIME}`),
  filter('ok', 'Of calls that were done, or of those that were not.', { enum: ['true', 'false'] }),
  filter('errorType', 'Of calls that ended so.', { enum: Object.keys(ERROR_TYPES) }),
  filter('decision', 'Of calls that the policy answered so.', { enum: ['allow', 'ask', 'deny'] }),
  filter('order', 'Default: oldest.', { enum: ['oldest', 'newest'] }),
  filter('after', 'The cursor: `next` of the page before.', { type: 'string', pattern: '^[0-9]{1,16}$' }),
]

export const RECORD_PATHS = {
  '/api/records': {
    get: {
      summary: 'Records, a page at a time.',
      description: scoped('GET /api/records', 'All filters that are given must hold.'),
      parameters: [...FILTERS, LIMIT],
      responses: {
        '200': answer('The rows, and the cursor of the next page where there is one.', {
          type: 'object',
          required: ['records'],
          properties: { records: { type: 'array', items: reference('Record') }, next: { type: 'string' } },
        }),
        ...QUERY_REFUSALS,
        ...REFUSALS,
      },
    },
  },
  '/api/records/verify': {
    get: {
      summary: 'Whether the records are as they were written.',
      description: scoped(
        'GET /api/records/verify',
        'It reads all of them. Rows cut from the end of a chain, and chains missing as a whole, show only against checkpoints kept elsewhere: `lockgate audit verify --against FILE`.',
      ),
      responses: {
        '200': answer('They hold, or the first row that does not.', reference('Verification')),
        ...QUERY_REFUSALS,
        ...REFUSALS,
      },
    },
  },
  '/api/artifacts': {
    get: {
      summary: 'What is kept of cut results, newest first; without contents.',
      description: scoped('GET /api/artifacts'),
      parameters: [LIMIT],
      responses: { '200': answer('The rows.', listOf('artifacts', 'Artifact')), ...QUERY_REFUSALS, ...REFUSALS },
    },
  },
  '/api/artifacts/{id}': {
    get: {
      summary: 'One of them whole, as the caller of the credential may read it now.',
      description: scoped('GET /api/artifacts/{id}', 'The call whose result it is is decided again for that caller.'),
      parameters: [ID],
      responses: {
        '200': {
          description: 'The content. `etag` is its SHA-256 in hexadecimal.',
          content: {
            'application/json': { schema: {} },
            'text/plain': { schema: { type: 'string' } },
            'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
          },
        },
        '404': problemBody('Nothing is kept under this id for this caller, or not any more.'),
        ...REFUSALS,
      },
    },
  },
}
