// The schemas of the OpenAPI document of the admin API, kept by hand beside the types that they describe.

import { EFFECTS } from '../describe/effect.ts'
import { ERROR_TYPES } from '../describe/error-types.ts'
import { EVENT_KINDS } from './events-row.ts'
import { ARTIFACT_SCHEMA, RECORD_SCHEMA, VERIFICATION_SCHEMA } from './record-schemas.ts'
import { SCOPES } from './token-rows.ts'

export const reference = (name: string): object => ({ $ref: `#/components/schemas/${name}` })
const text = { type: 'string' }
const time = { type: 'integer', description: 'Milliseconds since the Unix epoch.' }
export const texts = { type: 'array', items: text }
const reach = { enum: ['once', 'session', 'pattern'] }
const globs = { type: 'object', additionalProperties: texts }

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
        startedMs: {
          type: 'number',
          description: 'Milliseconds from the opening of the call to the start of its tool.',
        },
        endedMs: { type: 'number', description: 'Milliseconds from the opening of the call to the end of its tool.' },
        openedAtMs: { type: 'number', description: 'When the call was opened, in milliseconds since 1970.' },
        parent: { type: 'string', description: 'The call whose tool made this one.' },
        cached: { type: 'string', description: 'The answer was kept: the call that first got it.' },
        replayOf: { type: 'string', description: 'The answer was recorded: the call that first used the key.' },
        limitsHit: { type: 'array', items: { type: 'string' }, description: 'Bounds that the work ran into.' },
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
    idempotencyKey: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'The same call made again under the same key runs once; the second gets the recorded answer.',
    },
    session: {
      type: 'string',
      pattern: '^[A-Za-z0-9._:-]{1,128}$',
      description: 'A conversation below the credential.',
    },
  },
}

const APPROVAL_SCHEMA = {
  type: 'object',
  description: 'One question to a person about one exact call.',
  required: [
    'id',
    'digest',
    'state',
    'tenant',
    'user',
    'agent',
    'session',
    'tool',
    'fingerprint',
    'effect',
    'policyVersion',
    'reason',
    'shown',
    'workspace',
    'askedBy',
    'offers',
    'openedAt',
    'expiresAt',
    'needsCode',
  ],
  properties: {
    id: text,
    digest: { type: 'string', description: 'SHA-256 that binds the answer to the call.' },
    state: { enum: ['open', 'approved', 'declined', 'redeemed', 'expired'] },
    tenant: text,
    user: text,
    agent: text,
    session: text,
    tool: text,
    fingerprint: text,
    effect: text,
    policyVersion: text,
    reason: text,
    shown: { type: 'string', description: 'The escaped rendering of the call that a person reads.' },
    workspace: text,
    task: text,
    askedBy: {
      type: 'array',
      items: text,
      description: 'Digests of the rules, and names of the defaults, that asked.',
    },
    offers: {
      type: 'array',
      items: {
        type: 'object',
        required: ['reach', 'shown'],
        properties: { reach, shown: { type: 'string', description: 'What it would cover.' }, where: globs },
      },
    },
    openedAt: time,
    expiresAt: time,
    needsCode: { type: 'boolean', description: 'An answer has to bring the code that the terminal of the gate shows.' },
    reach,
    clientAsserted: { type: 'boolean' },
    answeredAt: time,
    answeredBy: text,
    comment: text,
    redeemedBy: text,
  },
}

const ANSWER_SCHEMA = {
  type: 'object',
  required: ['decision'],
  additionalProperties: false,
  properties: {
    decision: { enum: ['approve', 'decline'] },
    scope: { ...reach, description: 'One of those that the question offers. Default: once.' },
    comment: { type: 'string', maxLength: 2_000 },
    code: { type: 'string', maxLength: 64, description: 'Where the question needs one.' },
  },
}

const GRANT_SCHEMA = {
  type: 'object',
  description: 'What an answer with a wider scope left: calls that fit are not asked about again.',
  required: ['id', 'approvalId', 'reach', 'tool', 'shown', 'grantedBy', 'grantedAt', 'expiresAt'],
  properties: {
    id: text,
    approvalId: text,
    reach,
    tenant: text,
    user: text,
    agent: text,
    session: text,
    workspace: text,
    task: text,
    tool: text,
    fingerprint: text,
    effect: text,
    askedBy: { type: 'array', items: text },
    where: globs,
    policyVersion: text,
    shown: text,
    grantedBy: text,
    grantedAt: time,
    expiresAt: time,
    revokedAt: time,
    revokedBy: text,
  },
}

