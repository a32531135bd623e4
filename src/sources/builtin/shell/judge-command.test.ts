import { describe, expect, test } from 'vitest'
import { judgeCommand } from './judge-command.ts'
import type { ProgramGrammar } from './program-grammar.ts'
import { SHIPPED } from './shipped-programs.ts'

const judge = (...[program = '', ...args]: readonly string[]) => judgeCommand(SHIPPED, program, args)

function ok(...words: readonly string[]) {
  const judged = judge(...words)
  if (judged.kind === 'refused') throw new Error(`${words.join(' ')}: ${judged.message}`)
  return judged
}

/** The parts of arguments that name something, as text. */
const named = (...words: readonly string[]): readonly string[] => {
  const { args, paths } = ok(...words)
  return paths.map(({ index, start, end }) => args[index]?.slice(start, end) ?? '')
}

const words = (line: string): readonly string[] => line.split(' ')

describe('what a grammar does not list in exactly that spelling is refused', () => {
  test.each([
    // Abbreviated long options.
    ...[
      'git diff --outp=x',
      'git log --st',
      'sort --outpu=x',
      'sort --comp=id',
      'grep --fil=x y',
      'ls --deref',
      'wc --files0=x',
    ],
    // Letters in clusters.
    ...[
      'sort -uo x',
      'sort -no',
      'sed -ni 1p a',
      'grep -rnf x y',
      'grep -rR x',
      'rg -nz x',
      'rg -nL x',
      'ls -lL',
      'ls -laH',
      'tail -nF x',
    ],
    // Flags behind operands and behind values.
    ...[
      'sort a -o b',
      'find . -name x -delete',
      'find . -name x -o -exec id ;',
      'git log HEAD --output=x',
      'rg x src --pre=id',
    ],
    // Joined values.
    ...[
      'sort -oout a',
      'sort -T/etc a',
      'grep -f/etc/passwd x',
      'rg -f/etc/passwd',
      'git grep -Oid x',
      'git diff -Oorder',
    ],
    // Letter case.
    ...['git STATUS', 'git diff --STAT', 'GIT status', 'sort -U a', 'find . -NAME x'],
    // Flags of their own kind in another place.
    ...[
      'git --stat diff',
      'git -C .. status',
      'git -c a=b log',
      'git --git-dir=x log',
      'git --work-tree=/ status',
      'git --exec-path=x log',
    ],
    ...[
      'git status -v',
      'git branch -D x',
      'git branch -m x',
      'git branch -f x',
      'git branch -u x',
      'git branch --edit-description',
    ],
    ...[
      'git ls-files -X x',
      'git ls-files --exclude-from=x',
      'git blame --contents x a',
      'git blame -S x a',
      'git blame --ignore-revs-file=x a',
    ],
    ...[
      'git grep --no-index x',
      'git grep -f x',
      'git rev-parse --parseopt',
      'git log --show-signature',
      'git diff --no-index a b',
    ],
    ...[
      'sed 1d a',
      'sed -n p a',
      'sed -n 1,5w a',
      'sed -n 1,5p;w a',
      'sed -f x a',
      'sed -e 1e a',
      'sed -n --expression=s/a/b/ a',
    ],
    ...[
      'find . -fprint x',
      'find . -fls x',
      'find . -follow',
      'find -H . -name x',
      'find . -ok id ;',
      'find . -xtype l',
      'find -- .',
    ],
    ...[
      'uniq a b',
      'uniq - b',
      'sort --files0-from=a',
      'wc --files0-from=a',
      'sort --random-source=a b',
      'sort --parallel=99 a',
    ],
    ...['node x.js', 'node -p 1', 'node --version x.js', 'npm test', 'npm run test', 'npm -g ls', 'npm --version ls'],
    ...[
      'head -n x a',
      'head -n 5x a',
      'head --lines= a',
      'tail -n1e9 a',
      'grep -A x y z',
      'rg --threads 1000 x',
      'rg --max-columns=x y',
    ],
    ...['true x', 'sleep', 'sleep infinity', 'sleep 1 1', 'pwd x', 'grep --color=sometimes x y'],
  ])('%s', (line) => {
    const judged = judge(...words(line))
    expect(judged.kind, JSON.stringify(judged)).toBe('refused')
  })

  test('a program that is not named is not permitted; a flag or operand is unsafe; too little is invalid', () => {
    expect(judge('sh', '-c', 'id')).toMatchObject({ code: 'permission_denied' })
    expect(judge('./git', 'status')).toMatchObject({ code: 'permission_denied' })
    expect(judge('constructor')).toMatchObject({ code: 'permission_denied' })
    expect(judge('sort', '-o', 'x')).toMatchObject({ code: 'unsafe_args' })
    expect(judge('git', 'constructor')).toMatchObject({ code: 'unsafe_args' })
    expect(judge('grep')).toMatchObject({ code: 'invalid_args' })
    expect(judge('head', '-n')).toMatchObject({ code: 'invalid_args' })
  })

  test('what is held against a pattern is bounded', () => {
    const long = 'a'.repeat(100_000)
    expect(judge('git', 'log', `--format=%h${long}`)).toMatchObject({ code: 'unsafe_args' })
    expect(judge('git', 'log', '-L', ':'.repeat(100_000))).toMatchObject({ code: 'unsafe_args' })
    expect(judge('git', 'show', long)).toMatchObject({ code: 'unsafe_args' })
    expect(judge('sed', '-n', `1p${';1p'.repeat(30_000)}`)).toMatchObject({ code: 'unsafe_args' })
    expect(judge('grep', `-${'5'.repeat(100_000)}`, 'x')).toMatchObject({ code: 'unsafe_args' })
    expect(judge('grep', long, 'a')).toMatchObject({ kind: 'ok' })
  })

  test('arguments that no program can be given', () => {
    expect(judge('cat', 'a\0b')).toMatchObject({ code: 'invalid_args' })
    expect(judge('cat', '\ud800')).toMatchObject({ code: 'invalid_args' })
    expect(judge('cat', 'é'.repeat(70_000))).toMatchObject({ code: 'invalid_args' })
    expect(judge('cat', ...Array.from({ length: 1_001 }, () => 'a'))).toMatchObject({ code: 'invalid_args' })
    expect(judge('cat', ...Array.from({ length: 1_000 }, () => 'a'))).toMatchObject({ kind: 'ok' })
  })
})

