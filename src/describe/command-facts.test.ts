// What a tool says about the program that it starts, and about the texts that decide what a call does.

import { describe, expect, it } from 'vitest'
import { commandOf, readBinds } from './command-facts.ts'
import type { Entry } from './entry.ts'

const of = (command: unknown) => commandOf({ tool: { command } } as unknown as Entry, {})

describe('the program that a call starts', () => {
  it('is what the tool says, and nothing where it says that there is none', () => {
    expect(of(() => ({ program: 'git', reads: true, more: 1 }))).toEqual({ program: 'git', reads: true })
    expect(of(() => undefined)).toBeUndefined()
    expect(of(undefined)).toBeUndefined()
  })

  it('closed: is unknown, and does not only read, where the tool fails to say', () => {
    const bad = [
      () => {
        throw new Error('broken')
      },
      () => null,
      () => 'git',
      () => ({ program: 'git' }),
      () => ({ program: '', reads: true }),
      () => ({ program: 'git', reads: 1 }),
      () => Promise.resolve({ program: 'git', reads: true }),
    ]
    for (const command of bad) expect(of(command)).toEqual({ program: '', reads: false })
  })
})

describe('texts that an answer is for', () => {
  it('are frozen copies with nothing else in them', () => {
    const [text] = readBinds([{ title: 't', text: 'x', more: 1 }])
    expect(text).toEqual({ title: 't', text: 'x' })
    expect(Object.isFrozen(text)).toBe(true)
  })

  it.each([
    ['no list', { title: 't', text: 'x' }],
    ['a text alone', ['x']],
    ['no title', [{ text: 'x' }]],
    ['a number', [{ title: 't', text: 7 }]],
    ['too many', Array.from({ length: 65 }, () => ({ title: 't', text: 'x' }))],
    ['too long together', [{ title: 't', text: 'x'.repeat(1_048_577) }]],
  ])('closed: refuse the call where they are %s', (_what, answer) => {
    expect(() => readBinds(answer)).toThrow('`binds`')
  })
})
