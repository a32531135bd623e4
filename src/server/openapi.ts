// The OpenAPI 3.1 document of the admin API, kept by hand. A test compares it with the routes that are served and with the
// scopes that they need.

import { VERSION } from '../base/version.ts'
import {
  answer,
  BODY_REFUSALS,
  given,
  ID,
  jsonBody,
  LIMIT,
  listOf,
  problemBody,
  QUERY_REFUSALS,
  REFUSALS,
  scoped,
} from './openapi-parts.ts'
import { RECORD_PATHS } from './openapi-records.ts'
import { reference, SCHEMAS, texts } from './openapi-schemas.ts'

const APPROVAL_PATHS = {
  '/api/approvals': {
    get: {
      summary: 'Questions to a person, newest first.',
      description: scoped('GET /api/approvals', 'With `state`, those that have expired are left out.'),
      parameters: [
        { name: 'state', in: 'query', schema: { enum: ['open', 'approved', 'declined', 'redeemed'] } },
        LIMIT,
      ],
      responses: {
        '200': answer('The rows, without any code.', listOf('approvals', 'Approval')),
        ...QUERY_REFUSALS,
        ...REFUSALS,
      },
    },
  },
  '/api/approvals/{id}': {
    get: {
      summary: 'One question.',
      description: scoped('GET /api/approvals/{id}'),
      parameters: [ID],
      responses: {
        '200': answer('The row.', reference('Approval')),
        '404': problemBody('There is no such approval.'),
        ...REFUSALS,
      },
    },
    post: {
      summary: 'The answer of a person, single and final.',
      description: scoped('POST /api/approvals/{id}', 'The record names the credential as the one who answered.'),
      parameters: [ID],
      requestBody: given('Answer'),
      responses: {
        '200': answer('It holds. The equal call, made again, runs.', {
          type: 'object',
          required: ['approval'],
          properties: { approval: reference('Approval'), grant: reference('Grant') },
        }),
        ...BODY_REFUSALS,
        '404': problemBody('There is no such approval.'),
        '409': problemBody('Answered, used or expired before; `state` says which.'),
        '422': problemBody('The scope is not offered, or the code is missing or wrong; `reason` says which.'),
        ...REFUSALS,
      },
    },
  },
  '/api/grants': {
    get: {
      summary: 'What answers with a wider scope have left, newest first.',
      description: scoped('GET /api/grants'),
      parameters: [
        { name: 'live', in: 'query', description: 'Neither revoked nor expired.', schema: { enum: ['1'] } },
        LIMIT,
      ],
      responses: { '200': answer('The rows.', listOf('grants', 'Grant')), ...QUERY_REFUSALS, ...REFUSALS },
    },
  },
  '/api/grants/{id}': {
    delete: {
      summary: 'Revokes a grant: from now on its calls are asked about again.',
      description: scoped('DELETE /api/grants/{id}'),
      parameters: [ID],
      responses: {
        '200': answer('It is revoked.', {
          type: 'object',
          required: ['id', 'revoked'],
          properties: { id: { type: 'string' }, revoked: { const: true } },
        }),
        '404': problemBody('There is no such grant, or it was revoked before.'),
        ...REFUSALS,
      },
    },
  },
}

const POLICY_PATHS = {
  '/api/policy/explain': {
    post: {
      summary: 'Why one call would get its answer. Runs nothing, asks nobody and records no call.',
      description: scoped('POST /api/policy/explain'),
      requestBody: {
        required: true,
        ...jsonBody({
          type: 'object',
          required: ['name'],
          additionalProperties: false,
          properties: {
            caller: reference('Caller'),
            name: { type: 'string', maxLength: 256 },
            arguments: { description: 'An object, or its JSON text. Default: {}.' },
          },
        }),
      },
      responses: {
        '200': answer('The decision, and what each rule found.', reference('Explained')),
        ...BODY_REFUSALS,
        ...REFUSALS,
      },
    },
  },
  '/api/stop': {
    post: {
      summary:
        'Stops calls of a tool, a source or a session, of all that are named, or with none everything; running ones too, until it is lifted.',
      description: scoped('POST /api/stop'),
      requestBody: {
        required: true,
        ...jsonBody({
          type: 'object',
          additionalProperties: false,
          properties: {
            tool: { type: 'string', maxLength: 256 },
            source: { type: 'string', maxLength: 256 },
            session: { type: 'string', maxLength: 256 },
            reason: { type: 'string', maxLength: 256 },
          },
        }),
      },
      responses: { '200': answer('It is stopped.', reference('Stop')), ...BODY_REFUSALS, ...REFUSALS },
    },
  },
  '/api/stops': {
    get: {
      summary: 'What is stopped now, oldest first.',
      description: scoped('GET /api/stops'),
      responses: { '200': answer('The rows.', listOf('stops', 'Stop')), ...REFUSALS },
    },
  },
  '/api/stops/{id}': {
    delete: {
      summary: 'Lifts what was stopped.',
      description: scoped('DELETE /api/stops/{id}'),
      parameters: [ID],
      responses: {
        '200': answer('It is lifted.', {
          type: 'object',
          required: ['id', 'lifted'],
          properties: { id: { type: 'string' }, lifted: { const: true } },
        }),
        '404': problemBody('Nothing is stopped under this id.'),
        ...REFUSALS,
      },
    },
  },
}

