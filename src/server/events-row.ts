// What the stream of events says of each thing that happens: which one, of what kind, and how it stands. Never arguments,
// results, renderings or texts of errors: whoever may read those fetches the row. Only a running tool is quoted in what it says
// of how far it is.

import { sha256 } from '../base/digest.ts'
import type { Outcome } from '../describe/outcome.ts'
import type { Gate, GateEvents } from '../gate-contract.ts'
import type { ApprovalRow, StopRow } from '../observe/store.ts'
import type { Scope } from './token-rows.ts'

export const EVENT_KINDS = [
  'call',
  'progress',
  'approval',
  'catalogue',
  'policy',
  'stop',
  'audit',
  'checkpoint',
] as const
export type EventKind = (typeof EVENT_KINDS)[number]

export type EventRow = { readonly kind: EventKind; readonly data: Readonly<Record<string, unknown>> }

const TEXT_CHARACTERS_MAX = 128
const STOPS_MAX = 16
/** Of a longer message the newest part is told. */
const MESSAGE_CHARACTERS_MAX = 1_024

/** What the scopes of a credential let it hear of. One that can only call hears nothing. */
export function kindsFor(scopes: readonly Scope[]): ReadonlySet<EventKind> {
  if (scopes.includes('admin') || scopes.includes('audit')) return new Set(EVENT_KINDS)
  return new Set(scopes.includes('approve') ? (['approval'] as const) : [])
}

/** Hears of everything that a gate tells, until the answer is called. */
export function listenTo(gate: Pick<Gate, 'on'>, hear: (row: EventRow) => void): () => void {
  const on = <Name extends keyof GateEvents>(name: Name, row: (detail: GateEvents[Name]) => EventRow): (() => void) =>
    gate.on(name, (detail) => hear(row(detail)))
  const stops = [
    on('call-closed', callRow),
    on('call-progress', progressRow),
    on('approval-opened', approvalRow),
    on('approval-changed', approvalRow),
    on('catalogue-changed', ({ digest }) => ({ kind: 'catalogue', data: { digest } })),
    on('policy-changed', ({ version }) => ({ kind: 'policy', data: { version } })),
    on('stops-changed', stopRow),
    on('audit-failed', ({ reason }) => ({ kind: 'audit', data: { kept: reason === undefined } })),
    on('checkpoint-made', ({ note }) => ({ kind: 'checkpoint', data: { digest: sha256(note), bytes: note.length } })),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

function callRow(outcome: Outcome): EventRow {
  const { meta, elapsedMs } = outcome
  const ended = outcome.ok ? { ok: true } : { ok: false, error: outcome.error.type, effectState: outcome.error.effect }
  return {
    kind: 'call',
    data: {
      callId: meta.callId,
      runId: meta.runId,
      tool: cut(meta.tool),
      ...optional({ source: meta.source, effect: meta.effect, decision: meta.decision?.kind }),
      ...optional({ approval: meta.approval, grant: meta.grant }),
      attempts: meta.attempts,
      elapsedMs: Math.round(elapsedMs),
      ...ended,
    },
  }
}

function progressRow({ callId, tool, progress }: GateEvents['call-progress']): EventRow {
  const { message, ...counts } = progress
  const said = message === undefined ? {} : { message: message.slice(-MESSAGE_CHARACTERS_MAX) }
  return { kind: 'progress', data: { callId, tool: cut(tool), ...counts, ...said } }
}

function approvalRow(row: ApprovalRow): EventRow {
  const { id, state, tool, effect, tenant, user, agent, session, openedAt, expiresAt } = row
  return {
    kind: 'approval',
    data: {
      id,
      state,
      tool: cut(tool),
      effect,
      tenant: cut(tenant),
      user: cut(user),
      agent: cut(agent),
      session: cut(session),
      openedAt,
      expiresAt,
      ...(row.answeredBy === undefined ? {} : { answeredBy: cut(row.answeredBy) }),
    },
  }
}

function stopRow(rows: readonly StopRow[]): EventRow {
  const newest = rows.slice(-STOPS_MAX).map(({ id, target }) => ({ id, target }))
  return { kind: 'stop', data: { count: rows.length, stops: newest } }
}

const cut = (text: string): string => text.slice(0, TEXT_CHARACTERS_MAX)

const optional = (fields: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, cut(value)]])))
