// Looks into a kept content: rows of JSON, a JMESPath expression, or a linear-time pattern over lines. The expression is the
// model's and the content anybody's, so all of it runs in a worker thread that can be ended, with a heap that is bounded.

import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { Clock } from '../base/clock.ts'
import { cutToBytes } from '../base/text-cut.ts'
import { startWorkerHost, type WorkerHost } from '../machine/worker-host.ts'
import type { PageAsk } from './artifact-page.ts'
import { QUERY_CODE } from './artifact-query-code.ts'

const QUERY_MS = 5_000
const MEMORY_BYTES = 512 * 1024 * 1024
const WORKERS_MAX = 2
/** Bytes of one line where lines are searched. */
const LINE_BYTES_MAX = 2_048
/** Characters of a query's answer that is no list. */
const ANSWER_CHARS_MAX = 8 * 1024 * 1024

export type RowsAnswer = {
  readonly kind: 'rows'
  readonly from: number
  readonly to: number
  readonly total: number
  /** Each as JSON text. */
  readonly rows: readonly string[]
}

/** `cutFromBytes`: how many it has, where only its beginning is here. */
export type FoundLine = { readonly line: number; readonly text: string; readonly cutFromBytes?: number }

export type QueryAnswer =
  | RowsAnswer
  /** No list: the JSON text of the answer. */
  | { readonly kind: 'text'; readonly text: string }
  /** Lines that match; `to`: the first line that was not looked at. */
  | {
      readonly kind: 'lines'
      readonly from: number
      readonly to: number
      readonly total: number
      readonly lines: readonly FoundLine[]
    }
  /** The row at `from` alone is larger than the window. */
  | { readonly kind: 'large'; readonly row: number; readonly bytes: number }
  /** Nothing can be answered, for this reason, in words for a model. */
  | { readonly kind: 'bad'; readonly code: 'no_rows' | 'query_invalid' | 'query_too_much'; readonly why: string }

export type QueryAsk = PageAsk & {
  readonly content: Uint8Array
  readonly signal: AbortSignal
} & (
    | { readonly kind: 'rows'; readonly expression?: string; readonly listed: boolean }
    | { readonly kind: 'lines'; readonly expression: string }
  )

export class ArtifactQueries {
  readonly #clock: Clock
  readonly #queryMs: number
  #host: WorkerHost | undefined

  constructor(clock: Clock, queryMs = QUERY_MS) {
    this.#clock = clock
    this.#queryMs = queryMs
  }

  /** Never rejects. */
  async run({ signal, ...ask }: QueryAsk): Promise<QueryAnswer> {
    const stop = new AbortController()
    const abort = (): void => stop.abort(new Error('it takes too long'))
    const cancel = this.#clock.after(this.#queryMs, abort)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    try {
      const end = await this.#started().run({
        args: { ...ask, lineBytesMax: LINE_BYTES_MAX, answerCharsMax: ANSWER_CHARS_MAX, library: libraryOf(ask) },
        facts: {},
        leftMs: this.#queryMs,
        signal: stop.signal,
      })
      if (end.kind === 'answered') return readAnswer(end.value)
      return end.kind === 'stopped' || end.kind === 'crashed' ? TOO_MUCH : FAILED
    } finally {
      cancel()
      signal.removeEventListener('abort', abort)
    }
  }

  async close(): Promise<void> {
    await this.#host?.close()
  }

  #started(): WorkerHost {
    this.#host ??= startWorkerHost({
      module: `data:text/javascript,${encodeURIComponent(QUERY_CODE)}`,
      ...{ export: 'answer', memoryBytes: MEMORY_BYTES, workersMax: WORKERS_MAX, clock: this.#clock },
    })
    return this.#host
  }
}

const TOO_MUCH: QueryAnswer = Object.freeze({
  ...{ kind: 'bad', code: 'query_too_much' },
  why: 'the query takes too long or needs too much memory; ask for less at a time',
} as const)

const FAILED: QueryAnswer = Object.freeze({
  ...{ kind: 'bad', code: 'query_too_much' },
  why: 'the query could not be run',
} as const)

/** The address of what the worker has to load: it has no place of its own to look packages up from. */
function libraryOf(ask: { readonly kind: string; readonly expression?: string }): string | undefined {
  if (ask.expression === undefined) return undefined
  const name = ask.kind === 'lines' ? 're2js' : '@jmespath-community/jmespath'
  return pathToFileURL(createRequire(import.meta.url).resolve(name)).href
}

/** The worker runs our own code; texts of the content are only bounded here. */
function readAnswer(value: unknown): QueryAnswer {
  const answer = value as QueryAnswer
  if (answer.kind !== 'lines') return answer
  return { ...answer, lines: answer.lines.map((line) => ({ ...line, text: cutToBytes(line.text, LINE_BYTES_MAX) })) }
}
