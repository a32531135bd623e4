// What a running tool says of how far it is, on its way to whoever made the call and to whoever listens to the gate. It is
// read once and bounded, and a listener that fails keeps it from nobody else.

import type { Call } from '../describe/call.ts'
import { readProgress } from '../describe/read-progress.ts'
import type { Redactor } from '../describe/redactor.ts'
import { redactShown } from '../execute/redact-shown.ts'
import type { GateEvents } from '../gate-contract.ts'

/** `emit` never throws; what the caller's own listener throws comes through once all have heard. */
export function progressOut(
  emit: (event: 'call-progress', detail: GateEvents['call-progress']) => void,
  redactor: Redactor,
): (call: Call, said: unknown) => void {
  return ({ id, caller, request }, said) => {
    const progress = readProgress(said, (message) => redactShown(message, redactor).value)
    if (progress === undefined) return
    emit('call-progress', { callId: id, tool: request.name, caller, progress })
    request.onProgress?.(progress)
  }
}
