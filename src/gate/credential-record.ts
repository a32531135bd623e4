// Credentials come and go outside of any call; that they did is recorded like everything else that changes who may do what.
// A record names the credential, and never holds a token or its digest.

import { LOCAL_CALLER } from '../authorize/caller-identity.ts'
import type { Caller } from '../describe/caller.ts'
import type { RecordDraft } from '../observe/store.ts'

export type CredentialChange = {
  readonly what: 'created' | 'rotated' | 'revoked'
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  /** Who changed it. */
  readonly by: string
  readonly expiresAt?: number
  readonly elicitation?: boolean
  /** For whom it speaks; recorded so that it goes with the person. */
  readonly caller?: Partial<Caller>
}

const TEXT_MAX = 256

export function credentialDraft(change: CredentialChange, now: number): RecordDraft {
  const { what, id, name, scopes, by, expiresAt, elicitation, caller } = change
  const body = JSON.stringify({
    ...{ what, credential: cut(id), name: cut(name), scopes, by: cut(by), expiresAt },
    ...(elicitation === true ? { elicitation } : {}),
  })
  const draft: RecordDraft = { kind: 'credential', at: Math.trunc(now), callId: null, body }
  if (caller === undefined || Object.keys(caller).length === 0) return draft
  const { tenant = LOCAL_CALLER.tenant, user = LOCAL_CALLER.user, agent, roles, task, step, layers } = caller
  const personal = JSON.stringify({ tenant, user, agent, roles, task: task?.name, step, layers })
  return { ...draft, personal, subject: { tenant, user } }
}

const cut = (text: string): string => text.slice(0, TEXT_MAX)
