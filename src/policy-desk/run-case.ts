// One case of a table of calls with the answers that they should get.

import { errorText } from '../base/error-text.ts'
import type { CaseResult, PolicyCase } from '../gate-contract.ts'
import type { DeskParts } from './desk-parts.ts'
import { callOf, explainCall, typeOf } from './explain-call.ts'

/** Asks what the policy says of the call. A caller that does not hold is a case that failed, and stops no other case. */
export async function runCase(parts: DeskParts, one: PolicyCase, index: number): Promise<CaseResult> {
  const { name, call, expect } = one
  const { got, endsAs, why } = await answerTo(parts, one)
  // A deny ends a call as `permission_denied`, or as `not_found` where it is hidden, and an ask as `approval_required`:
  // either word says the same.
  const ok = got === expect || endsAs === expect
  return { name: name ?? `case ${index + 1}: ${call.name}`, ok, expected: expect, got, why }
}

type Answer = { readonly got: string; readonly endsAs?: string | undefined; readonly why: string }

async function answerTo(parts: DeskParts, { caller: options = {}, call }: PolicyCase): Promise<Answer> {
  try {
    const caller = parts.callerOf(options)
    const explained = await explainCall(parts, caller, call)
    if (explained.kind === 'refused') return { got: explained.type, why: explained.message }
    const { decision } = explained
    const { kind, reason, rule } = decision
    const place = rule?.file === undefined ? '' : `, ${rule.file}:${rule.line ?? 0}`
    const endsAs = typeOf(parts, callOf(parts, caller, call.name, call.arguments), decision)
    return { got: kind, endsAs, why: rule === undefined ? reason : `${reason} (${rule.text}${place})` }
  } catch (error) {
    return { got: 'no answer', why: errorText(error) }
  }
}
