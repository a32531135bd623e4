// What a tool says of how far it is, as a copy with bounds: tools, upstream servers and commands may say anything.

import type { Progress } from './tool.ts'

/** Characters of a message; of a longer one the end is kept, which is the newest of an output. */
const MESSAGE_CHARACTERS_MAX = 4_096
/** As much of one is looked at. */
const READ_MAX = 65_536

/** Undefined for what says nothing. `clean`: a message is cut only after that, so that no half of what it takes out is left. */
export function readProgress(
  said: unknown,
  clean: (message: string) => string = (message) => message,
): Progress | undefined {
  if (typeof said !== 'object' || said === null) return undefined
  const { message, progress, total }: { message?: unknown; progress?: unknown; total?: unknown } = said
  const read: Progress = {
    ...(typeof message === 'string' ? { message: newestOf(clean(message.slice(-READ_MAX))) } : {}),
    ...(isCount(progress) ? { progress } : {}),
    ...(isCount(total) ? { total } : {}),
  }
  return Object.keys(read).length === 0 ? undefined : read
}

function newestOf(message: string): string {
  if (message.length <= MESSAGE_CHARACTERS_MAX) return message
  // Half of a character would be none.
  return message.slice(-MESSAGE_CHARACTERS_MAX).replace(/^[\udc00-\udfff]/, '')
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
