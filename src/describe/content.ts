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
  | { readonly kind: 'table'; readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }

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
  const { kind, text, path, fromLine, columns, rows } = value as Readonly<Record<string, unknown>>
  if (kind === 'text' && isText(text)) return { kind, text }
  if (kind === 'diff' && isText(text) && isText(path)) return { kind, path, text }
  if (kind === 'file' && isText(text) && isText(path) && typeof fromLine === 'number')
    return { kind, path, fromLine, text }
  if (kind === 'table' && isRow(columns) && Array.isArray(rows) && rows.every(isRow)) return { kind, columns, rows }
  return undefined
}
