// Records as log records of OpenTelemetry, in the JSON encoding of OTLP (`LogsData`), for whoever exports them to where logs
// are kept. The body of a log record is the record; what is looked for most stands beside it as attributes. Nothing is sent.

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json-value.ts'
import { VERSION } from '../../base/version.ts'
import { bodyOf } from '../record-text.ts'
import type { RecordRow } from '../store.ts'
import * as names from './convention-names.ts'

/** Severity numbers of the log data model: a failed call is no fault of the gate, and worth a look all the same. */
const INFO = { severityNumber: 9, severityText: 'INFO' } as const
const WARN = { severityNumber: 13, severityText: 'WARN' } as const

type AnyValue = { readonly [kind: string]: unknown }
type KeyValue = { readonly key: string; readonly value: AnyValue }

/** One `LogsData` with these records in their order. */
export function recordLogs(rows: readonly RecordRow[]): object {
  return {
    resourceLogs: [
      {
        resource: { attributes: [attribute('service.name', 'lockgate')] },
        scopeLogs: [{ scope: { name: 'lockgate', version: VERSION }, logRecords: rows.map(logRecord) }],
      },
    ],
  }
}

function logRecord(row: RecordRow): object {
  const body = bodyOf(row)
  const timeUnixNano = `${Math.trunc(row.at)}000000`
  return {
    timeUnixNano,
    observedTimeUnixNano: timeUnixNano,
    ...(body.ok === false ? WARN : INFO),
    eventName: `lockgate.${row.kind}`,
    body: anyValue(body),
    attributes: attributesOf(row, body),
    ...traceOf(body),
  }
}

function attributesOf({ callId, chain, hash, seq }: RecordRow, body: JsonObject): readonly KeyValue[] {
  const { tool, runId, source, effect, error, decision } = body
  const known: readonly (readonly [string, JsonValue | undefined])[] = [
    [names.CALL_ID, callId ?? undefined],
    [names.RUN_ID, runId],
    [names.GEN_AI_TOOL_NAME, tool],
    [names.SOURCE, source],
    [names.EFFECT, effect],
    [names.ERROR_TYPE, isJsonObject(error) ? error.type : undefined],
    [names.DECISION, isJsonObject(decision) ? decision.kind : undefined],
    ['lockgate.record.chain', chain],
    ['lockgate.record.seq', seq],
    ['lockgate.record.hash', hash],
  ]
  return known.flatMap(([key, value]) => (value === undefined || value === null ? [] : [attribute(key, value)]))
}

/** The trace that the call was part of, where the record says one. */
function traceOf({ trace }: JsonObject): object {
  const parts = typeof trace === 'string' ? /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(trace) : null
  return parts === null ? {} : { traceId: parts[1], spanId: parts[2] }
}

const attribute = (key: string, value: JsonValue): KeyValue => ({ key, value: anyValue(value) })

/** `AnyValue` of OTLP. 64-bit integers are texts there; a number that is none is a double. Null is a value that is not set. */
function anyValue(value: JsonValue): AnyValue {
  if (value === null) return {}
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
  const members = Object.entries(value as JsonObject).map(([key, member]) => attribute(key, member))
  return { kvlistValue: { values: members } }
}
