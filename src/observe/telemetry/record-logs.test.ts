import { expect, test } from 'vitest'
import type { RecordRow } from '../store.ts'
import { recordLogs } from './record-logs.ts'

const row = (body: object, more: Partial<RecordRow> = {}): RecordRow => ({
  ...{ kind: 'end', at: 1_700_000_000_123, callId: 'call_1', body: JSON.stringify(body), chain: 'c', seq: 4 },
  ...{ bodyDigest: '00', hash: 'ab', position: 9 },
  ...more,
})

const logsOf = (rows: readonly RecordRow[]): Record<string, unknown>[] =>
  (recordLogs(rows) as { resourceLogs: { scopeLogs: { logRecords: Record<string, unknown>[] }[] }[] }).resourceLogs[0]
    ?.scopeLogs[0]?.logRecords ?? []

test('a record is a log record in the encoding of OTLP, its body whole and what is looked for beside it', () => {
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const [log] = logsOf([row({ tool: 'look', ok: true, ms: 0.25, attempts: 1, parts: [null, 'x'], trace })])
  expect(log).toMatchObject({
    timeUnixNano: '1700000000123000000',
    severityText: 'INFO',
    eventName: 'lockgate.end',
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    body: {
      kvlistValue: {
        values: [
          { key: 'tool', value: { stringValue: 'look' } },
          { key: 'ok', value: { boolValue: true } },
          { key: 'ms', value: { doubleValue: 0.25 } },
          { key: 'attempts', value: { intValue: '1' } },
          { key: 'parts', value: { arrayValue: { values: [{}, { stringValue: 'x' }] } } },
          { key: 'trace', value: { stringValue: trace } },
        ],
      },
    },
  })
  expect(log?.attributes).toContainEqual({ key: 'lockgate.call.id', value: { stringValue: 'call_1' } })
  expect(log?.attributes).toContainEqual({ key: 'lockgate.record.seq', value: { intValue: '4' } })
})

test('a call that failed is a warning with its type; what was sealed and can be opened is there again', () => {
  const personal = JSON.stringify({ user: 'ana' })
  const [log] = logsOf([row({ ok: false, error: { type: 'timeout' }, sealed: 'x' }, { personal })])
  expect(log).toMatchObject({ severityText: 'WARN' })
  expect(log?.attributes).toContainEqual({ key: 'error.type', value: { stringValue: 'timeout' } })
  expect(JSON.stringify(log?.body)).toContain('"ana"')
  expect(JSON.stringify(log?.body)).not.toContain('sealed')
})

test('a row that is no object, or of no call, is exported all the same', () => {
  const [log] = logsOf([row({}, { body: 'no JSON', callId: null })])
  expect(log).toMatchObject({ severityText: 'INFO', body: { kvlistValue: { values: [] } } })
})
