// The grammar of git: the subcommands that look. Configuration of a repository can name programs and files, so what can be
// overridden on the command line is (`before`), what can be asked for only by a flag is not in the lists (`--ext-diff`,
// `--textconv`, `-O`, `--no-index`, signatures), and nothing asks another repository. Filters cannot be overridden so: whoever
// runs git deals with them, and gives the environment.

import type { OperandSlot, ProgramGrammar } from './program-grammar.ts'
import {
  DIFF_FLAGS,
  DIFF_FORMS,
  DIFF_VALUES,
  LOG_FLAGS,
  LOG_FORMS,
  LOG_VALUES,
  MESSAGE_VALUES,
} from './shipped-programs-git-flags.ts'

const TEXT: OperandSlot = { kind: 'text' }
const NUMBER: OperandSlot = { kind: 'number' }
const REVISION: OperandSlot = { kind: 'revision' }
const PATHSPEC: OperandSlot = { kind: 'pathspec' }
const WHEN: OperandSlot = { kind: 'text', oneOf: ['always', 'never', 'auto'] }
const ABBREVIATED: OperandSlot = { kind: 'number', pattern: '[0-9]{1,2}' }
const FIELDS =
  'refname|objectname|objecttype|objectsize|upstream|push|HEAD|subject|body|contents|trailers|author|committer|tagger|' +
  'creator|authorname|authoremail|authordate|committername|committeremail|committerdate|taggername|taggerdate|creatordate|' +
  'symref|color|align|if|then|else|end'
/** Formats of references: without the fields that have a signature checked, which starts a program. */
const REFERENCE_FORMAT: OperandSlot = {
  kind: 'text',
  pattern: `(?:[^%]|%%|%[0-9A-Fa-f]{2}|%[(][*]?(?:${FIELDS})(?:[:=][^()]*)?[)])*`,
}
const REFERENCE_ORDER: OperandSlot = {
  kind: 'text',
  pattern:
    '-?(?:version:|v:)?\\*?(?:refname|objectname|objecttype|objectsize|committerdate|authordate|creatordate|taggerdate|committername|authorname|subject|upstream|HEAD)(?::[a-z0-9=-]+)?',
}

/** Neither another diff program nor a converter of one file type, whatever the repository says. */
const NO_DRIVERS = ['--no-ext-diff', '--no-textconv'] as const
const NO_SUBMODULES = ['--ignore-submodules=dirty'] as const

const NOT_ALLOWED = {
  '--output': 'the result is what the command prints',
  '--ext-diff': 'no other program is started',
  '--textconv': 'no other program is started',
  '--stdin': 'give them as arguments',
}

const shows = (grammar: Partial<ProgramGrammar>): ProgramGrammar => ({
  operands: [REVISION],
  more: true,
  behindEnds: PATHSPEC,
  reads: true,
  walks: true,
  looksAt: 'repository',
  anyValue: true,
  ...grammar,
})

const log = shows({
  flags: [...LOG_FLAGS, ...DIFF_FLAGS],
  values: { ...LOG_VALUES, ...MESSAGE_VALUES, ...DIFF_VALUES },
  forms: [...LOG_FORMS, ...DIFF_FORMS],
  before: [...NO_DRIVERS, ...NO_SUBMODULES],
  instead: NOT_ALLOWED,
})

const diff = shows({
  flags: [
    ...DIFF_FLAGS,
    '--cached',
    '--staged',
    '--merge-base',
    '--base',
    '--ours',
    '--theirs',
    '-0',
    '-1',
    '-2',
    '-3',
    '-q',
    '--quiet',
  ],
  values: DIFF_VALUES,
  forms: DIFF_FORMS,
  before: [...NO_DRIVERS, ...NO_SUBMODULES],
  benign: [1],
  instead: { ...NOT_ALLOWED, '--no-index': 'only files of one repository are compared' },
})

