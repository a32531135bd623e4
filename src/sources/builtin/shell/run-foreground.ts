// A command that its call waits for: bounded by the time that is left, its output told as it comes, its end turned into an answer.

import type { RunContext } from '../../../describe/tool.ts'
import { answerOf, type CommandAnswer } from './command-answer.ts'
import type { CommandRunner, ReadyCommand } from './command-runner.ts'
import type { KeptLimits } from './read-shell-options.ts'

export type Foreground = {
  readonly runner: CommandRunner
  readonly ready: ReadyCommand
  readonly context: RunContext
  readonly limits: KeptLimits
  readonly timeoutMs: number
}

/** Milliseconds that are kept back of the call's own, so that the output of a command that takes too long is still answered. */
const RESERVE_MS = 1_500
const LINE_MAX = 400
/** Of a line that does not end. */
const BEGUN_MAX = 16_384

export async function runForeground({ runner, ready, context, limits, timeoutMs }: Foreground): Promise<CommandAnswer> {
  const { command, place } = ready
  const leftMs = context.leftMs()
  const limitMs = Math.max(1, Math.round(Math.min(timeoutMs, leftMs - Math.min(RESERVE_MS, leftMs / 4))))
  const controller = new AbortController()
  let timedOut = false
  const leave = (): void => controller.abort()
  if (context.signal.aborted) leave()
  context.signal.addEventListener('abort', leave, { once: true })
  const lines = new NewestLines()
  const cancel = context.clock.after(limitMs, () => {
    timedOut = true
    controller.abort()
  })
  try {
    const end = await runner.run(ready, {
      ...{ limits, signal: controller.signal },
      onOutput: ({ stream, bytes }) => {
        const message = lines.newest(stream, bytes)
        if (message !== undefined) context.progress({ message })
      },
    })
    if (end.kind === 'ended') {
      for (const limit of end.limitsHit) context.noteLimit(limit, 'hit')
      for (const limit of end.unenforced) context.noteLimit(limit, 'unenforced')
    }
    const { program, args, reads, benign } = command
    const stoppedMs = timedOut && end.kind === 'ended' && end.stopped === 'aborted' ? limitMs : undefined
    const changed = end.kind === 'ended' ? await ready.finish() : ready.discard()
    return changed ?? answerOf({ program: program.name, args, place, reads, benign }, end, stoppedMs)
  } finally {
    cancel()
    context.signal.removeEventListener('abort', leave)
  }
}

/** The newest line that is not empty. One that has not ended waits: half of a secret would not be told from a word. */
class NewestLines {
  readonly #begun = new Map<string, string>()

  newest(stream: string, bytes: Buffer): string | undefined {
    const lines = `${this.#begun.get(stream) ?? ''}${bytes.toString('utf8')}`.split(/[\r\n]+/)
    this.#begun.set(stream, (lines.pop() ?? '').slice(-BEGUN_MAX))
    return lines.findLast((line) => line.trim() !== '')?.slice(-LINE_MAX)
  }
}