describe('what users and models look with is allowed', () => {
  test.each([
    ...['git status -sb', 'git status --porcelain=v2 -uno', 'git status -- src', 'git --no-pager status --short'],
    ...[
      'git log --oneline -10',
      'git log -n5 --stat',
      'git log --since=2.weeks --author=ana',
      'git log --graph --all --decorate',
    ],
    ...[
      'git log main..HEAD',
      'git log -p -- src/a.ts',
      'git log --follow -- src/a.ts',
      'git log --format=%h%x09%an -1',
      'git log --pretty=oneline',
    ],
    ...[
      'git log --diff-filter=A --summary',
      'git log -S foo --all',
      'git log -Gfoo',
      'git log -L 1,20:src/a.ts',
      'git log --date=short --pretty=format:%ad',
    ],
    ...[
      'git diff --name-only HEAD~3',
      'git diff --cached --stat',
      'git diff main...feature -- src',
      'git diff -U10 -w',
      'git diff HEAD HEAD~1 src/a.ts',
    ],
    ...[
      'git show HEAD:src/a.ts',
      'git show --stat',
      'git show HEAD^2',
      'git show stash@{0}',
      'git show v1.0^{commit}',
      'git show :0:src/a.ts',
    ],
    ...[
      'git branch',
      'git branch -a',
      'git branch -vv',
      'git branch --show-current',
      'git branch --list feature/*',
      'git branch --merged',
      'git branch --merged main -a',
    ],
    ...[
      'git rev-parse --short HEAD',
      'git rev-parse --show-toplevel',
      'git rev-parse --abbrev-ref HEAD',
      'git rev-parse --verify -q main',
    ],
    ...[
      'git ls-files *.ts',
      'git ls-files -o --exclude-standard',
      'git ls-files -m -- src',
      'git blame -L 10,+5 src/a.ts',
      'git blame -w HEAD~1 -- src/a.ts',
    ],
    ...[
      'git grep -nE a|b',
      'git grep -n foo -- *.ts',
      'git grep -i -e foo --and -e bar',
      'git grep -l foo HEAD~2',
      'git grep -nA3 foo src',
    ],
    ...['ls', 'ls -la', 'ls -lah --color=never src', 'ls -1tr', 'ls -R src', 'ls --sort=time -l', 'ls src -l'],
    ...[
      'cat -n a',
      'cat a b',
      'cat -',
      'head -20 a',
      'head -n -5 a',
      'head -c 1K a',
      'tail -n +5 a',
      'tail -f a',
      'tail -c100 a',
      'wc -lwc a b',
      'wc -l',
    ],
    ...[
      'grep -rnE a|b src',
      'grep -rn foo . --include=*.ts',
      'grep -rl --exclude-dir=node_modules foo .',
      'grep -inA3 foo a',
      'grep -c foo a b',
      'grep -oP \\d+ a',
      'grep -e a -e b f',
      'grep -5 a f',
      'grep -m1 -H a f',
      'grep -vE ^# a',
    ],
    ...[
      'rg foo',
      'rg -n foo src',
      'rg -tts -A2 -B2 foo',
      'rg -g !*.test.ts foo',
      'rg --files -g *.ts',
      'rg -uu -i foo',
      'rg -inC2 foo src',
      'rg -l --sort path foo',
      'rg --json foo',
      'rg -c foo',
      'rg -F -- -x src',
    ],
    ...[
      'find',
      'find . -name *.ts',
      'find src -type f -maxdepth 2',
      'find . ( -name a -o -name b ) -not -path */x/*',
      'find . ! -newer a -size +10k',
      'find . -mtime -7 -print0',
      'find a b -iname x -printf %p',
      'find . -perm -u+x',
      'find . -newermt 2024-01-01',
    ],
    ...[
      'sort -rn a',
      'sort -t, -k2,2n a',
      'sort -u -k2 a',
      'sort a -k 1,1',
      'sort --key=2 --reverse a',
      'sort',
      'uniq -c a',
      'uniq -d',
      'uniq -cf1 a',
    ],
    ...[
      'sed -n 1,5p a',
      'sed -n 5p a',
      'sed -n 5,$p a',
      'sed -n 1,+3p a',
      'sed -ne 1p a',
      'sed -n 1p;3p a',
      'sed --quiet --expression=1,2p a',
    ],
    ...[
      'echo -n a -z --x',
      'pwd',
      'pwd -P',
      'node --version',
      'node -v',
      'npm --version',
      'git --version',
      'true',
      'false',
      'sleep 0.5',
    ],
  ])('%s', (line) => {
    const judged = judge(...words(line))
    expect(judged.kind, JSON.stringify(judged)).toBe('ok')
    expect(judged).toMatchObject({ reads: true, runsWorkspaceCode: false })
  })
})

