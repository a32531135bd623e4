// The flags of git that choose commits and say how commits and differences are shown. None of them writes, reads a file that
// it names, starts a program or has a signature checked; those that do (`--output`, `-O`, `--ext-diff`, `--textconv`,
// `--remerge-diff`, `--show-signature`, `%G…`) are in no list.

import type { OperandSlot } from './program-grammar.ts'

type Values = Readonly<Record<string, OperandSlot>>

const TEXT: OperandSlot = { kind: 'text' }
const NUMBER: OperandSlot = { kind: 'number' }
const REVISION: OperandSlot = { kind: 'revision' }
const WHEN: OperandSlot = { kind: 'text', oneOf: ['always', 'never', 'auto'] }
const ABBREVIATED: OperandSlot = { kind: 'number', pattern: '[0-9]{1,2}' }
const SIMILARITY: OperandSlot = { kind: 'number', pattern: '[0-9]{1,3}%?' }

/** Which commits, and in which order. */
export const LOG_FLAGS: readonly string[] = [
  ...[
    '--all',
    '--branches',
    '--tags',
    '--remotes',
    '--not',
    '--reflog',
    '--walk-reflogs',
    '-g',
    '--merge',
    '--boundary',
  ],
  ...[
    '--merges',
    '--no-merges',
    '--first-parent',
    '--cherry',
    '--cherry-pick',
    '--cherry-mark',
    '--left-only',
    '--right-only',
  ],
  ...[
    '--left-right',
    '--simplify-by-decoration',
    '--simplify-merges',
    '--full-history',
    '--dense',
    '--sparse',
    '--ancestry-path',
  ],
  ...[
    '--show-pulls',
    '--date-order',
    '--author-date-order',
    '--topo-order',
    '--reverse',
    '--no-walk',
    '--do-walk',
    '--follow',
  ],
  ...[
    '--full-diff',
    '--source',
    '--log-size',
    '--use-mailmap',
    '--no-use-mailmap',
    '--mailmap',
    '--no-mailmap',
    '--decorate',
  ],
  ...[
    '--no-decorate',
    '--clear-decorations',
    '--oneline',
    '--graph',
    '--no-graph',
    '--abbrev-commit',
    '--no-abbrev-commit',
  ],
  ...[
    '--parents',
    '--children',
    '--pretty',
    '--relative-date',
    '--notes',
    '--no-notes',
    '--expand-tabs',
    '--no-expand-tabs',
  ],
  ...['--all-match', '--invert-grep', '-i', '--regexp-ignore-case', '--basic-regexp', '-E', '--extended-regexp', '-F'],
  ...[
    '--fixed-strings',
    '-P',
    '--perl-regexp',
    '-c',
    '--cc',
    '-m',
    '-t',
    '--dd',
    '--no-diff-merges',
    '--combined-all-paths',
  ],
  '--show-linear-break',
]

const NAMED = ['oneline', 'short', 'medium', 'full', 'fuller', 'reference', 'email', 'mboxrd', 'raw']
/** Text and placeholders; `%G…`, also with a sign before the letter, has signatures checked. */
const PLACED = '(?:[^%\\r\\n]|%[ +-]?[^G +\\r\\n-])*'
/** A named format of git's own, or one that is written out; any other name may stand for something in the configuration. */
const FORMAT: OperandSlot = {
  kind: 'text',
  pattern: `(?:${NAMED.join('|')}|t?format:${PLACED}|[^%\\r\\n:]*%[ +-]?[^G +\\r\\n-]${PLACED}|)`,
}
const DIFF_MERGES = ['off', 'none', 'first-parent', '1', 'separate', 'm', 'combined', 'c', 'dense-combined', 'cc']
const LINE = '(?:[+-]?[0-9]{1,9}|/[^/\\\\\\r\\n]{1,200}/)'
const LINES_OF_FILE = `${LINE}?,${LINE}?:|:[^:\\\\\\r\\n]{1,200}:`

export const LOG_VALUES: Values = {
  ...{ '-n': NUMBER, '--max-count': NUMBER, '--skip': NUMBER, '--min-parents=': NUMBER, '--max-parents=': NUMBER },
  ...{ '--since': TEXT, '--after': TEXT, '--until': TEXT, '--before': TEXT, '--since-as-filter': TEXT },
  ...{ '--branches=': TEXT, '--tags=': TEXT, '--remotes=': TEXT, '--glob': TEXT, '--exclude': TEXT },
  ...{ '--decorate-refs=': TEXT, '--decorate-refs-exclude=': TEXT, '--ancestry-path=': REVISION },
  ...{ '--pretty=': FORMAT, '--format=': FORMAT, '--encoding=': { kind: 'text', pattern: '[A-Za-z0-9_-]{1,40}' } },
  ...{ '--decorate=': { kind: 'text', oneOf: ['short', 'full', 'auto', 'no'] } },
  ...{ '--no-walk=': { kind: 'text', oneOf: ['sorted', 'unsorted'] } },
  ...{ '--notes=': { kind: 'text', pattern: '[A-Za-z0-9/_.-]{1,200}' }, '--expand-tabs=': NUMBER },
  ...{
    '--date': {
      kind: 'text',
      pattern:
        '(?:(?:relative|local|default|iso|iso8601|iso-strict|iso8601-strict|rfc|rfc2822|short|raw|human|unix)(?:-local)?|(?:auto:)?format(?:-local)?:[^\\r\\n]{0,200})',
    },
  },
  ...{ '--diff-merges=': { kind: 'text', oneOf: DIFF_MERGES } },
  ...{ '-L': { kind: 'path', behind: LINES_OF_FILE } },
}