const EVENT_PATHS = {
  '/api/events': {
    get: {
      summary: 'What happens, as server-sent events, until one side closes.',
      description: scoped(
        'GET /api/events',
        'With `approve` alone only `approval`; with `audit` or `admin` every kind. Data names what happened and holds no arguments or results; but `progress`, which has no id and is not told again, quotes what a running tool says of how far it is. After `reset`, events were lost: read the lists again. A reader that is too slow is cut off.',
      ),
      parameters: [
        {
          name: 'Last-Event-ID',
          in: 'header',
          description: 'What was heard last; the newest 500 events are kept.',
          schema: { type: 'string' },
        },
      ],
      responses: {
        '200': {
          description: 'Each event is of one of the kinds of `EventKind`; its data is one line of JSON.',
          content: { 'text/event-stream': { schema: { type: 'string' } } },
        },
        '503': problemBody('Too many listen already.'),
        ...REFUSALS,
      },
    },
  },
}

const METRIC_PATHS = {
  '/metrics': {
    get: {
      summary: 'Counters and timings of the gate, for Prometheus.',
      description: scoped(
        'GET /metrics',
        'Labels are names of tools, sources, stages and ends, and never arguments or callers.',
      ),
      responses: {
        '200': {
          description: 'The text format, version 0.0.4.',
          content: { 'text/plain': { schema: { type: 'string' } } },
        },
        ...REFUSALS,
      },
    },
  },
}

export const OPENAPI = {
  openapi: '3.1.0',
  info: {
    title: 'Lockgate admin API',
    version: VERSION,
    description:
      'Every request needs a bearer token, also on the loopback. Errors are problem documents (RFC 9457) that carry an error type.',
  },
  security: [{ token: [] }],
  paths: {
    '/api/health': {
      get: {
        summary: 'Whether the gate serves, and how its sources are.',
        description: scoped('GET /api/health'),
        responses: { '200': { description: 'It serves.', ...jsonBody(reference('Health')) }, ...REFUSALS },
      },
    },
    '/api/tools': {
      get: {
        summary: 'The tools that the caller may use; with `all=1` everything that the gate knows.',
        description: `${scoped('GET /api/tools')} With \`all=1\`: ${scoped('GET /api/tools?all')}`,
        parameters: [{ name: 'all', in: 'query', schema: { enum: ['1'] } }],
        responses: {
          '200': {
            description: 'Definitions, or with `all=1` rows, sources and warnings.',
            ...jsonBody({
              type: 'object',
              required: ['tools'],
              properties: {
                tools: { type: 'array', items: { type: 'object' } },
                sources: { type: 'array', items: { type: 'object' } },
                warnings: texts,
              },
            }),
          },
          ...REFUSALS,
        },
      },
    },
    '/api/calls': {
      post: {
        summary: 'One call.',
        description: scoped(
          'POST /api/calls',
          'The answer is 200 with an outcome for every call that was opened, also for one that was refused or failed: `ok` and `error.type` tell what became of it.',
        ),
        requestBody: given('Call'),
        responses: {
          '200': { description: 'The outcome.', ...jsonBody(reference('Outcome')) },
          ...BODY_REFUSALS,
          ...REFUSALS,
        },
      },
    },
    '/api/openapi.json': {
      get: {
        summary: 'This document.',
        description: scoped('GET /api/openapi.json'),
        responses: { '200': { description: 'OpenAPI 3.1.', ...jsonBody({ type: 'object' }) }, ...REFUSALS },
      },
    },
    ...APPROVAL_PATHS,
    ...POLICY_PATHS,
    ...RECORD_PATHS,
    ...EVENT_PATHS,
    ...METRIC_PATHS,
  },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } }, schemas: SCHEMAS },
} as const