describe('what an argument is for', () => {
  test('a pattern is no path, and the value of a flag that takes its place makes the first operand one', () => {
    expect(named('grep', '/etc/passwd', 'a')).toEqual(['a'])
    expect(named('grep', '-e', 'x', '/etc/passwd')).toEqual(['/etc/passwd'])
    expect(named('grep', 'a', '-e', 'x')).toEqual(['a'])
    expect(named('grep', '-ie', 'x', 'a')).toEqual(['a'])
    expect(named('grep', '--regexp=x', 'a')).toEqual(['a'])
    expect(named('rg', '--files', '/etc')).toEqual(['/etc'])
    expect(named('rg', '/etc')).toEqual([])
    expect(named('sed', '-ne', '1p', '/etc/passwd')).toEqual(['/etc/passwd'])
    expect(named('sed', '-n', '1p', 'a')).toEqual(['a'])
  })

  test('paths behind `--` are paths, also those that look like flags', () => {
    expect(named('cat', '--', '-rf', '../x')).toEqual(['-rf', '../x'])
    expect(named('grep', '--', '-x', '-y')).toEqual(['-y'])
    expect(named('git', 'diff', '--', '../x')).toEqual(['../x'])
    expect(named('git', 'log', 'HEAD', '--', ':(top)a', ':/b')).toEqual(['a', 'b'])
  })

  test('a value may look like a flag or a path and is data', () => {
    expect(named('find', '.', '-name', '-exec')).toEqual(['.'])
    expect(named('grep', '--include', '/etc/*', '-r', 'x')).toEqual([])
    expect(named('git', 'log', '--grep', '-x', '--author=/etc')).toEqual([])
    expect(named('rg', '-e', '--pre', 'src')).toEqual(['src'])
  })

  test('files that flags name are paths', () => {
    expect(named('find', '.', '-newer', '/etc/passwd')).toEqual(['.', '/etc/passwd'])
    expect(named('find', '-samefile', '../x')).toEqual(['../x'])
    expect(named('git', 'log', '-L', '1,5:../x')).toEqual(['../x'])
    expect(named('git', 'log', '-L1,/end/:a')).toEqual(['a'])
    expect(named('git', 'log', '-L', ':main:a')).toEqual(['a'])
    expect(judge('git', 'log', '-L', '1,5')).toMatchObject({ kind: 'refused' })
  })

  test('the standard input is no path', () => {
    expect(ok('cat', '-')).toMatchObject({ paths: [], looksAtFolder: 'no' })
    expect(ok('cat')).toMatchObject({ paths: [], looksAtFolder: 'no' })
    expect(ok('ls', '--', '-')).toMatchObject({ paths: [{ index: 1 }] })
  })
})

