// Foreign text on its way to a terminal. Control characters, characters that turn the reading direction and invisible ones
// are written as escapes, so that what a server or a file says can neither move the cursor nor hide.

import { styledTerminalText } from '../base/terminal-text.ts'

/** The joiners and selectors of scripts and emoji stay: without them plain text of many languages would not. */
const HIDDEN =
  /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufff9-\ufffb]|(?!\p{Join_Control}|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/gu

/** One line: line breaks are escaped as well. */
export const printable = (text: string): string => text.replace(HIDDEN, escaped)

/** Several lines: line feeds and tabs stay. */
export const printableBlock = (text: string): string =>
  text.replace(HIDDEN, (character) => (character === '\n' || character === '\t' ? character : escaped(character)))

/** Several lines: sequences for colour and style stay too, and end where the text ends. */
export const styledBlock = (text: string): string =>
  `${styledTerminalText(text)
    .split(/(\u001b\[[0-9;:]*m)/)
    .map((piece, index) => (index % 2 === 1 ? piece : printableBlock(piece)))
    .join('')}`

/** JSON in which hidden characters are escaped the way JSON does it; it parses to the same value. */
export const printableJson = (value: unknown): string => escapedJson(JSON.stringify(value, undefined, 2) ?? 'null')

/** The same on one line. */
export const printableJsonLine = (value: unknown): string => escapedJson(JSON.stringify(value) ?? 'null')

const escapedJson = (text: string): string =>
  text.replace(HIDDEN, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()].map((index) => `\\u${hex(character.charCodeAt(index), 4)}`).join(''),
  )

const NAMED = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return NAMED.get(character) ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`)
}
