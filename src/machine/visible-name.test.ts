import { describe, expect, it } from 'vitest'
import { hiddenIn } from './visible-name.ts'

describe('a name that hides something is found', () => {
  it.each([
    ['evil\u001b[2J.ts', 'control'],
    ['a\nb', 'control'],
    ['a\u0085b', 'control'],
    ['a\u007f', 'control'],
    ['a\u2028b', 'control'],
    ['invoice\u202egpj.sh', 'direction'],
    ['a\u2066b\u2069', 'direction'],
    ['a\u200eb', 'direction'],
    ['a\u061cb', 'direction'],
    ['pass\u200bword', 'invisible'],
    ['a\u2060b', 'invisible'],
    ['\ufeffa', 'invisible'],
    ['a\u00adb', 'invisible'],
    ['a\u3164', 'invisible'],
    ['a\u034fb', 'invisible'],
    ['a\u{e0041}\u{e0042}', 'invisible'],
    ['\u{1f3f4}\u{e0041}\u{e007f}', 'invisible'],
    ['x\u{e01f0}', 'invisible'],
    ['a\u200db', 'joiner'],
    ['a\u200cb', 'joiner'],
    ['\u200d', 'joiner'],
    ['a\u200c', 'joiner'],
    ['\u{1f468}\u200d', 'joiner'],
    ['\u{1f468}\u200dx', 'joiner'],
    ['.git\u200c', 'joiner'],
    ['a\ufe00\ufe01\ufe02', 'selector'],
    ['\ufe0f', 'selector'],
    ['a\u{e0101}', 'selector'],
    ['.\u200d.', 'joiner'],
  ])('%j: %s', (name, what) => {
    expect(hiddenIn(name)).toContain(what)
  })
})

describe('ordinary names of all languages pass', () => {
  it.each([
    'a b.ts',
    '日本.ts',
    'ünïcödé',
    'e\u0301',
    'עברית.txt',
    'العربية.md',
    'می\u200cخواهم.txt',
    'क्\u200dष.txt',
    'क्\u200cष',
    'ශ්\u200dරී',
    'ภาษาไทย',
    '한국어',
    '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}.png',
    '\u2764\ufe0f\u200d\u{1f525}',
    '\u{1f469}\u{1f3fd}\u200d\u{1f4bb}',
    '\u{1f3f3}\ufe0f\u200d\u{1f308}',
    '1\ufe0f\u20e3',
    '\u{1f1e9}\u{1f1ea}',
    '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}.svg',
    '葛\u{e0100}.txt',
    '☃\ufe0e',
    '…',
    '~a`b$c',
    '...',
  ])('%s', (name) => {
    expect(hiddenIn(name)).toBeUndefined()
  })
})