describe('where a program looks', () => {
  test.each([
    ['ls', 'itself'],
    ['ls -R', 'below'],
    ['ls -lR', 'below'],
    ['ls src', 'no'],
    ['rg x', 'below'],
    ['rg x src', 'no'],
    ['grep x', 'no'],
    ['grep -rn x', 'below'],
    ['grep -r x src', 'no'],
    ['find', 'below'],
    ['find -newer a', 'below'],
    ['pwd', 'no'],
    ['git log', 'repository'],
    ['git log -p -- src', 'no'],
    ['git log -- :!src', 'repository'],
    ['git log -- src :!src/b', 'no'],
    ['git log -- *.ts', 'below'],
    ['git log -- :(top)*.ts', 'repository'],
    ['git log src', 'repository'],
    ['git diff HEAD -- src', 'no'],
    ['git show HEAD:src/a.ts', 'no'],
    ['git show HEAD:src/a.ts HEAD', 'repository'],
    ['git show HEAD:', 'repository'],
    ['git status', 'repository'],
    ['git ls-files', 'below'],
    ['git ls-files src', 'no'],
    ['git ls-files :/', 'repository'],
    ['git grep x', 'below'],
    ['git blame a', 'no'],
    ['git rev-parse HEAD', 'no'],
    ['git branch', 'no'],
  ])('%s: %s', (line, looksAtFolder) => {
    expect(ok(...words(line)).looksAtFolder).toBe(looksAtFolder)
  })

  test('what is below a path is looked at by programs that walk', () => {
    expect(ok('ls', 'src').paths).toEqual([{ index: 1, start: 0, below: false }])
    expect(ok('ls', '-lR', 'src').paths).toEqual([{ index: 2, start: 0, below: true }])
    expect(ok('grep', '-rn', 'x', 'src').paths).toMatchObject([{ below: true }])
    expect(ok('grep', 'x', 'src').paths).toMatchObject([{ below: false }])
  })
})

