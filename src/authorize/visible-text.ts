// Text as a person sees it, whatever stands in it: what hides, reorders or passes for something else is written out as
// `\u{…}`. It refuses to repair: nothing is removed, and what is written out can be told from what was typed.

/** Scripts with letters that look like Latin ones. */
const LATIN_LIKE = '[\\p{sc=Cyrillic}\\p{sc=Greek}\\p{sc=Armenian}\\p{sc=Cherokee}\\p{sc=Coptic}\\p{sc=Lisu}]'
const WITHIN_WORD = '[\\p{M}\\p{N}._-]*'

const SUSPECT_FORMS = [
  // Controls, formats (direction marks, zero-width characters, tags), surrogates, private and unassigned code points.
  '[\\p{C}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]',
  // A blank that is not the blank of the keyboard.
  '(?! )\\p{Zs}',
  // More marks on one letter than any script needs: they paint over what stands beside it.
  '(?<=\\p{M}{3})\\p{M}',
  // A letter that looks like a Latin one, in a word with Latin ones. The letter is taken first: only from there is looked
  // around, so that a long text costs its length.
  `${LATIN_LIKE}(?:(?<=\\p{sc=Latin}${WITHIN_WORD}${LATIN_LIKE})|(?=${WITHIN_WORD}\\p{sc=Latin}))`,
  // Another form of a printable ASCII character: full width, small, mathematical, slashes and colons of other kinds.
  '[\\uff01-\\uff5e\\ufe50-\\ufe6b\\u{1d400}-\\u{1d7ff}\\u2024\\u2044\\u2215\\u2216\\u2236\\u29f8\\ua789]',
].join('|')
const SUSPECT = new RegExp(SUSPECT_FORMS, 'gu')
const PLAIN = /^[\x20-\x5b\x5d-\x7e]*$/
/** Backslashes before `u{` or before what is written out: doubled, so that nothing typed is taken for a character written out. */
const TYPED_ESCAPE = new RegExp(`(?<!\\\\)\\\\+(?=u\\{|${SUSPECT_FORMS})`, 'gu')

/** `hidden`: how many characters were written out. */
export type VisibleText = { readonly text: string; readonly hidden: number }

/** Writes out what hides in a text that a person typed or a model wrote. */
export const visibleText = (text: string): VisibleText =>
  PLAIN.test(text) ? { text, hidden: 0 } : writeOut(text.replace(TYPED_ESCAPE, (run) => run + run))

/** The same in quotes, in which quotes and backslashes are quoted. */
export function visibleQuoted(text: string): VisibleText {
  const shown = writeOut(text.replace(/[\\"]/g, '\\$&'))
  return { text: `"${shown.text}"`, hidden: shown.hidden }
}

/** The same for JSON text, in which controls are written out already and have only to be counted. */
export function visibleJson(text: string): VisibleText {
  const shown = writeOut(text)
  const escaped = text.match(/\\(?:u[0-9a-f]{4}|.)/g)?.filter((sequence) => sequence.startsWith('\\u')) ?? []
  return { text: shown.text, hidden: shown.hidden + escaped.length }
}

/** One line, always: for rules, names and other short texts. */
export const visibleLine = (text: string): string => visibleText(text).text

function writeOut(text: string): VisibleText {
  let hidden = 0
  const shown = text.replace(SUSPECT, (found) => {
    hidden += 1
    return `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`
  })
  return { text: shown, hidden }
}
