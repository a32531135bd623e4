// The OpenAPI 3.1 document of the admin API, kept by hand. A test compares it with the routes that are served.

import { VERSION } from '../base/version.ts'
import { EFFECTS } from '../describe/effect.ts'
import { ERROR_TYPES } from '../describe/error-types.ts'

const reference = (name: string): object => ({ $ref: `#/components/schemas/${name}` })
const jsonBody = (schema: object): object => ({ content: { 'application/json': { schema } } })
const problemBody = (description: string): object => ({
  description,
  content: { 'application/problem+json': { schema: reference('Problem') } },
})
const texts = { type: 'array', items: { type: 'string' } }

const REFUSALS = {
  '401': problemBody('No token, or one that is unknown, ended or expired.'),
  '403': problemBody('The credential lacks a scope, which is named; or the Host or Origin is not one of this server.'),
}

const ERROR_SCHEMA = {
  type: 'object',
  required: ['type', 'message', 'retry', 'effect', 'fatal'],
  properties: {
    type: { enum: Object.keys(ERROR_TYPES) },
    message: { type: 'string', description: 'For the model: what to do next.' },
    retry: {
      type: 'object',
      required: ['advice'],
      properties: { advice: { enum: ['never', 'fix_args', 'ask', 'later', 'safe'] }, afterMs: { type: 'number' } },
    },
    effect: { enum: ['none', 'done', 'unknown'] },
    fatal: { type: 'boolean' },
    help: { type: 'string', description: 'For the operator; only with the scope `admin`.' },
    details: { type: 'object' },
  },
}

const OUTCOME_SCHEMA = {
  type: 'object',
  required: ['ok', 'content', 'elapsedMs', 'meta'],
  properties: {
    ok: { type: 'boolean' },
    value: { description: 'With `ok`: the complete value.' },
    error: reference('OutcomeError'),
    content: {
      type: 'array',
      items: { type: 'object' },
      description: 'For the model: MCP content parts within the result budget.',
    },
    display: { type: 'object' },
    elapsedMs: { type: 'number' },
    meta: {
      type: 'object',
      required: ['callId', 'runId', 'tool', 'attempts'],
      properties: {
        callId: { type: 'string' },
        runId: { type: 'string' },
        tool: { type: 'string' },
        attempts: { type: 'integer' },
      },
    },
  },
}

const CALL_SCHEMA = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: { type: 'string' },
    arguments: { description: 'An object, or its JSON text. Default: {}.' },
    id: { type: 'string', description: "The caller's own id, returned in `meta.id`." },
    approval: { type: 'string', description: 'An approval to use; without it an equal granted one is found.' },
    session: {
      type: 'string',
      pattern: '^[A-Za-z0-9._:-]{1,128}$',
      description: 'A conversation below the credential.',
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
        description: 'Scope: `call` or `admin`.',
        responses: { '200': { description: 'It serves.', ...jsonBody(reference('Health')) }, ...REFUSALS },
      },
    },
    '/api/tools': {
      get: {
        summary: 'The tools that the caller may use; with `all=1` everything that the gate knows.',
        description: 'Scope: `call`; with `all=1`: `admin`.',
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
        description:
          'Scope: `call`. The answer is 200 with an outcome for every call that was opened, also for one that was refused or failed: `ok` and `error.type` tell what became of it.',
        requestBody: { required: true, ...jsonBody(reference('Call')) },
        responses: {
          '200': { description: 'The outcome.', ...jsonBody(reference('Outcome')) },
          '400': problemBody('The body is no JSON that every reader reads alike, or no call.'),
          '413': problemBody('The body is larger than 4 MiB.'),
          '415': problemBody('The body is not labelled application/json.'),
          ...REFUSALS,
        },
      },
    },
    '/api/openapi.json': {
      get: {
        summary: 'This document.',
        description: 'Any scope.',
        responses: { '200': { description: 'OpenAPI 3.1.', ...jsonBody({ type: 'object' }) }, ...REFUSALS },
      },
    },
  },
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Call: CALL_SCHEMA,
      Outcome: OUTCOME_SCHEMA,
      OutcomeError: ERROR_SCHEMA,
      Effect: { enum: [...EFFECTS, 'undeclared'] },
      Health: {
        type: 'object',
        required: ['status', 'version', 'sources'],
        properties: {
          status: { const: 'ok' },
          version: { type: 'string' },
          sources: {
            type: 'object',
            properties: { ready: { type: 'integer' }, starting: { type: 'integer' }, failed: { type: 'integer' } },
          },
        },
      },
      Problem: {
        type: 'object',
        required: ['type', 'title', 'status', 'detail', 'errorType'],
        properties: {
          type: { type: 'string' },
          title: { type: 'string' },
          status: { type: 'integer' },
          detail: { type: 'string' },
          errorType: { enum: Object.keys(ERROR_TYPES) },
          missingScope: { enum: ['call', 'approve', 'audit', 'admin'] },
        },
      },
    },
  },
} as const