describe('the words of git', () => {
  test('a path in a commit counts from the top of the repository, or from here with a dot', () => {
    expect(ok('git', 'show', 'HEAD:src/a.ts').paths).toMatchObject([
      { start: 5, from: 'top', stays: true, below: true },
    ])
    expect(ok('git', 'show', 'HEAD:./a.ts').paths).toMatchObject([{ start: 5, stays: true }])
    expect(ok('git', 'show', 'HEAD:./a.ts').paths[0]).not.toHaveProperty('from')
    expect(named('git', 'show', 'HEAD:../x')).toEqual(['../x'])
    expect(named('git', 'show', ':../x')).toEqual(['../x'])
    expect(named('git', 'diff', 'HEAD:a', 'main~2:b')).toEqual(['a', 'b'])
    expect(named('git', 'show', 'HEAD@{1 day ago: x}:a')).toEqual(['a'])
    expect(named('git', 'show', ':2:a')).toEqual(['a'])
  })

  test('a word that may be a path is judged as one, unless `--` says that it is none', () => {
    expect(named('git', 'diff', 'src/a.ts')).toEqual(['src/a.ts'])
    expect(named('git', 'diff', '../x', '/etc/passwd')).toEqual(['../x', '/etc/passwd'])
    expect(named('git', 'diff', '../x', '--')).toEqual([])
    expect(named('git', 'diff', 'HEAD~1', '@{u}', 'HEAD^^..4f2a91c')).toEqual([])
    expect(named('git', 'show', '../x:y')).toEqual(['../x:y', 'y'])
    expect(named('git', 'blame', '../x')).toEqual(['../x'])
    expect(named('git', 'grep', 'x', '/etc')).toEqual(['/etc'])
  })

  test('a pattern is judged by the part before it', () => {
    expect(named('git', 'ls-files', 'src/*.ts')).toEqual(['src/'])
    expect(named('git', 'ls-files', '../*.ts')).toEqual(['../'])
    expect(named('git', 'ls-files', '/etc/[p]asswd')).toEqual(['/etc/'])
    expect(named('git', 'diff', '--', ':(glob)src/**/a')).toEqual(['src/'])
    expect(judge('git', 'ls-files', 'a*/../../x')).toMatchObject({ kind: 'refused' })
  })

  test.each([
    ...[':(icase)A', ':(attr:x)a', ':(prefix:1)a', ':(top,icase)A', ':', ':()', ':(top', ':x', '', ':(literal)'],
  ])('magic that makes a pathspec mean something else is refused: %j', (text) => {
    expect(judge('git', 'diff', '--', text)).toMatchObject({ kind: 'refused', code: 'unsafe_args' })
  })

  test.each(['-x', '-', '', ':/text', 'a\nb', ':', ':0:'])('this is no revision: %j', (text) => {
    expect(judge('git', 'show', text)).toMatchObject({ kind: 'refused' })
    expect(judge('git', 'branch', `--contains=${text}`)).toMatchObject({ kind: 'refused' })
  })

  test('names of branches are given only where they make none', () => {
    expect(judge('git', 'branch', 'x')).toMatchObject({ kind: 'refused' })
    expect(judge('git', 'branch', '-v', 'x')).toMatchObject({ kind: 'refused' })
    expect(judge('git', 'branch', '--merged', 'x', 'y')).toMatchObject({ kind: 'refused' })
    expect(judge('git', 'branch', '--list', 'x')).toMatchObject({ kind: 'ok' })
  })

  test('its drivers are off, whatever a file is called', () => {
    const lead = ['diff', '--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty']
    expect(ok('git', 'diff').args).toEqual(lead)
    expect(ok('git', 'diff', '--', '--no-ext-diff', '--no-textconv').args.slice(0, 4)).toEqual(lead)
    expect(ok('git', ...lead).args).toEqual(lead)
    expect(ok('git', 'diff', '--ignore-submodules=all').args).toEqual([...lead.slice(0, 3), '--ignore-submodules=all'])
    expect(ok('git', 'log').before).toContain('core.fsmonitor=false')
  })
})

describe('the form in which arguments are run', () => {
  test('flags, their values joined to them, then `--` and the operands', () => {
    expect(ok('grep', 'x', 'a', '-A', '3', '-rn').args).toEqual(['-A3', '-rn', '--', 'x', 'a'])
    expect(ok('grep', '--max-count', '3', 'x', '--', '-a').args).toEqual(['--max-count=3', '--', 'x', '-a'])
    expect(ok('sort', '-k', '1,1').args).toEqual(['-k1,1'])
  })

  test('an empty value is never joined to a letter, where the next argument would be taken for it', () => {
    expect(ok('grep', '-e', '', 'a').args).toEqual(['-e', '', '--', 'a'])
    expect(ok('grep', '--regexp', '', 'a').args).toEqual(['--regexp=', '--', 'a'])
  })

  test('an optional value is only taken joined, so that no operand passes for one', () => {
    expect(named('grep', '--color', 'never', '/etc/passwd')).toEqual(['/etc/passwd'])
    expect(named('ls', '--color', 'never')).toEqual(['never'])
    expect(judge('ls', '--width', '80')).toMatchObject({ kind: 'refused' })
  })

  test('expressions keep their order', () => {
    const expression = ['.', '(', '-name', 'a', '-o', '-name', 'b', ')', '-print']
    expect(ok('find', ...expression).args).toEqual(expression)
    expect(ok('git', 'log', 'main', '--not', 'old', '--oneline').args.slice(-4)).toEqual([
      'main',
      '--not',
      'old',
      '--oneline',
    ])
  })
})

