// Reads a repository's own configuration as git does, to find out whether it names a program that git would start. It lists what
// is harmless, never what is bad: a key that nobody has looked at counts as one that names a program.

import { OVERRIDDEN_KEYS } from './git-overrides.ts'

export type ConfigEntry = {
  /** `section.name` or `section.subsection.name`; section and name in lower case. */
  readonly key: string
  /** Undefined for a name without a value, which is true. */
  readonly value: string | undefined
}

/** Undefined for a text that git would not read, or that is read in more than one way. */
export function readGitConfig(text: string): readonly ConfigEntry[] | undefined {
  try {
    return new ConfigText(text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')).entries()
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const CORE = [
  ...['repositoryformatversion', 'filemode', 'bare', 'logallrefupdates', 'ignorecase', 'precomposeunicode', 'symlinks'],
  ...['autocrlf', 'eol', 'safecrlf', 'quotepath', 'abbrev', 'compression', 'loosecompression', 'bigfilethreshold'],
  ...[
    'untrackedcache',
    'trustctime',
    'checkstat',
    'whitespace',
    'longpaths',
    'protectntfs',
    'protecthfs',
    'warnambiguousrefs',
  ],
  ...[
    'sharedrepository',
    'multipackindex',
    'commitgraph',
    'sparsecheckout',
    'sparsecheckoutcone',
    'preloadindex',
    'fscache',
  ],
  ...['deltabasecachelimit', 'packedgitlimit', 'packedgitwindowsize', 'notesref', 'commentchar', 'hidedotfiles'],
  // Whether it is the folder that git was found in has been asked before.
  'worktree',
]
/** Sections whose every name is a setting of how something looks or which one is meant. */
const SECTIONS = [
  'color',
  'column',
  'user',
  'author',
  'committer',
  'init',
  'advice',
  'pack',
  'gc',
  'index',
  'feature',
  'repack',
]
const HARMLESS: readonly RegExp[] = [
  new RegExp(`^core\\.(${CORE.join('|')})$`),
  new RegExp(`^(${SECTIONS.join('|')})\\.`),
  /^remote\..*\.(url|pushurl|fetch|push|mirror|prune|prunetags|tagopt|skipdefaultupdate|skipfetchall)$/s,
  /^branch\..*\.(remote|merge|rebase|pushremote|description|vscode-merge-base|gh-merge-base|github-pr-owner-number)$/s,
  /^branch\.(autosetupmerge|autosetuprebase|sort)$/,
  /^(remote\.pushdefault|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|fetch\.(prune|prunetags|parallel))$/,
  /^(merge|rebase|rerere|commit|tag|status|log|format|blame|grep|diff)\.[a-z]*(style|color|default|verbose|sort|date|decorate|abbrevcommit|renames|renamelimit|algorithm|context|mnemonicprefix|noprefix|stat|linenumber|patterntype|extendedregexp|conflictstyle|ff|autosquash|autostash|enabled|autoupdate|gpgsign|showuntrackedfiles|relativepaths|branch|short|follow|coloring|showroot|pretty)$/,
  /^submodule\..*\.(url|active|branch|shallow|path)$/s,
  /^submodule\.(active|fetchjobs)$/,
  /^extensions\.(objectformat|worktreeconfig|refstorage|compatobjectformat|preciousobjects)$/,
  /^lfs\.(repositoryformatversion|url)$|^lfs\..*\.(access|locksverify)$/s,
  /^(maintenance|i18n|gui|http\.postbuffer|transfer\.fsckobjects|receive\.denycurrentbranch)(\.|$)/,
]

/** The first key that may name a program; undefined where there is none. */
export const programKey = (entries: readonly ConfigEntry[]): string | undefined =>
  entries.find(({ key, value }) => !isHarmless(key, value))?.key

const isHarmless = (key: string, value: string | undefined): boolean =>
  OVERRIDDEN_KEYS.has(key) || HARMLESS.some((pattern) => pattern.test(key)) || isPlainAlias(key, value)

/** Aliases cannot take the place of git's own commands, and only a leading `!` makes one a program. */
const isPlainAlias = (key: string, value: string | undefined): boolean =>
  /^alias\.[a-z0-9-]+$/.test(key) && value !== undefined && !value.trimStart().startsWith('!')

class ConfigText {
  readonly #text: string
  #at = 0
  #section = ''

  constructor(text: string) {
    if (text.includes('\0')) throw new SyntaxError('a NUL character')
    this.#text = text
  }

  entries(): readonly ConfigEntry[] {
    const entries: ConfigEntry[] = []
    for (;;) {
      this.#skip(/[\s]/)
      const next = this.#text[this.#at]
      if (next === undefined) return entries
      if (next === '#' || next === ';') this.#skip(/[^\n]/)
      else if (next === '[') this.#section = this.#header()
      else entries.push(this.#variable())
    }
  }

  #header(): string {
    const name = this.#take(/\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y)
    const subsection = name[2]?.replace(/\\(.)/g, '$1')
    // The old form `[section.sub]` folds the case of both.
    return subsection === undefined ? (name[1] ?? '').toLowerCase() : `${(name[1] ?? '').toLowerCase()}.${subsection}`
  }

  #variable(): ConfigEntry {
    if (this.#section === '') throw new SyntaxError('a name outside of every section')
    const [, name = ''] = this.#take(/([A-Za-z][A-Za-z0-9-]*)[ \t]*/y)
    const key = `${this.#section}.${name.toLowerCase()}`
    const next = this.#text[this.#at]
    if (next === undefined || next === '\n') return { key, value: undefined }
    if (next === '#' || next === ';') {
      this.#skip(/[^\n]/)
      return { key, value: undefined }
    }
    this.#take(/=[ \t]*/y)
    return { key, value: this.#value() }
  }

  #value(): string {
    let value = ''
    let quoted = false
    for (;;) {
      const next = this.#text[this.#at]
      if (next === undefined || next === '\n') {
        if (quoted) throw new SyntaxError('a quote that does not end')
        return value.trimEnd()
      }
      this.#at++
      if (next === '"') quoted = !quoted
      else if (next === '\\') value += this.#escape()
      else if (!quoted && (next === '#' || next === ';')) this.#skip(/[^\n]/)
      else value += next
    }
  }

  #escape(): string {
    const next = this.#text[this.#at++]
    const meant = next === undefined ? undefined : ESCAPES.get(next)
    if (meant === undefined) throw new SyntaxError('an unknown escape')
    return meant
  }

  #skip(characters: RegExp): void {
    while (this.#at < this.#text.length && characters.test(this.#text[this.#at] ?? '')) this.#at++
  }

  #take(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found === null) throw new SyntaxError('unexpected characters')
    this.#at = pattern.lastIndex
    return found
  }
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['b', '\b'],
  ['\\', '\\'],
  ['"', '"'],
  ['\n', ''],
])
