import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasControls, plainTerminalText, styledTerminalText } from './terminal-text.ts'

describe('what a model reads of terminal output', () => {
  test.each([
    ['colours', '\x1b[1;31mred\x1b[0m plain', 'red plain'],
    ['a title of a window', '\x1b]0;evil\x07text', 'text'],
    ['a link, but for its text', '\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['a clipboard', 'a\x1b]52;c;aGk=\x1b\\b', 'ab'],
    ['movements of the cursor', 'a\x1b[2J\x1b[10;10Hb\x1b7\x1b[?25lc', 'abc'],
    ['a device string', 'a\x1bPq#0\x1b\\b', 'ab'],
    ['8-bit controls', 'a\x9b31mb\x9d0;x\x9cc\x85d', 'abcd'],
    ['what a progress bar wrote before', '10%\r50%\r100%\ndone', '100%\ndone'],
    ['only as much as is written over', 'abcdef\rXY\n', 'XYcdef\n'],
    ['a line that is erased', 'waiting for it\r\x1b[Kok', 'ok'],
    ['what is written over all of a line that is erased', 'waiting\r\x1b[2Kok', 'ok'],
    ['a carriage return before a line feed', 'a\r\nb\r\n', 'a\nb\n'],
    ['overstrikes', 'b\bbo\bol\bld\bd', 'bold'],
    ['bells and zeros', 'a\x07\0b', 'ab'],
  ])('goes without %s', (_name, text, plain) => expect(plainTerminalText(text)).toBe(plain))

  test('a sequence that never ends hides nothing', () => {
    expect(plainTerminalText('a\x1b]0;rm -rf all the rest\nb')).toBe('a]0;rm -rf all the rest\nb')
    expect(plainTerminalText('a\x1b[31')).toBe('a[31')
    expect(plainTerminalText('a\x1b')).toBe('a')
  })

  test('text without controls is the very same', () => {
    expect(plainTerminalText('täst\t👨‍👩‍👧‍👦\n')).toBe('täst\t👨‍👩‍👧‍👦\n')
  })
})

describe('what a person sees of terminal output', () => {
  test.each([
    ['colours stay', '\x1b[1;31mred\x1b[0m', '\x1b[1;31mred\x1b[0m'],
    ['colours by number stay', '\x1b[38;5;8mx\x1b[48;2;8;8;8my', '\x1b[38;5;8mx\x1b[48;2;8;8;8my\x1b[0m'],
    ['nothing is concealed', '\x1b[8mhidden\x1b[1;8mx', 'hidden\x1b[1mx\x1b[0m'],
    ['nothing but colours stays', '\x1b[2J\x1b]0;t\x07a\x1b[?25l\x1b[>4mb', 'ab'],
    ['the newest of a progress bar', '\x1b[32m10%\r\x1b[33m100%\n', '\x1b[33m100%\n\x1b[0m'],
  ])('%s', (_name, text, styled) => expect(styledTerminalText(text)).toBe(styled))
})

test('no control but tab, line feed and styles ever comes through', () => {
  const piece = fc.constantFrom(
    '\x1b',
    '[',
    ']',
    '0;',
    '31',
    'm',
    'K',
    'H',
    '\r',
    '\n',
    '\b',
    '\x07',
    '\\',
    '\x9b',
    '\x9d',
    'P',
    'a',
    'é',
    '👍',
    '\ud83d',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join('')
      expect(hasControls(plainTerminalText(text))).toBe(false)
      expect(hasControls(styledTerminalText(text).replace(/\x1b\[[0-9;:]*m/g, ''))).toBe(false)
    }),
    { numRuns: 2_000 },
  )
})

test('long output takes a time that grows with it and no faster', () => {
  for (const one of ['\x1b]', '\x1b[', '\x1b]0;x', 'a\rb', 'a\b', '\x1b[1mx\b']) {
    expect(plainTerminalText(one.repeat(20_000)).length).toBeLessThan(200_000)
  }
})
