// `read_artifact`: the way to the rest of a result that was cut. It answers what fits into one result and says where to go
// on, and decides the original call again, for whoever reads, before it shows a byte.

import type { Caller } from '../describe/caller.ts'
import { textPart } from '../describe/content.ts'
import { defineTool } from '../describe/define-tool.ts'
import type { Tool } from '../describe/tool.ts'
import { type ToolFailure, toolFailure } from '../describe/tool-failure.ts'
import type { Artifact } from '../observe/store.ts'
import type { FoundArtifact } from './argument-artifacts.ts'
import { bytesPage, linesPage, type PageAsk } from './artifact-page.ts'
import type { ArtifactQueries, FoundLine, QueryAnswer } from './artifact-query.ts'

export const READ_ARTIFACT = 'read_artifact'

/** Kept free for what is said around a window. */
const FRAME_BYTES = 512
const QUERY_LENGTH_MAX = 1_024
const COUNT_MAX = 100_000_000
const UNITS = ['bytes', 'lines', 'rows'] as const

type Unit = (typeof UNITS)[number]

export type ReadArtifactArgs = {
  readonly id: string
  readonly from?: number
  readonly count?: number
  readonly unit?: Unit
  readonly query?: string
}

export type ReadArtifactValue = {
  readonly id: string
  readonly mediaType: string
  /** Of the whole content. */
  readonly bytes: number
  readonly unit: Unit
  /** The first unit of the window, counted from 0, and the one after the last. */
  readonly from: number
  readonly to: number
  readonly total: number
  /** The `from` to go on with; absent at the end. */
  readonly next?: number
  /** Of windows by bytes and lines. */
  readonly text?: string
  readonly encoding?: 'base64'
  readonly cutLineBytes?: number
  /** Of windows by rows. */
  readonly rows?: readonly unknown[]
  /** Lines that a pattern matches, each with its number from 0. */
  readonly lines?: readonly FoundLine[]
}

export type ReadArtifactParts = {
  readonly find: (id: string, caller: Caller) => Promise<FoundArtifact>
  readonly queries: Pick<ArtifactQueries, 'run'>
  /** Bytes of one result. */
  readonly resultBytes: number
}

const INPUT = {
  type: 'object',
  properties: {
    id: { type: 'string', pattern: '^art_[0-9a-f]{32}$', description: 'What the notice of the cut result names.' },
    from: {
      ...{ type: 'integer', minimum: 0, maximum: COUNT_MAX },
      description: 'Where the window begins, counted from 0; 0 where it is left out.',
    },
    count: {
      ...{ type: 'integer', minimum: 1, maximum: COUNT_MAX },
      description: 'How many units at most; as many as fit where it is left out.',
    },
    unit: {
      enum: UNITS,
      description:
        'What is counted. Rows are the elements of a JSON list, or of its `rows`. Left out: rows of JSON that has them, lines of text, else bytes.',
    },
    query: {
      ...{ type: 'string', minLength: 1, maxLength: QUERY_LENGTH_MAX },
      description:
        'Of JSON: a JMESPath expression, whose answer is then read. Of text: a regular expression without look-around and back-references; only matching lines are shown, and `from` is the line to begin with.',
    },
  },
  required: ['id'],
  additionalProperties: false,
} as const

export function readArtifactTool(parts: ReadArtifactParts): Tool {
  return defineTool<typeof INPUT, ReadArtifactValue>({
    name: READ_ARTIFACT,
    version: '1.0.0',
    title: 'Read the rest of a result',
    description:
      'Read more of a result that was cut, by the id that its notice names: a window of it, or what a query finds.',
    returns: 'The window, how much there is in all, and the `from` to go on with if there is more.',
    guidance: {
      useWhen: 'the notice of a cut result names an id, and what was left out is needed',
      avoidWhen: 'the whole result is only to be handed on: an argument { "$artifact": id } stands for it',
    },
    input: INPUT,
    examples: [
      { id: `art_${'0'.repeat(32)}`, from: 20, count: 100, unit: 'rows' },
      { id: `art_${'0'.repeat(32)}`, query: 'rows[?status == `"open"`].id' },
    ],
    effect: 'read',
    repeat: 'safe',
    touches: ({ id }) => [`read artifact:${String(id)}`],
    run: async (given, { caller, signal }) => {
      // The schema has just checked it.
      const args = given as unknown as ReadArtifactArgs
      const found = await parts.find(args.id, caller)
      if (found.kind === 'refused') return refusal(args.id, found.why)
      return await read(args, found.artifact, parts, signal)
    },
    present: (value) => ({ content: [textPart(shown(value))] }),
  }) as Tool
}

