// Grammars of the programs that print, cut and count text and list folders (GNU, where BSD reads the same). What writes a
// file, follows links, reads names or options from a file or starts something is not in the lists: `sort -o`, `ls -L`,
// `wc --files0-from`, `tail -F`. A value that only GNU takes apart stands with `=`, so that no other program reads it as a file.

import type { OperandSlot, ProgramGrammar } from './program-grammar.ts'

const ANSWERS = ['--help', '--version'] as const
const PATH: OperandSlot = { kind: 'path' }
const TEXT: OperandSlot = { kind: 'text' }
const COUNT: OperandSlot = { kind: 'number', pattern: '[+-]?[0-9]{1,12}(?:b|[kKMGT]i?B?)?' }
const NUMBER: OperandSlot = { kind: 'number' }
const WHEN: OperandSlot = { kind: 'text', oneOf: ['always', 'never', 'auto'] }

/** A program that reads the files that it is given, or its standard input. */
const readsFiles = (grammar: Partial<ProgramGrammar>): ProgramGrammar => ({
  operands: [PATH],
  more: true,
  stdin: true,
  getopt: true,
  reads: true,
  ...grammar,
})

const cat = readsFiles({
  flags: [
    ...['--show-all', '--number-nonblank', '--show-ends', '--number', '--squeeze-blank', '--show-tabs'],
    ...['--show-nonprinting', ...ANSWERS],
  ],
  clusters: 'AbeEnstTuv',
})

const head = readsFiles({
  flags: ['--quiet', '--silent', '--verbose', '--zero-terminated', ...ANSWERS],
  clusters: 'qvz',
  values: { '-n': COUNT, '-c': COUNT, '--lines': COUNT, '--bytes': COUNT },
  forms: ['-[0-9]{1,9}'],
})

const tail = readsFiles({
  flags: ['--quiet', '--silent', '--verbose', '--zero-terminated', '--follow', '--follow=descriptor', ...ANSWERS],
  clusters: 'qvzf',
  values: {
    ...{ '-n': COUNT, '-c': COUNT, '--lines': COUNT, '--bytes': COUNT },
    ...{ '-s': { kind: 'number', pattern: '[0-9]{1,4}(?:\\.[0-9]{1,3})?' } },
    ...{ '--sleep-interval': { kind: 'number', pattern: '[0-9]{1,4}(?:\\.[0-9]{1,3})?' } },
  },
  forms: ['-[0-9]{1,9}'],
  instead: { '-F': 'use `-f`', '--retry': 'use `-f`' },
})

const wc = readsFiles({
  flags: ['--bytes', '--chars', '--lines', '--max-line-length', '--words', ...ANSWERS],
  clusters: 'cmlLw',
  instead: { '--files0-from': 'name the files as arguments' },
})

const KEY = '[0-9]{1,4}(?:\\.[0-9]{1,4})?[bdfgiMhnRrV]*'

const sort = readsFiles({
  flags: [
    ...['--ignore-leading-blanks', '--dictionary-order', '--ignore-case', '--general-numeric-sort'],
    ...['--ignore-nonprinting', '--month-sort', '--human-numeric-sort', '--numeric-sort', '--random-sort', '--reverse'],
    ...['--version-sort', '--check', '--debug', '--merge', '--stable', '--unique', '--zero-terminated', ...ANSWERS],
  ],
  clusters: 'bdfgiMhnRrVcCmsuz',
  values: {
    '-k': { kind: 'text', pattern: `${KEY}(?:,${KEY})?` },
    '--key': { kind: 'text', pattern: `${KEY}(?:,${KEY})?` },
    // One character, or the one that GNU writes as `\0`.
    '-t': { kind: 'text', pattern: '(?:[^\\r\\n]|\\\\0)' },
    '--field-separator': { kind: 'text', pattern: '(?:[^\\r\\n]|\\\\0)' },
    '--sort=': {
      kind: 'text',
      oneOf: ['general-numeric', 'human-numeric', 'month', 'numeric', 'random', 'version'],
    },
    '--check=': { kind: 'text', oneOf: ['diagnose-first', 'quiet', 'silent'] },
    '--parallel=': { kind: 'number', pattern: '[1-8]' },
  },
  benign: [1],
  instead: { '-o': 'the result is what the command prints', '--output': 'the result is what the command prints' },
})