const status: ProgramGrammar = {
  flags: [
    ...[
      '--short',
      '--branch',
      '--show-stash',
      '--porcelain',
      '--long',
      '--untracked-files',
      '--no-renames',
      '--renames',
    ],
    ...['--ahead-behind', '--no-ahead-behind', '--find-renames', '--null', '--no-column', '--ignored', '-u'],
  ],
  clusters: 'sbz',
  values: {
    '--porcelain=': { kind: 'text', oneOf: ['v1', 'v2', '1', '2'] },
    '--untracked-files=': { kind: 'text', oneOf: ['no', 'normal', 'all'] },
    '--ignored=': { kind: 'text', oneOf: ['traditional', 'no', 'matching'] },
    '--ignore-submodules=': { kind: 'text', oneOf: ['dirty', 'all'] },
    '--find-renames=': { kind: 'text', pattern: '[0-9]{1,3}%?' },
  },
  forms: ['-u(?:no|normal|all)', '-[sbz]{0,3}u(?:no|normal|all)'],
  operands: [PATHSPEC],
  more: true,
  reads: true,
  walks: true,
  looksAt: 'repository',
  before: NO_SUBMODULES,
}

const branch: ProgramGrammar = {
  anyValue: true,
  flags: [
    ...[
      '--list',
      '--all',
      '--remotes',
      '--verbose',
      '--show-current',
      '--ignore-case',
      '--no-abbrev',
      '--color',
      '--no-color',
    ],
    ...['--no-column', '--merged', '--no-merged', '--contains', '--no-contains', '--quiet'],
  ],
  clusters: 'arvqi',
  values: {
    ...{ '--merged': REVISION, '--no-merged': REVISION, '--contains': REVISION, '--no-contains': REVISION },
    ...{ '--points-at': REVISION, '--abbrev=': ABBREVIATED, '--color=': WHEN },
    ...{ '--format': REFERENCE_FORMAT, '--sort': REFERENCE_ORDER },
  },
  operands: [TEXT],
  more: true,
  operandsNeed: ['--list'],
  reads: true,
}

const revParse: ProgramGrammar = {
  flags: [
    ...[
      '--verify',
      '--quiet',
      '-q',
      '--short',
      '--abbrev-ref',
      '--symbolic',
      '--symbolic-full-name',
      '--show-toplevel',
    ],
    ...['--show-prefix', '--show-cdup', '--git-dir', '--absolute-git-dir', '--git-common-dir', '--is-inside-work-tree'],
    ...['--is-inside-git-dir', '--is-bare-repository', '--is-shallow-repository', '--show-object-format', '--all'],
    ...['--branches', '--tags', '--remotes', '--not', '--revs-only', '--no-revs', '--flags', '--no-flags', '--sq'],
  ],
  values: {
    '--short=': ABBREVIATED,
    '--abbrev-ref=': { kind: 'text', oneOf: ['strict', 'loose'] },
    ...{ '--branches=': TEXT, '--tags=': TEXT, '--remotes=': TEXT, '--glob=': TEXT, '--exclude=': TEXT },
    ...{ '--since=': TEXT, '--after=': TEXT, '--until=': TEXT, '--before=': TEXT },
  },
  operands: [REVISION],
  more: true,
  behindEnds: PATHSPEC,
  reads: true,
}

const lsFiles: ProgramGrammar = {
  anyValue: true,
  flags: [
    ...[
      '--cached',
      '--deleted',
      '--modified',
      '--others',
      '--ignored',
      '--stage',
      '--unmerged',
      '--killed',
      '--directory',
    ],
    ...[
      '--no-empty-directory',
      '--eol',
      '--deduplicate',
      '--exclude-standard',
      '--error-unmatch',
      '--full-name',
      '--abbrev',
    ],
  ],
  clusters: 'cdmoisuktvfz',
  values: {
    ...{ '-x': TEXT, '--exclude': TEXT, '--with-tree': REVISION, '--abbrev=': ABBREVIATED },
    '--format': { kind: 'text', pattern: '[^\\r\\n]{0,1000}' },
  },
  operands: [PATHSPEC],
  more: true,
  reads: true,
  walks: true,
}

