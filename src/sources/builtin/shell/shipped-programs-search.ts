// Grammars of the programs that search files: grep, rg, find. What starts a program, follows links or reads patterns, names
// or options from a file is not in the lists: `grep -R`, `grep -f`, `rg --pre`, `rg -z`, `rg -L`, `find -exec`, `find -L`.

import type { OperandSlot, ProgramGrammar } from './program-grammar.ts'

const PATH: OperandSlot = { kind: 'path' }
const TEXT: OperandSlot = { kind: 'text' }
const NUMBER: OperandSlot = { kind: 'number' }
const WHEN: OperandSlot = { kind: 'text', oneOf: ['always', 'never', 'auto'] }
const BINARY: OperandSlot = { kind: 'text', oneOf: ['binary', 'text', 'without-match'] }
const PASSED: OperandSlot = { kind: 'text', oneOf: ['read', 'skip'] }

const grep: ProgramGrammar = {
  flags: [
    ...['--extended-regexp', '--fixed-strings', '--basic-regexp', '--perl-regexp', '--ignore-case', '--no-ignore-case'],
    ...['--word-regexp', '--line-regexp', '--null-data', '--no-messages', '--invert-match', '--byte-offset'],
    ...[
      '--line-number',
      '--line-buffered',
      '--with-filename',
      '--no-filename',
      '--only-matching',
      '--quiet',
      '--silent',
    ],
    ...['--text', '--recursive', '--files-without-match', '--files-with-matches', '--count', '--initial-tab', '--null'],
    ...['--no-group-separator', '--color', '--colour', '--binary', '--version', '--help'],
  ],
  clusters: 'EFGPiywxzsvVbnHhoqaIrLlcTZU',
  values: {
    ...{ '-e': TEXT, '--regexp': TEXT, '-m': NUMBER, '--max-count': NUMBER },
    ...{ '-A': NUMBER, '-B': NUMBER, '-C': NUMBER },
    ...{ '--after-context': NUMBER, '--before-context': NUMBER, '--context=': NUMBER },
    ...{ '--label=': TEXT, '--include': TEXT, '--exclude': TEXT, '--exclude-dir': TEXT },
    ...{ '--group-separator=': TEXT, '--color=': WHEN, '--colour=': WHEN, '--binary-files=': BINARY },
    ...{ '-d': PASSED, '--directories=': PASSED, '-D': PASSED, '--devices=': PASSED },
  },
  forms: ['-[0-9]{1,6}'],
  operands: [TEXT, PATH],
  more: true,
  least: 1,
  firstBy: ['-e', '--regexp', '-V', '--version', '--help'],
  stdin: true,
  getopt: true,
  reads: true,
  walksBy: ['-r', '--recursive'],
  benign: [1],
  instead: {
    '-R': 'use `-r`, which follows no links',
    '--dereference-recursive': 'use `-r`, which follows no links',
    '-f': 'give each pattern with `-e`',
    '--file': 'give each pattern with `-e`',
  },
}

const SIZE: OperandSlot = { kind: 'number', pattern: '[0-9]{1,12}[KMG]?' }
const RG_ORDER: OperandSlot = { kind: 'text', oneOf: ['none', 'path', 'modified', 'accessed', 'created'] }

const rg: ProgramGrammar = {
  flags: [
    ...[
      '--auto-hybrid-regex',
      '--binary',
      '--block-buffered',
      '--byte-offset',
      '--case-sensitive',
      '--column',
      '--count',
    ],
    ...['--count-matches', '--crlf', '--files', '--files-with-matches', '--files-without-match', '--fixed-strings'],
    ...['--glob-case-insensitive', '--heading', '--help', '--hidden', '--ignore-case', '--include-zero'],
    ...[
      '--invert-match',
      '--json',
      '--line-buffered',
      '--line-number',
      '--line-regexp',
      '--max-columns-preview',
      '--mmap',
    ],
    ...[
      '--multiline',
      '--multiline-dotall',
      '--no-config',
      '--no-context-separator',
      '--no-filename',
      '--no-fixed-strings',
    ],
    ...['--no-follow', '--no-heading', '--no-hidden', '--no-ignore', '--no-ignore-dot', '--no-ignore-exclude'],
    ...['--no-ignore-files', '--no-ignore-global', '--no-ignore-messages', '--no-ignore-parent', '--no-ignore-vcs'],
    ...[
      '--no-line-number',
      '--no-messages',
      '--no-mmap',
      '--no-multiline',
      '--no-pcre2',
      '--no-pre',
      '--no-require-git',
    ],
    ...['--no-search-zip', '--no-stats', '--no-text', '--no-unicode', '--null', '--null-data', '--one-file-system'],
    ...[
      '--only-matching',
      '--passthru',
      '--pcre2',
      '--pcre2-version',
      '--pretty',
      '--quiet',
      '--smart-case',
      '--stats',
    ],
    ...['--text', '--trim', '--type-list', '--unicode', '--unrestricted', '--version', '--vimgrep', '--with-filename'],
    '--word-regexp',
  ],
  clusters: 'bscFhHiInNlovxpqSUuwa0.PVo',
  values: {
    ...{ '-e': TEXT, '--regexp': TEXT, '-g': TEXT, '--glob': TEXT, '--iglob': TEXT },
    ...{ '-t': TEXT, '--type': TEXT, '-T': TEXT, '--type-not': TEXT, '--type-add': TEXT, '--type-clear': TEXT },
    ...{ '-A': NUMBER, '-B': NUMBER, '-C': NUMBER, '-m': NUMBER, '-M': NUMBER },
    ...{ '--after-context': NUMBER, '--before-context': NUMBER, '--context': NUMBER, '--max-count': NUMBER },
    ...{ '--max-columns': NUMBER, '--max-depth': NUMBER, '--maxdepth': NUMBER, '--max-filesize': SIZE },
    ...{ '-j': { kind: 'number', pattern: '[0-9]{1,2}' }, '--threads': { kind: 'number', pattern: '[0-9]{1,2}' } },
    ...{ '-r': TEXT, '--replace': TEXT, '--context-separator': TEXT, '--field-context-separator': TEXT },
    ...{
      '--field-match-separator': TEXT,
      '--path-separator': TEXT,
      '--color': { ...WHEN, oneOf: ['always', 'never', 'auto', 'ansi'] },
    },
    '--colors': { kind: 'text', pattern: '[a-z]+:[a-z]+(?::[a-z0-9,x]+)?' },
    ...{
      '-E': { kind: 'text', pattern: '[A-Za-z0-9_-]{1,40}' },
      '--encoding': { kind: 'text', pattern: '[A-Za-z0-9_-]{1,40}' },
    },
    '--engine': { kind: 'text', oneOf: ['default', 'pcre2', 'auto'] },
    ...{ '--sort': RG_ORDER, '--sortr': RG_ORDER },
  },
  operands: [TEXT, PATH],
  more: true,
  least: 1,
  // With `--files` there is no pattern: every operand is a path.
  firstBy: ['-e', '--regexp', '--files', '--type-list', '-V', '--version', '-h', '--help', '--pcre2-version'],
  stdin: true,
  getopt: true,
  reads: true,
  walks: true,
  benign: [1],
  before: ['--no-config'],
  instead: {
    '-L': 'links are not followed',
    '--follow': 'links are not followed',
    '-z': 'compressed files are not searched',
    '--search-zip': 'compressed files are not searched',
    '--pre': 'no other program is started',
    '-f': 'give each pattern with `-e`',
    '--file': 'give each pattern with `-e`',
  },
}

