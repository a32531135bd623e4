import { describe, expect, it } from 'vitest'
import { countLines, numberLines, textWindow } from './text-window.ts'

const window = (text: string, fromLine = 1, lines = 100, bytes = 1_000) =>
  textWindow(Buffer.from(text), fromLine, lines, bytes)

describe('a window of lines', () => {
  it.each([
    ['', 0],
    ['a', 1],
    ['a\n', 1],
    ['a\nb', 2],
    ['\n', 1],
    ['\n\n', 2],
    ['a\r\nb\r\n', 2],
    ['a\rb', 1],
  ])('%j has %i lines', (text, lines) => {
    expect(countLines(Buffer.from(text))).toBe(lines)
    expect(window(text)).toMatchObject({ content: text, lines, totalLines: lines, nextLine: undefined })
  })

  it('begins and ends where it is asked to, and says where to go on', () => {
    expect(window('a\nb\nc\nd\n', 2, 2)).toMatchObject({
      content: 'b\nc\n',
      fromLine: 2,
      lines: 2,
      totalLines: 4,
      nextLine: 4,
    })
    expect(window('a\nb\nc\nd\n', 4, 2)).toMatchObject({ content: 'd\n', lines: 1, nextLine: undefined })
    expect(window('a\nb', 2, 1)).toMatchObject({ content: 'b', nextLine: undefined })
  })

  it('behind the end there is nothing', () => {
    expect(window('a\nb\n', 3)).toMatchObject({ content: '', lines: 0, totalLines: 2, nextLine: undefined })
    expect(window('', 1)).toMatchObject({ content: '', lines: 0 })
    expect(window('a', 9)).toMatchObject({ content: '', lines: 0 })
  })

  it('holds whole lines within its bytes', () => {
    expect(window('aaa\nbbb\nccc\n', 1, 9, 8)).toMatchObject({
      content: 'aaa\nbbb\n',
      nextLine: 3,
      cutLineBytes: undefined,
    })
    expect(window('aaa\nbbb\nccc\n', 1, 9, 7)).toMatchObject({ content: 'aaa\n', nextLine: 2 })
  })

  it('cuts inside a line only where that alone is too large, never inside a character, and says its size', () => {
    expect(window(`${'é'.repeat(10)}\nb\n`, 1, 9, 7)).toMatchObject({
      content: 'ééé',
      lines: 1,
      nextLine: 2,
      cutLineBytes: 21,
    })
    expect(window('a\n\u{1f468}\u200d\u{1f469}x', 2, 9, 11)).toMatchObject({
      content: '\u{1f468}\u200d\u{1f469}',
      cutLineBytes: 12,
    })
    expect(window('\u{1f600}', 1, 9, 3)).toMatchObject({ content: '', lines: 1, cutLineBytes: 4 })
  })
})

it('numbers lines to one width, without their ends', () => {
  expect(numberLines('a\r\nb\n', 9)).toBe(' 9\ta\n10\tb')
  expect(numberLines('\n', 1)).toBe('1\t')
  expect(numberLines('', 1)).toBe('')
})
