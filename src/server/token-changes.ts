// What the records say when a credential of callers changes: which one, what it may do and for whom it speaks, and who changed
// it. Never the token, nor its digest.

import type { CredentialChange, Gate } from '../gate-contract.ts'
import type { TokenChange } from './tokens.ts'

/** Writes each change into the records of a gate. */
export const recordTokens =
  (gate: Pick<Gate, 'records'>, by: string) =>
  ({ what, row }: TokenChange): Promise<void> => {
    const { id, name, scopes, expiresAt, elicitation, caller } = row
    const change: CredentialChange = {
      ...{ what, id, name, scopes, by },
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(elicitation === undefined ? {} : { elicitation }),
      ...(caller === undefined ? {} : { caller }),
    }
    return gate.records.credential(change)
  }
