// Output of programs as a terminal would show it, without a terminal: nothing in it can move a cursor, name a window, write to a
// clipboard, or hide what was printed. Plain text for a model; colours and styles, and nothing else, for a person.

/** Any control character but tab and line feed. */
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/
/** A text in an escape sequence is no longer than this; what never ends is no sequence, and hides nothing. */
const STRING_MAX = 4_096

/**
 * A CSI sequence with its parameters and its final, one that carries a text (OSC, DCS and the like), any other escape, or a
 * control character.
 */
const SEQUENCE = [
  '(?:\\x1b\\[|\\x9b)([0-?]*)[ -/]*([@-~])',
  `(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d\\x9e\\x9f])[^\\x07\\x1b\\x9c\\n]{0,${STRING_MAX}}(?:\\x07|\\x1b\\\\|\\x9c)`,
  '\\x1b[ -/]*[0-Z\\\\^-~]?',
  '[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f]',
].join('|')
const SEQUENCES = new RegExp(SEQUENCE, 'g')
/** The same, and runs of text between them. */
const TOKENS = new RegExp(`${SEQUENCE}|[^\\0-\\x08\\x0a-\\x1f\\x7f-\\x9f]+`, 'g')

export const hasControls = (text: string): boolean => CONTROL.test(text)

/** Without any control sequence. What a carriage return or a backspace lets something overwrite is gone, as on a terminal. */
export const plainTerminalText = (text: string): string => (hasControls(text) ? shown(text, false) : text)

/** With sequences for colour and style (SGR), but the one that conceals; in the end everything is as it was before. */
export function styledTerminalText(text: string): string {
  if (!hasControls(text)) return text
  const styled = shown(text, true)
  return styled.includes('\x1b') && !styled.endsWith(RESET) ? styled + RESET : styled
}

const RESET = '\x1b[0m'
/** Longer lines are not laid out character by character: of them counts what stands after the last carriage return. */
const LINE_MAX = 262_144
/** What moves the cursor of a line back, or erases; a carriage return before a line feed does not. */
const BACK = /\r(?![\r\n])|\x08|(?:\x1b\[|\x9b)[0-?]*K/

function shown(text: string, styled: boolean): string {
  if (!BACK.test(text)) return withoutControls(text, styled)
  return text
    .split('\n')
    .map((given) => {
      const line = given.replace(/\r+$/, '')
      if (!BACK.test(line)) return withoutControls(line, styled)
      if (line.length <= LINE_MAX) return laidOut(line, styled)
      return withoutControls(line.slice(line.lastIndexOf('\r') + 1), styled)
    })
    .join('\n')
}

const withoutControls = (text: string, styled: boolean): string =>
  styled
    ? text.replace(SEQUENCES, (_sequence, parameters?: string, final?: string) =>
        final === 'm' ? styleOf(parameters ?? '') : '',
      )
    : text.replace(SEQUENCES, '')

/** One line as a terminal shows it in the end: what comes later stands in the place of what was there. */
function laidOut(line: string, styled: boolean): string {
  const cells: string[] = []
  let cursor = 0
  let style = ''
  for (const [token, parameters, final] of line.matchAll(TOKENS)) {
    if (token === '\r') cursor = 0
    else if (token === '\b') cursor = Math.max(0, cursor - 1)
    else if (final === 'm') style += styled ? styleOf(parameters ?? '') : ''
    else if (final === 'K') {
      if (parameters === '' || parameters === '0') cells.length = Math.min(cells.length, cursor)
      else if (parameters === '2') cells.fill(' ').length = Math.min(cells.length, cursor)
    } else if (final === undefined && !hasControls(token[0] ?? '')) {
      for (const character of token) {
        cells[cursor] = style + character
        style = ''
        cursor += 1
      }
    }
  }
  return cells.join('') + style
}

const CONCEAL = '8'

/** The sequence again, without what hides text; empty where nothing is left of it or it has a form that nobody knows. */
function styleOf(parameters: string): string {
  if (!/^[0-9;:]*$/.test(parameters)) return ''
  const given = parameters.split(';')
  const kept: string[] = []
  for (let at = 0; at < given.length; at += 1) {
    const one = given[at] ?? ''
    // Colours by number take the parameters after them with them.
    const taken = one === '38' || one === '48' || one === '58' ? (given[at + 1] === '5' ? 2 : 4) : 0
    if (one !== CONCEAL) kept.push(...given.slice(at, at + taken + 1))
    at += taken
  }
  return kept.length === 0 ? '' : `\x1b[${kept.join(';')}m`
}