const refusal = (id: string, why: string): ToolFailure =>
  toolFailure({ code: 'artifact_unreadable', message: `\`${id}\`: ${why}`, effect: 'none', retry: 'never' })

async function read(
  args: ReadArtifactArgs,
  { row, content }: Artifact,
  { queries, resultBytes }: ReadArtifactParts,
  signal: AbortSignal,
): Promise<ReadArtifactValue | ToolFailure> {
  const { from = 0, count = COUNT_MAX, unit, query } = args
  const bytesMax = Math.max(Math.ceil(resultBytes / 2), resultBytes - FRAME_BYTES)
  const ask: PageAsk = { from, count, bytesMax }
  const about = { id: row.id, mediaType: row.mediaType, bytes: row.bytes }
  const isJson = row.mediaType === 'application/json'
  if (query === undefined && unit === 'bytes') return { ...about, ...bytesPage(content, ask) }
  if (query === undefined && (unit === 'lines' || (unit === undefined && row.mediaType.startsWith('text/'))))
    return { ...about, ...linesPage(content, ask) }
  if (query === undefined && !isJson) {
    return unit === undefined
      ? { ...about, ...bytesPage(content, ask) }
      : refusal(row.id, `it is ${row.mediaType} and has no rows; read it by bytes or lines`)
  }
  const looked = await queries.run({
    ...{ content, signal, ...ask },
    ...(isJson
      ? {
          kind: 'rows',
          listed: unit === undefined || unit === 'rows',
          ...(query === undefined ? {} : { expression: query }),
        }
      : { kind: 'lines', expression: query ?? '' }),
  })
  // JSON that has no rows is read by bytes where nobody asked for rows.
  if (looked.kind === 'bad' && looked.code === 'no_rows' && unit === undefined)
    return { ...about, ...bytesPage(content, ask) }
  const page = pageOf(looked, args, ask)
  return 'message' in page ? page : { ...about, ...page }
}

type Page = Omit<ReadArtifactValue, 'id' | 'mediaType' | 'bytes'>

function pageOf(looked: QueryAnswer, { unit, query }: ReadArtifactArgs, ask: PageAsk): Page | ToolFailure {
  switch (looked.kind) {
    case 'bad':
      return toolFailure({ code: looked.code, message: looked.why, effect: 'none', retry: 'fix_args' })
    case 'large': {
      const one = query === undefined ? `[${looked.row}], or rows[${looked.row}]` : `${query} | [${looked.row}]`
      const message = `row ${looked.row} alone has ${looked.bytes} bytes and does not fit; read it with the query ${one} and the unit bytes, or go on with from ${looked.row + 1}`
      return toolFailure({ code: 'row_too_large', message, effect: 'none', retry: 'fix_args' })
    }
    case 'text': {
      const bytes = Buffer.from(looked.text)
      return unit === 'lines' ? linesPage(bytes, ask) : bytesPage(bytes, ask)
    }
    case 'lines': {
      const { from, to, total, lines } = looked
      return { unit: 'lines', from, to, total, lines, ...(to < total ? { next: to } : {}) }
    }
    case 'rows': {
      const { from, to, total } = looked
      const rows = looked.rows.map((text): unknown => JSON.parse(text))
      return { unit: 'rows', from, to, total, rows, ...(to < total ? { next: to } : {}) }
    }
  }
}

function shown(value: ReadArtifactValue): string {
  const { id, unit, from, to, total, next, cutLineBytes, encoding } = value
  const range = to === from ? `no ${unit}` : `${unit} ${from} to ${to - 1}`
  const kind = encoding === undefined ? '' : `, in ${encoding}`
  const head = `${id}: ${range} of ${total} (${value.mediaType}, ${value.bytes} bytes)${kind}`
  const cut =
    cutLineBytes === undefined ? [] : [`[this line has ${cutLineBytes} bytes; the unit bytes shows all of it]`]
  const more = next === undefined ? [] : [`[goes on with from ${next}]`]
  return [head, ...bodyOf(value), ...cut, ...more].join('\n')
}

const foundLine = ({ line, text, cutFromBytes }: FoundLine): string =>
  `${line}: ${text}${cutFromBytes === undefined ? '' : ` [cut: this line has ${cutFromBytes} bytes]`}`

function bodyOf({ text, rows, lines }: ReadArtifactValue): readonly string[] {
  if (rows !== undefined) return rows.map((row) => JSON.stringify(row))
  if (lines !== undefined) return lines.map(foundLine)
  return text === undefined || text === '' ? [] : [text.endsWith('\n') ? text.slice(0, -1) : text]
}
