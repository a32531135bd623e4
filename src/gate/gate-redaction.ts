// The redactor of a gate: the operator's rules, and the values that the gate itself hands to what it reaches. What a setting is
// called and what it looks like tells whether it is a secret; `production` and a folder are handed out too, and are none.

import type { Redactor } from '../describe/redactor.ts'
import type { Source } from '../describe/source.ts'
import type { GateOptions, LogEntry } from '../gate-contract.ts'
import { createRedactor } from '../observe/redact/create-redactor.ts'
import type { SecretValue } from '../observe/redact/exact-values.ts'
import { secretsIn } from '../observe/redact/handed-secrets.ts'

/** Of options that hold: `checkGateOptions` has refused rules that there are not and patterns that cannot be matched. */
export function gateRedactor({ redaction = {}, sources = [], audit = {} }: GateOptions): Redactor {
  const { key, signingKey } = audit
  const values: readonly SecretValue[] = [
    ...sources.flatMap(({ handed = [] }: Source) => secretsIn(handed, redaction.keys)),
    ...(key === undefined ? [] : [{ name: 'audit-key', value: key }]),
    ...(signingKey !== undefined && 'pem' in signingKey ? [{ name: 'signing-key', value: signingKey.pem }] : []),
  ]
  return createRedactor({ ...redaction, values: () => values })
}

/** A line for the operator, without secrets. A log that cannot be cleaned is not written. */
export function redactedEntry(entry: LogEntry, redactor: Redactor): LogEntry {
  const { message, details } = entry
  const said = redactor.text(message).value
  const more = details === undefined ? undefined : redactor.json(details).value
  return said === message && more === details
    ? entry
    : { ...entry, message: said, ...(more === undefined ? {} : { details: more }) }
}