const uniq = readsFiles({
  flags: [
    '--count',
    '--repeated',
    '--all-repeated',
    '--group',
    '--ignore-case',
    '--unique',
    '--zero-terminated',
    ...ANSWERS,
  ],
  clusters: 'cdDiuz',
  values: {
    ...{ '-f': NUMBER, '-s': NUMBER, '-w': NUMBER },
    ...{ '--skip-fields': NUMBER, '--skip-chars': NUMBER, '--check-chars': NUMBER },
    '--all-repeated=': { kind: 'text', oneOf: ['none', 'prepend', 'separate'] },
    '--group=': { kind: 'text', oneOf: ['separate', 'prepend', 'append', 'both'] },
  },
  // The second operand would be a file to write.
  more: false,
})

const LINES = '(?:[0-9]{1,9}|\\$)(?:,(?:\\$|\\+?[0-9]{1,9}))?p'
const PRINT: OperandSlot = { kind: 'text', pattern: `${LINES}(?:;${LINES})*` }

const sed = readsFiles({
  flags: ['--quiet', '--silent', '--separate', ...ANSWERS],
  clusters: 'nsEr',
  values: { '-e': PRINT, '--expression': PRINT },
  operands: [PRINT, PATH],
  least: 1,
  firstBy: ['-e', '--expression', ...ANSWERS],
  instead: {
    '-i': 'files are changed by other means than commands',
    '--in-place': 'files are changed by other means than commands',
  },
})

const ls: ProgramGrammar = {
  flags: [
    ...['--all', '--almost-all', '--author', '--escape', '--ignore-backups', '--color', '--directory', '--classify'],
    ...['--file-type', '--full-time', '--group-directories-first', '--no-group', '--human-readable', '--si', '--inode'],
    ...[
      '--kibibytes',
      '--numeric-uid-gid',
      '--literal',
      '--hide-control-chars',
      '--show-control-chars',
      '--quote-name',
    ],
    ...['--reverse', '--recursive', '--size', '--context', '--zero', ...ANSWERS],
  ],
  clusters: 'aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1',
  values: {
    '--block-size=': { kind: 'text', pattern: "'?[0-9]{0,9}(?:[kKMGTPE](?:i?B)?)?" },
    '--color=': WHEN,
    '--classify=': WHEN,
    '--format=': {
      kind: 'text',
      oneOf: ['across', 'commas', 'horizontal', 'long', 'single-column', 'verbose', 'vertical'],
    },
    ...{ '--hide=': TEXT, '--ignore=': TEXT },
    '--indicator-style=': { kind: 'text', oneOf: ['none', 'slash', 'file-type', 'classify'] },
    '--quoting-style=': {
      kind: 'text',
      oneOf: ['literal', 'locale', 'shell', 'shell-always', 'shell-escape', 'shell-escape-always', 'c', 'escape'],
    },
    '--sort=': { kind: 'text', oneOf: ['none', 'size', 'time', 'version', 'extension', 'width'] },
    '--time=': {
      kind: 'text',
      oneOf: ['atime', 'access', 'use', 'ctime', 'status', 'birth', 'creation', 'mtime', 'modification'],
    },
    '--time-style=': { kind: 'text', pattern: '(?:full-iso|long-iso|iso|locale|\\+[^\\r\\n]{0,200})' },
    ...{ '--width=': NUMBER, '--tabsize=': NUMBER },
  },
  forms: ['-I[^\\r\\n]{1,200}', '-w[0-9]{1,9}', '-T[0-9]{1,9}'],
  operands: [PATH],
  more: true,
  getopt: true,
  reads: true,
  walksBy: ['-R', '--recursive'],
  looksAt: 'folder',
  instead: {
    '-L': 'links are not followed',
    '-H': 'links are not followed',
    '--dereference': 'links are not followed',
  },
}

const echo: ProgramGrammar = { operands: [TEXT], more: true, literal: true, reads: true }
const pwd: ProgramGrammar = { flags: ['--logical', '--physical', ...ANSWERS], clusters: 'LP', reads: true }

export const TEXT_PROGRAMS: Readonly<Record<string, ProgramGrammar>> = {
  ...{ ls, cat, head, tail, wc, sort, uniq, sed, echo, pwd },
}
