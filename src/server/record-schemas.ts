// The schemas of records and artifacts in the OpenAPI document, kept by hand beside the types that they describe.

import { RECORD_KINDS } from './record-filters.ts'

const text = { type: 'string' }
const time = { type: 'integer', description: 'Milliseconds since the Unix epoch.' }
const digest = { type: 'string', description: 'SHA-256 in hexadecimal.' }

export const RECORD_SCHEMA = {
  type: 'object',
  required: ['chain', 'seq', 'position', 'kind', 'at', 'callId', 'body', 'bodyDigest', 'hash'],
  properties: {
    chain: { type: 'string', description: 'What one process has written.' },
    seq: { type: 'integer', description: 'Counts from 1 in each chain.' },
    position: { type: 'integer', description: 'The order of writing over all chains; the cursor of pages.' },
    kind: { enum: RECORD_KINDS },
    at: time,
    callId: { type: ['string', 'null'] },
    body: { type: 'object', description: 'What the record says, with what was sealed where it can be opened.' },
    shut: { const: true, description: 'What is personal cannot be read: it was erased, or its key is not here.' },
    bodyDigest: { type: 'string', description: 'SHA-256 in hexadecimal of the body as it is stored.' },
    hash: { type: 'string', description: 'Of this row and the one before it.' },
  },
}

export const VERIFICATION_SCHEMA = {
  oneOf: [
    {
      type: 'object',
      required: ['kind', 'rows', 'chains', 'notes'],
      properties: {
        kind: { const: 'ok' },
        rows: { type: 'integer' },
        chains: { type: 'integer' },
        checkpoints: { type: 'integer', description: 'Signed ones among the rows that hold.' },
        notes: { type: 'array', items: text, description: 'What this does not prove.' },
      },
    },
    {
      type: 'object',
      required: ['kind', 'chain', 'seq', 'reason', 'rows'],
      properties: {
        kind: { const: 'broken' },
        chain: text,
        seq: { type: 'integer', description: 'The first row that does not hold.' },
        reason: text,
        rows: { type: 'integer', description: 'How many held before it.' },
      },
    },
  ],
}

export const ARTIFACT_SCHEMA = {
  type: 'object',
  required: ['id', 'digest', 'principal', 'call', 'mediaType', 'bytes', 'at', 'expiresAt'],
  properties: {
    id: { type: 'string', pattern: '^art_[0-9a-f]{32}$' },
    digest,
    principal: {
      type: 'object',
      required: ['tenant', 'user', 'agent'],
      properties: { tenant: text, user: text, agent: text },
    },
    call: {
      type: 'object',
      description: 'The call whose result it is.',
      required: ['id', 'session', 'tool', 'fingerprint', 'policyVersion', 'approved'],
      properties: {
        id: text,
        session: text,
        tool: text,
        fingerprint: text,
        policyVersion: text,
        approved: { type: 'boolean' },
      },
    },
    mediaType: text,
    bytes: { type: 'integer' },
    at: time,
    expiresAt: time,
  },
}
