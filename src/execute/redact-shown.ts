// Text of a terminal without the secrets in it. Colours and movements of the cursor can stand in the middle of a secret, where no
// pattern sees it and everybody reads it: what is hidden by them is looked for in the text as it is shown.

import { hasControls, plainTerminalText } from '../base/terminal-text.ts'
import type { Redacted, Redactor } from '../describe/redactor.ts'

/** Where something was hidden, the plain text without it; else the text as it is, without what could be seen. */
export function redactShown(text: string, redactor: Redactor): Redacted<string> {
  const seen = redactor.text(text)
  if (!hasControls(seen.value)) return seen
  const plain = redactor.text(plainTerminalText(seen.value))
  return plain.names.length === 0 ? seen : { value: plain.value, names: [...seen.names, ...plain.names] }
}
