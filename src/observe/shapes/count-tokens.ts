// What content takes of a model's context window, as an estimate: one token for each four characters, or what the host's own
// counter says. A counter that fails never fails a call.

import type { ContentPart } from '../../describe/content.ts'

const CHARACTERS_A_TOKEN = 4

export type CountTokens = (text: string) => number

export function tokensOf(content: readonly ContentPart[], count: CountTokens | undefined): number {
  let tokens = 0
  for (const part of content) tokens += tokensOfText(textOf(part), count)
  return tokens
}

function tokensOfText(text: string, count: CountTokens | undefined): number {
  if (count !== undefined) {
    try {
      const counted: unknown = count(text)
      if (typeof counted === 'number' && Number.isFinite(counted) && counted >= 0) return Math.ceil(counted)
    } catch {
      // The estimate stands in.
    }
  }
  return Math.ceil(text.length / CHARACTERS_A_TOKEN)
}

/** Of images and audio nothing is counted: what they take depends on the model, and not on their bytes. */
function textOf(part: ContentPart): string {
  if (part.type === 'text') return part.text
  if (part.type === 'resource_link') return `${part.name} ${part.uri}`
  return part.type === 'resource' ? (part.resource.text ?? part.resource.uri) : ''
}