const LINE = '(?:[0-9]{1,9}|/[^/\\\\\\r\\n]{1,200}/)'
const blame: ProgramGrammar = {
  anyValue: true,
  flags: [
    ...['--incremental', '--root', '--show-stats', '--porcelain', '--line-porcelain', '--first-parent', '--show-name'],
    ...['--show-number', '--show-email', '--score-debug', '--color-lines', '--color-by-age', '--abbrev', '--reverse'],
    ...['--progress', '--no-progress', '-M', '-C', ...NO_DRIVERS.slice(1)],
  ],
  clusters: 'bfnpscltew',
  values: {
    '-L': { kind: 'text', pattern: `(?:${LINE}?(?:,(?:${LINE}|[+-][0-9]{1,9})?)?|:[^\\r\\n]{1,200})` },
    ...{ '--date': TEXT, '--since': TEXT, '--abbrev=': ABBREVIATED, '--ignore-rev': REVISION },
  },
  forms: ['-[MC][0-9]{1,3}'],
  operands: [REVISION],
  more: true,
  behindEnds: PATHSPEC,
  reads: true,
  before: NO_DRIVERS.slice(1),
}

const grep: ProgramGrammar = {
  anyValue: true,
  flags: [
    ...[
      '--cached',
      '--untracked',
      '--no-exclude-standard',
      '--exclude-standard',
      '--text',
      '--ignore-case',
      '--recursive',
    ],
    ...['--no-recursive', '--word-regexp', '--invert-match', '--full-name', '--extended-regexp', '--basic-regexp'],
    ...['--perl-regexp', '--fixed-strings', '--line-number', '--column', '--files-with-matches', '--name-only'],
    ...[
      '--files-without-match',
      '--null',
      '--only-matching',
      '--count',
      '--color',
      '--no-color',
      '--break',
      '--heading',
    ],
    ...['--show-function', '--function-context', '--and', '--or', '--not', '--all-match', '--quiet', '--no-textconv'],
  ],
  clusters: 'aIirwvhHEGPFnlLzcopWq',
  values: {
    ...{ '-e': TEXT, '--max-depth': { kind: 'number', pattern: '-?[0-9]{1,9}' }, '-m': NUMBER, '--max-count': NUMBER },
    ...{ '-A': NUMBER, '-B': NUMBER, '-C': NUMBER },
    ...{ '--after-context': NUMBER, '--before-context': NUMBER, '--context': NUMBER, '--color=': WHEN },
    '--threads': { kind: 'number', pattern: '[0-9]{1,2}' },
  },
  forms: ['-[0-9]{1,6}'],
  operands: [TEXT, REVISION],
  more: true,
  least: 1,
  firstBy: ['-e'],
  behindEnds: PATHSPEC,
  reads: true,
  walks: true,
  benign: [1],
  before: ['--no-textconv'],
}

/** Settings of a repository that name programs, files outside or other repositories, each with a value that does nothing. */
const OVERRIDES: Readonly<Record<string, string>> = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.pager': 'cat',
  'core.editor': 'false',
  'core.sshCommand': 'false',
  'core.askPass': 'false',
  'core.gitProxy': 'false',
  'core.alternateRefsCommand': 'false',
  'credential.helper': '',
  'diff.external': '',
  'diff.autoRefreshIndex': 'false',
  'diff.submodule': 'short',
  'status.submoduleSummary': 'false',
  'submodule.recurse': 'false',
  'log.showSignature': 'false',
  'log.diffMerges': 'separate',
  'format.pretty': 'medium',
  'gpg.program': 'false',
  'gpg.openpgp.program': 'false',
  'gpg.x509.program': 'false',
  'gpg.ssh.program': 'false',
  'gpg.ssh.defaultKeyCommand': 'false',
  'mailmap.file': '/dev/null',
  'blame.ignoreRevsFile': '',
  'protocol.allow': 'never',
  'protocol.file.allow': 'never',
  'protocol.ext.allow': 'never',
  'protocol.ssh.allow': 'never',
  'protocol.git.allow': 'never',
  'protocol.http.allow': 'never',
  'protocol.https.allow': 'never',
  'fetch.writeCommitGraph': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
}

export const GIT: ProgramGrammar = {
  flags: ['--no-pager', '-P', '--version', '--no-optional-locks'],
  subcommands: { status, log, diff, show: log, branch, 'rev-parse': revParse, 'ls-files': lsFiles, blame, grep },
  reads: true,
  before: [
    '--no-pager',
    '--no-optional-locks',
    ...Object.entries(OVERRIDES).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ],
  instead: {
    '-C': 'give the folder as the working folder of the command',
    '-p': 'nothing is paged',
    '--paginate': 'nothing is paged',
    '--help': 'the manual is not opened',
  },
}
