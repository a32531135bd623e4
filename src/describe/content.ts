// What a model reads and what a person sees, cut to their bounds by the time they leave the gate.

/** One part of what the model reads. The shapes follow MCP content blocks, so that nothing is lost on the way through. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string; readonly mimeType?: string }
  | { readonly type: 'resource'; readonly resource: EmbeddedResource }

export type EmbeddedResource = {
  readonly uri: string
  readonly mimeType?: string
  readonly text?: string
  readonly blob?: string
}

/** What a person sees beside the call. */
export type Display =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string; readonly fromLine: number; readonly text: string }
  | { readonly kind: 'diff'; readonly path: string; readonly text: string }
  | {
      readonly kind: 'table'
      readonly columns: readonly string[]
      readonly rows: readonly (readonly string[])[]
      /** Rows there are in all, where they are more than these. */
      readonly total?: number
    }
  /** Output of a program, with its ANSI escape sequences for colour and style, and no others. */
  | { readonly kind: 'terminal'; readonly text: string; readonly exitCode?: number }
  /** `data` is base64. */
  | { readonly kind: 'image'; readonly data: string; readonly mimeType: string }
  | { readonly kind: 'link'; readonly uri: string; readonly title?: string }

export const textPart = (text: string): ContentPart => ({ type: 'text', text })

const isText = (value: unknown): value is string => typeof value === 'string'

/** Whether a foreign value is a part that a model can be given. */
export function isContentPart(value: unknown): value is ContentPart {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false
  const part = value as Readonly<Record<string, unknown>>
  if (part.type === 'text') return isText(part.text)
  if (part.type === 'image' || part.type === 'audio') return isText(part.data) && isText(part.mimeType)
  if (part.type === 'resource_link') return isText(part.uri) && isText(part.name)
  const { resource } = part
  return (
    part.type === 'resource' &&
    typeof resource === 'object' &&
    resource !== null &&
    'uri' in resource &&
    isText(resource.uri)
  )
}

const isRow = (row: unknown): row is readonly string[] => Array.isArray(row) && row.every(isText)

/** A foreign value as a display; undefined where it is none. */
export function readDisplay(value: unknown): Display | undefined {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined
  const display = value as Readonly<Record<string, unknown>>
  const { kind, text, path, data } = display
  if (kind === 'table') return readTable(display)
  if (kind === 'link') return readLink(display)
  if (kind === 'image')
    return isText(data) && isText(display.mimeType) ? { kind, data, mimeType: display.mimeType } : undefined
  if (!isText(text)) return undefined
  if (kind === 'text') return { kind, text }
  if (kind === 'terminal') {
    const { exitCode } = display
    return typeof exitCode === 'number' ? { kind, text, exitCode } : { kind, text }
  }
  if (!isText(path)) return undefined
  if (kind === 'diff') return { kind, path, text }
  const { fromLine } = display
  return kind === 'file' && typeof fromLine === 'number' ? { kind, path, fromLine, text } : undefined
}

function readTable({ columns, rows, total }: Readonly<Record<string, unknown>>): Display | undefined {
  if (!isRow(columns) || !Array.isArray(rows) || !rows.every(isRow)) return undefined
  return { kind: 'table', columns, rows, ...(typeof total === 'number' ? { total } : {}) }
}

function readLink({ uri, title }: Readonly<Record<string, unknown>>): Display | undefined {
  if (!isText(uri)) return undefined
  return isText(title) ? { kind: 'link', uri, title } : { kind: 'link', uri }
}