const CALLER_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    tenant: text,
    user: text,
    agent: text,
    roles: texts,
    session: text,
    task: {
      type: 'object',
      required: ['name'],
      additionalProperties: false,
      properties: { name: text, allow: texts },
    },
    step: text,
    layers: texts,
  },
}

const DECISION_SCHEMA = {
  type: 'object',
  required: ['kind', 'by', 'reason', 'policyVersion'],
  properties: {
    kind: { enum: ['allow', 'ask', 'deny'] },
    by: text,
    rule: reference('Rule'),
    reason: text,
    reach,
    policyVersion: text,
  },
}

const EXPLAINED_SCHEMA = {
  oneOf: [
    {
      type: 'object',
      description: 'The call does not come as far as its arguments are judged by the policy.',
      required: ['kind', 'type', 'message'],
      properties: { kind: { const: 'refused' }, type: text, message: text },
    },
    {
      type: 'object',
      required: ['kind', 'decision', 'findings', 'arguments', 'resources', 'effect'],
      properties: {
        kind: { const: 'decided' },
        decision: reference('Decision'),
        findings: {
          type: 'array',
          items: {
            type: 'object',
            required: ['rule', 'answer', 'holds', 'decides'],
            properties: {
              rule: reference('Rule'),
              answer: { enum: ['allow', 'ask', 'deny'] },
              holds: { type: 'boolean' },
              decides: { type: 'boolean' },
              failed: text,
              concerning: text,
            },
          },
        },
        arguments: { type: 'object', description: 'The canonical arguments that were judged.' },
        resources: texts,
        effect: reference('Effect'),
      },
    },
  ],
}

const STOP_SCHEMA = {
  type: 'object',
  required: ['id', 'target', 'by', 'at'],
  properties: {
    id: text,
    target: {
      type: 'object',
      description: 'Empty: everything.',
      properties: { tool: text, source: text, session: text },
    },
    by: text,
    at: time,
    reason: text,
  },
}

const HEALTH_SCHEMA = {
  type: 'object',
  required: ['status', 'version', 'sources'],
  properties: {
    status: { const: 'ok' },
    version: text,
    sources: {
      type: 'object',
      properties: { ready: { type: 'integer' }, starting: { type: 'integer' }, failed: { type: 'integer' } },
    },
  },
}

const PROBLEM_SCHEMA = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'errorType'],
  properties: {
    type: text,
    title: text,
    status: { type: 'integer' },
    detail: text,
    errorType: { enum: Object.keys(ERROR_TYPES) },
    missingScope: {
      enum: SCOPES,
      description: 'With 403: the scope that is lacking; the first where one of several would do.',
    },
    conflictingScope: { enum: SCOPES, description: 'With 403: the scope that must not be there.' },
    state: {
      description: 'Of an approval that takes no answer.',
      enum: ['open', 'approved', 'declined', 'redeemed', 'expired'],
    },
    reason: { enum: ['reach-not-offered', 'code-missing', 'code-wrong', 'client-asserted'] },
  },
}

export const SCHEMAS = {
  Answer: ANSWER_SCHEMA,
  Approval: APPROVAL_SCHEMA,
  Artifact: ARTIFACT_SCHEMA,
  Call: CALL_SCHEMA,
  Caller: CALLER_SCHEMA,
  Decision: DECISION_SCHEMA,
  Effect: { enum: [...EFFECTS, 'undeclared'] },
  EventKind: { enum: [...EVENT_KINDS, 'reset'] },
  Explained: EXPLAINED_SCHEMA,
  Grant: GRANT_SCHEMA,
  Health: HEALTH_SCHEMA,
  Outcome: OUTCOME_SCHEMA,
  OutcomeError: ERROR_SCHEMA,
  Problem: PROBLEM_SCHEMA,
  Record: RECORD_SCHEMA,
  Rule: {
    type: 'object',
    required: ['text'],
    properties: { text, file: text, line: { type: 'integer' }, because: text, origin: text },
  },
  Stop: STOP_SCHEMA,
  Verification: VERIFICATION_SCHEMA,
}
