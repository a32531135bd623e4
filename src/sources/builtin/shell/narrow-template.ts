// The argument template of a narrow command: each text of it becomes one argument or none, whatever the inputs hold. No input
// is ever split, and none can become a flag that the operator did not write.

import { isPlain } from './option-bounds.ts'

/** A part of one argument. */
export type TemplatePiece =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'input'; readonly name: string }

/** `{name}` is an input, `{{` and `}}` are braces. The answer is undefined for any other brace. */
export function readTemplate(text: string): readonly TemplatePiece[] | undefined {
  const pieces: TemplatePiece[] = []
  let literal = ''
  const flush = (): void => {
    if (literal !== '') pieces.push({ kind: 'literal', text: literal })
    literal = ''
  }
  for (let at = 0; at < text.length; at++) {
    const pair = text.slice(at, at + 2)
    if (pair === '{{' || pair === '}}') {
      literal += text[at]
      at++
    } else if (text[at] === '{') {
      const name = /^\{([A-Za-z_]\w{0,63})\}/.exec(text.slice(at))?.[1]
      if (name === undefined) return undefined
      flush()
      pieces.push({ kind: 'input', name })
      at += name.length + 1
    } else if (text[at] === '}') return undefined
    else literal += text[at]
  }
  flush()
  return pieces
}

export type FilledInput = {
  readonly text: string
  /** The operator lets it stand where a flag would. */
  readonly mayBeFlag: boolean
}

export type Filled =
  | { readonly kind: 'ok'; readonly args: readonly string[] }
  | { readonly kind: 'flag'; readonly name: string }

/** The arguments, without those that hold an input that is not given. */
export function fillTemplate(
  template: readonly (readonly TemplatePiece[])[],
  inputs: ReadonlyMap<string, FilledInput>,
): Filled {
  const args: string[] = []
  for (const pieces of template) {
    if (pieces.some((piece) => piece.kind === 'input' && !inputs.has(piece.name))) continue
    const text = pieces
      .map((piece) => (piece.kind === 'literal' ? piece.text : (inputs.get(piece.name)?.text ?? '')))
      .join('')
    const [first] = pieces
    // Only what the operator wrote at the start of an argument may make it a flag.
    if (first?.kind === 'input' && text.startsWith('-') && inputs.get(first.name)?.mayBeFlag !== true)
      return { kind: 'flag', name: first.name }
    if (!isPlain(text)) return { kind: 'flag', name: first?.kind === 'input' ? first.name : '' }
    args.push(text)
  }
  return { kind: 'ok', args }
}
