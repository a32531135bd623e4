import { expect, test } from 'vitest'
import { NO_REDACTION, type Redactor } from '../describe/redactor.ts'
import { redactShown } from './redact-shown.ts'

const redactor: Redactor = {
  ...NO_REDACTION,
  text: (text) =>
    text.includes('secret-1')
      ? { value: text.replaceAll('secret-1', '[redacted:one]'), names: ['one'] }
      : { value: text, names: [] },
}

test.each([
  ['colours', 'a sec\u001b[31mret-1\u001b[0m b'],
  ['a backspace', 'a sex\bcret-1 b'],
  ['a title of a window', 'a secret\u001b]0;x\u0007-1 b'],
])('no-secret-out: %s in the middle of a secret do not hide it', (_name, text) => {
  expect(redactShown(text, redactor)).toEqual({ value: 'a [redacted:one] b', names: ['one'] })
})

test('text without a secret keeps its colours, and one beside a secret too', () => {
  expect(redactShown('\u001b[31mred', redactor)).toEqual({ value: '\u001b[31mred', names: [] })
  expect(redactShown('\u001b[31msecret-1', redactor)).toEqual({ value: '\u001b[31m[redacted:one]', names: ['one'] })
})
