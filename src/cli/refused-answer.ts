// Why an answer was not taken, for the person who gave it.

import type { Answered } from '../observe/store.ts'

const TEXTS = {
  'reach-not-offered': 'the question does not offer an answer that reaches so far',
  'code-missing': 'this question asks for the code that the gate showed when it was opened; give it with --code',
  'code-wrong': 'that is not the code of this question',
  'client-asserted': 'a destructive call is not approved through the client that makes it',
} as const

export function refusedText({ why, approval }: Extract<Answered, { kind: 'refused' }>): string {
  const closed = why === 'code-wrong' && approval.state !== 'open' ? '; after too many of them it is closed now' : ''
  return `${TEXTS[why]}${closed}`
}
