// The three answers of a policy in the colours that they always have.

import type { Piece, Style } from './terminal.ts'

const STYLES = new Map<string, Style>([
  ['allow', 'green'],
  ['ask', 'yellow'],
  ['deny', 'red'],
])

/** The answer, padded to a width; whatever else a call may end in has no colour. */
export function answerPiece(answer: string, width = 0): Piece {
  const style = STYLES.get(answer.replace('*', ''))
  const text = answer.padEnd(width)
  return style === undefined ? text : [style, text]
}
