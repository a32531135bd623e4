// One outcome for a person: what it looks like to people where that is known, else what the model would read; and in what way the
// call ended.

import type { ContentPart } from '../describe/content.ts'
import type { Outcome } from '../describe/outcome.ts'
import { printDisplay } from './print-display.ts'
import type { Terminal } from './terminal.ts'

export function printOutcome(terminal: Terminal, outcome: Outcome): void {
  const { display, meta } = outcome
  // A failure without content of its own is shown to the model by its message, which stands below anyway.
  const text = outcome.content.map(partText)
  if (display !== undefined && printDisplay(terminal, display)) printNotices(terminal, text)
  else if (outcome.ok || text.join('\n') !== outcome.error.message) for (const part of text) terminal.block(part)
  if (outcome.ok) {
    const cut =
      meta.truncated === undefined
        ? ''
        : `, cut from ${meta.truncated.originalBytes} to ${meta.truncated.keptBytes} bytes`
    terminal.note(
      ['green', 'done'],
      [
        'dim',
        ` ${meta.tool} (${meta.effect ?? 'no effect known'}) in ${Math.round(outcome.elapsedMs)} ms${cut}; ${meta.callId}`,
      ],
    )
    return
  }
  const { error } = outcome
  terminal.note(['red', error.type], ` ${error.message}`)
  const effect = {
    none: 'nothing was done',
    done: 'it was done all the same',
    unknown: 'whether it was done is not known',
  }[error.effect]
  terminal.note(['dim', `${effect}; ${error.help === undefined ? '' : `${error.help}; `}${meta.callId}`])
}

/** What the gate itself says of the result stands in content only; a person is told of it too. */
function printNotices(terminal: Terminal, text: readonly string[]): void {
  for (const part of text) if (part.startsWith('[cut by ') && part.endsWith(']')) terminal.note(['dim', part])
}

function partText(part: ContentPart): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'image':
    case 'audio':
      return `[${part.type}, ${part.mimeType}, ${Math.floor((part.data.length * 3) / 4)} bytes]`
    case 'resource_link':
      return `[link ${part.uri}]`
    case 'resource':
      return part.resource.text ?? `[resource ${part.resource.uri}]`
  }
}