export const MESSAGE_VALUES: Values = { '--author': TEXT, '--committer': TEXT, '--grep': TEXT, '--grep-reflog': TEXT }

export const LOG_FORMS: readonly string[] = ['-[0-9]{1,9}']

/** How differences are found and shown. */
export const DIFF_FLAGS: readonly string[] = [
  ...[
    '-p',
    '-u',
    '--patch',
    '-s',
    '--no-patch',
    '--raw',
    '--patch-with-raw',
    '--indent-heuristic',
    '--no-indent-heuristic',
  ],
  ...['--minimal', '--patience', '--histogram', '--stat', '--numstat', '--shortstat', '--dirstat', '--cumulative'],
  ...[
    '--summary',
    '--patch-with-stat',
    '--compact-summary',
    '-z',
    '--name-only',
    '--name-status',
    '--submodule',
    '--color',
  ],
  ...[
    '--no-color',
    '--color-moved',
    '--no-color-moved',
    '--no-color-moved-ws',
    '--word-diff',
    '--color-words',
    '--no-renames',
  ],
  ...[
    '--rename-empty',
    '--no-rename-empty',
    '--check',
    '--full-index',
    '--binary',
    '--abbrev',
    '--no-abbrev',
    '--find-renames',
  ],
  ...['--find-copies', '--find-copies-harder', '--break-rewrites', '-D', '--irreversible-delete', '--pickaxe-all'],
  ...[
    '--pickaxe-regex',
    '-R',
    '--relative',
    '--no-relative',
    '-a',
    '--text',
    '--ignore-cr-at-eol',
    '--ignore-space-at-eol',
  ],
  ...['-b', '--ignore-space-change', '-w', '--ignore-all-space', '--ignore-blank-lines', '-W', '--function-context'],
  ...[
    '--no-function-context',
    '--exit-code',
    '--ignore-submodules',
    '--no-prefix',
    '--default-prefix',
    '--ita-invisible-in-index',
  ],
  ...['--no-ext-diff', '--no-textconv', '--unified', '-M', '-C', '-B', '--full-diff'],
]

const MODES = ['color', 'plain', 'porcelain', 'none']

export const DIFF_VALUES: Values = {
  ...{ '--unified=': NUMBER, '--inter-hunk-context=': NUMBER, '-l': NUMBER },
  ...{ '--diff-algorithm': { kind: 'text', oneOf: ['default', 'myers', 'minimal', 'patience', 'histogram'] } },
  ...{ '--anchored=': TEXT, '--stat=': { kind: 'text', pattern: '[0-9]{1,4}(?:,[0-9]{1,4}){0,2}' } },
  ...{ '--stat-width=': NUMBER, '--stat-name-width=': NUMBER, '--stat-count=': NUMBER, '--stat-graph-width=': NUMBER },
  ...{
    '--dirstat=': { kind: 'text', pattern: '[a-z0-9,.]{1,60}' },
    '--submodule=': { kind: 'text', oneOf: ['short'] },
  },
  ...{
    '--color=': WHEN,
    '--word-diff=': { kind: 'text', oneOf: MODES },
    '--word-diff-regex=': TEXT,
    '--color-words=': TEXT,
  },
  ...{
    '--color-moved=': {
      kind: 'text',
      oneOf: ['no', 'default', 'plain', 'blocks', 'zebra', 'dimmed-zebra', 'dimmed_zebra'],
    },
  },
  ...{ '--color-moved-ws=': { kind: 'text', pattern: '[a-z,-]{1,120}' } },
  ...{ '--ws-error-highlight=': { kind: 'text', pattern: '[a-z,]{1,60}' }, '--abbrev=': ABBREVIATED },
  ...{ '--find-renames=': SIMILARITY, '--find-copies=': SIMILARITY },
  ...{ '--break-rewrites=': { kind: 'text', pattern: '[0-9]{1,3}%?(?:/[0-9]{1,3}%?)?' } },
  ...{
    '--diff-filter=': { kind: 'text', pattern: '[A-Za-z*]{1,30}' },
    '-S': TEXT,
    '-G': TEXT,
    '--find-object=': REVISION,
  },
  ...{
    '-I': TEXT,
    '--ignore-matching-lines=': TEXT,
    '--ignore-submodules=': { kind: 'text', oneOf: ['dirty', 'all'] },
  },
  ...{ '--src-prefix=': TEXT, '--dst-prefix=': TEXT, '--line-prefix=': TEXT },
  ...{ '--output-indicator-new=': TEXT, '--output-indicator-old=': TEXT, '--output-indicator-context=': TEXT },
}

export const DIFF_FORMS: readonly string[] = [
  '-U[0-9]{1,9}',
  '-[MC][0-9]{1,3}%?',
  '-B[0-9]{1,3}%?(?:/[0-9]{1,3}%?)?',
  '-X[a-z0-9,.]{1,60}',
]
