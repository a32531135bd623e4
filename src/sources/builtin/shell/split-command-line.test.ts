import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { splitCommandLine } from './split-command-line.ts'

describe('what a shell would do something with is refused', () => {
  test.each([
    ...['git log; id', 'git log && id', 'git log || id', 'git log | sh', 'git log & id', 'git log &'],
    ...[
      'git log `id`',
      'git log $(id)',
      'git log "$(id)"',
      'git log "`id`"',
      'echo $HOME',
      'echo "$HOME"',
      'echo "${HOME}"',
    ],
    ...['cat <(id)', 'cat < f', 'git log > f', 'git log 2>&1', 'git log >| f', 'cat <<< x'],
    ...['cat src/*', 'cat a?', 'cat [ab]', 'cat {a,b}', 'cat ~/x', 'cat ~root/x', 'git log --x=~/y', 'git show x:~'],
    ...['(id)', '{ id; }', '! id', '!!', 'echo !x', 'echo x!y', '# comment', 'echo #x', '[[ -n x ]]'],
    ...['FOO=1 git log', 'FOO+=1 git log', "FOO='a b' git", "echo $'\\x3b'", 'echo $"x"'],
    ...['echo "open', "echo 'open", "echo 'a' 'b", 'echo x\\'],
    ...[
      'git log\nid',
      'git log\r id',
      'git log \\\n id',
      "echo 'a\nb'",
      'git\u0000log',
      'git \u001b[1m',
      'git \u0085 log',
    ],
    ...[
      'git log\u00a0--output=x',
      'git\u200blog',
      'g\u200dit log',
      'git\u3000log',
      'git\ufeff log',
      'git \u2028 log',
      'git\u2800log',
    ],
    ...['git \\\u00a0log', "git 'a\u202eb'", 'git \ud800'],
  ])('%j', (line) => {
    expect(splitCommandLine(line)).toMatchObject({ kind: 'refused' })
  })

  test('a line of nothing but blanks is empty', () => {
    for (const line of ['', ' ', '\t \t'])
      expect(splitCommandLine(line)).toMatchObject({ code: 'invalid_args', message: expect.stringContaining('empty') })
  })

  test('too long a line, and too many words', () => {
    expect(splitCommandLine(`echo ${'x'.repeat(70_000)}`)).toMatchObject({ code: 'invalid_args' })
    expect(splitCommandLine(`echo ${'x '.repeat(1_001)}`)).toMatchObject({ code: 'invalid_args' })
    expect(splitCommandLine(`echo ${'x '.repeat(1_000)}`)).toMatchObject({ kind: 'ok' })
  })

  test('the message says what to do, and repeats no backtick', () => {
    expect(splitCommandLine('a | b')).toMatchObject({
      code: 'unsafe_args',
      message: expect.stringContaining('quote it'),
    })
    expect(splitCommandLine('a `b`')).toMatchObject({ message: expect.stringMatching(/^a backtick outside/) })
  })
})

describe('quotes and backslashes', () => {
  test.each(
    [
      ["echo 'a;b'", ['echo', 'a;b']],
      ['echo a\\;b', ['echo', 'a;b']],
      ["echo ''", ['echo', '']],
      ['echo ""', ['echo', '']],
      ['echo a\'b\'"c"d', ['echo', 'abcd']],
      ["grep -n '`' src/a.ts", ['grep', '-n', '`', 'src/a.ts']],
      ['find . -name "*.ts"', ['find', '.', '-name', '*.ts']],
      ['find . \\( -name a -o -name b \\)', ['find', '.', '(', '-name', 'a', '-o', '-name', 'b', ')']],
      ['find . ! -name a', ['find', '.', '!', '-name', 'a']],
      ['git diff HEAD~1', ['git', 'diff', 'HEAD~1']],
      ['git show HEAD^', ['git', 'show', 'HEAD^']],
      ['git log --grep=#12', ['git', 'log', '--grep=#12']],
      ['git log issue#12', ['git', 'log', 'issue#12']],
      ['git log --format=%H -n 1', ['git', 'log', '--format=%H', '-n', '1']],
      ['echo "a\\"b\\\\c\\d"', ['echo', 'a"b\\c\\d']],
      ['echo "\\$HOME \\`x\\`"', ['echo', '$HOME `x`']],
      ["echo '\\'", ['echo', '\\']],
      ['grep "^x$" f', ['grep', '^x$', 'f']],
      ['grep "(a$|b)" f', ['grep', '(a$|b)', 'f']],
      ['  a\t\tb  ', ['a', 'b']],
      ['echo a=b', ['echo', 'a=b']],
      ['echo "g\\it" \\ x', ['echo', 'g\\it', ' x']],
      [
        "echo '\u00a0' 'نیم\u200cفاصله' '👨\u200d👩\u200d👧'",
        ['echo', '\u00a0', 'نیم\u200cفاصله', '👨\u200d👩\u200d👧'],
      ],
      ["'git' log", ['git', 'log']],
      ['"FOO=1" git', ['FOO=1', 'git']],
    ].filter(([, words]) => words?.length !== 0) as [string, string[]][],
  )('%j', (line, words) => {
    expect(splitCommandLine(line)).toEqual({ kind: 'ok', words })
  })

  test('what is taken means the same to a shell', () => {
    const alphabet = fc.constantFrom(...' \'"\\ab-=~#!$`;|*(){}%^,./:@+'.split(''))
    const cases: string[] = []
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 14 }), (letters) => {
        const line = `x ${letters.join('')}`
        if (splitCommandLine(line).kind === 'ok') cases.push(line)
      }),
      { numRuns: 3_000 },
    )
    expect(cases.length).toBeGreaterThan(100)
    const script = cases.map((line) => `show ${line.slice(2)}`).join('\n')
    const shown = execFileSync(
      '/bin/sh',
      ['-c', `show() { for a in x "$@"; do printf '%s\\001' "$a"; done; printf '\\002'; }\n${script}`],
      {
        cwd: '/',
        encoding: 'utf8',
      },
    )
    const words = shown
      .split('\u0002')
      .slice(0, -1)
      .map((one) => one.split('\u0001').slice(0, -1))
    expect(words).toEqual(cases.map((line) => (splitCommandLine(line) as { words: readonly string[] }).words))
  })

  test('a long row of quotes takes time in its length', () => {
    const line = `echo ${"''".repeat(20_000)}`
    expect(splitCommandLine(line)).toEqual({ kind: 'ok', words: ['echo', ''] })
  })
})