const DAYS: OperandSlot = { kind: 'number', pattern: '[+-]?[0-9]{1,9}(?:\\.[0-9]{1,6})?' }
const COUNTED: OperandSlot = { kind: 'number', pattern: '[+-]?[0-9]{1,9}' }
const TYPES: OperandSlot = { kind: 'text', pattern: '[bcdpflsD](?:,[bcdpflsD])*' }
const NO_CHANGES = 'commands may only look; what is found can be changed by other means'

/** An expression and not flags: its words take a fixed number of arguments, so that `-name -exec` is a name. */
const find: ProgramGrammar = {
  flags: [
    ...['(', ')', '!', ',', '-not', '-a', '-and', '-o', '-or', '-P', '-daystart', '-depth', '-d', '-mount', '-xdev'],
    ...['-noleaf', '-ignore_readdir_race', '-noignore_readdir_race', '-warn', '-nowarn', '-empty', '-executable'],
    ...[
      '-readable',
      '-writable',
      '-true',
      '-false',
      '-nouser',
      '-nogroup',
      '-prune',
      '-quit',
      '-print',
      '-print0',
      '-ls',
    ],
    ...['-version', '--version', '-help', '--help'],
  ],
  values: {
    ...{ '-name': TEXT, '-iname': TEXT, '-path': TEXT, '-ipath': TEXT, '-wholename': TEXT, '-iwholename': TEXT },
    ...{ '-lname': TEXT, '-ilname': TEXT, '-regex': TEXT, '-iregex': TEXT, '-printf': TEXT, '-fstype': TEXT },
    ...{ '-user': TEXT, '-group': TEXT, '-type': TYPES, '-maxdepth': NUMBER, '-mindepth': NUMBER },
    '-regextype': { kind: 'text', pattern: '[a-z0-9-]{1,40}' },
    ...{ '-mtime': DAYS, '-atime': DAYS, '-ctime': DAYS, '-mmin': DAYS, '-amin': DAYS, '-cmin': DAYS, '-used': DAYS },
    ...{ '-links': COUNTED, '-inum': COUNTED, '-uid': COUNTED, '-gid': COUNTED },
    '-size': { kind: 'text', pattern: '[+-]?[0-9]{1,12}[bcwkMG]?' },
    '-perm': { kind: 'text', pattern: '[/-]?(?:[0-7]{1,5}|[ugoa]*[=+-][rwxXst]*(?:,[ugoa]*[=+-][rwxXst]*)*)' },
    ...{ '-newer': PATH, '-anewer': PATH, '-cnewer': PATH, '-samefile': PATH },
    ...{ '-neweraa': PATH, '-newerac': PATH, '-neweram': PATH, '-newerca': PATH, '-newercc': PATH, '-newercm': PATH },
    ...{ '-newerma': PATH, '-newermc': PATH, '-newermm': PATH },
    ...{ '-newerat': TEXT, '-newerct': TEXT, '-newermt': TEXT, '-newerBt': TEXT },
  },
  anyValue: true,
  forms: ['-O[0-3]'],
  operands: [PATH],
  more: true,
  ends: false,
  reads: true,
  walks: true,
  benign: [],
  instead: {
    ...{ '-L': 'links are not followed', '-H': 'links are not followed', '-follow': 'links are not followed' },
    ...{ '-exec': NO_CHANGES, '-execdir': NO_CHANGES, '-ok': NO_CHANGES, '-okdir': NO_CHANGES, '-delete': NO_CHANGES },
    ...{ '-fprint': 'use `-print`', '-fprint0': 'use `-print0`', '-fprintf': 'use `-printf`', '-fls': 'use `-ls`' },
  },
}

export const SEARCH_PROGRAMS: Readonly<Record<string, ProgramGrammar>> = { grep, rg, find }