describe('messages', () => {
  const message = (...line: readonly string[]): string => {
    const judged = judge(...line)
    return judged.kind === 'refused' ? judged.message : ''
  }

  test('say what was meant', () => {
    expect(message('gti', 'status')).toContain('did you mean `git`')
    expect(message('git', 'stauts')).toContain('did you mean `status`')
    expect(message('grep', '--max-coun=3', 'x')).toContain('did you mean `--max-count`')
    expect(message('git', 'log', '--onelne')).toContain('did you mean `--oneline`')
    expect(message('sed', '-ni', '1p')).toContain('`-i` is not allowed')
    expect(message('git', '-C', 'x', 'log')).toContain('working folder')
    expect(message('sort', '-o', 'x')).toContain('what the command prints')
    expect(message('./git')).toContain('bare name')
  })

  test('show what a caller wrote on one line, in short, with nothing hidden', () => {
    expect(message('a`b\u202e\n')).toContain('`a\\u{60}b\\u{202e}\\u{a}`')
    expect(message('x'.repeat(10_000)).length).toBeLessThan(600)
    expect(message('cat', `--${'x'.repeat(10_000)}`).length).toBeLessThan(200)
  })
})

describe('a grammar of one’s own', () => {
  const judgeBy = (grammar: ProgramGrammar, ...args: readonly string[]) =>
    judgeCommand(new Map([['tool', grammar]]), 'tool', args)

  test('arguments stay as they are given, and a value that begins with a dash has to be joined', () => {
    const grammar: ProgramGrammar = {
      flags: ['--fix'],
      values: { '--name': { kind: 'text' }, '-n': { kind: 'text' } },
      operands: [{ kind: 'path' }],
      more: true,
      reads: false,
    }
    expect(judgeBy(grammar, 'a', '--fix', '--name', 'x', '--', '-b')).toMatchObject({
      kind: 'ok',
      args: ['a', '--fix', '--name', 'x', '--', '-b'],
      paths: [
        { index: 0, start: 0, below: false },
        { index: 5, start: 0, below: false },
      ],
      reads: false,
    })
    expect(judgeBy(grammar, '--name', '--danger')).toMatchObject({
      code: 'unsafe_args',
      message: expect.stringContaining('join it'),
    })
    expect(judgeBy(grammar, '-n', '--')).toMatchObject({ code: 'unsafe_args' })
    expect(judgeBy(grammar, '--name=--danger')).toMatchObject({ kind: 'ok' })
    expect(judgeBy(grammar, '-n-danger')).toMatchObject({ kind: 'ok' })
    expect(judgeBy(grammar, '-nfix')).toMatchObject({ kind: 'ok' })
    expect(judgeBy(grammar, '-fn')).toMatchObject({ kind: 'refused' })
  })

  test('a joined path is named from where it begins', () => {
    const grammar: ProgramGrammar = { values: { '--out': { kind: 'path' }, '-o': { kind: 'path' } }, reads: false }
    expect(judgeBy(grammar, '--out=../x', '-o../y', '-o', 'z')).toMatchObject({
      paths: [
        { index: 0, start: 6 },
        { index: 1, start: 2 },
        { index: 3, start: 0 },
      ],
    })
    expect(judgeBy(grammar, '--out=')).toMatchObject({ kind: 'refused' })
    expect(judgeBy(grammar, '-o', '')).toMatchObject({ kind: 'refused' })
  })

  test('patterns bind the whole of an argument', () => {
    const grammar: ProgramGrammar = { forms: ['-[0-9]+'], operands: [{ kind: 'text', pattern: 'a|b' }], reads: true }
    expect(judgeBy(grammar, '-12', 'a')).toMatchObject({ kind: 'ok' })
    expect(judgeBy(grammar, 'ab')).toMatchObject({ kind: 'refused' })
    expect(judgeBy(grammar, 'a\nx')).toMatchObject({ kind: 'refused' })
    expect(judgeBy(grammar, '-12x')).toMatchObject({ kind: 'refused' })
  })

  test('an empty grammar takes nothing', () => {
    expect(judgeBy({ reads: true })).toMatchObject({ kind: 'ok', args: [] })
    expect(judgeBy({ reads: true }, 'x')).toMatchObject({ kind: 'refused' })
    expect(judgeBy({ reads: true }, '--x')).toMatchObject({ kind: 'refused' })
    expect(judgeBy({ operands: [{ kind: 'none' }], reads: true }, 'x')).toMatchObject({ kind: 'refused' })
  })

  test('`--` before a subcommand, and where it ends nothing, is refused', () => {
    expect(judge('git', '--', 'log')).toMatchObject({ kind: 'refused' })
    expect(judgeBy({ ends: false, operands: [{ kind: 'text' }], reads: true }, '--')).toMatchObject({ kind: 'refused' })
  })
})
