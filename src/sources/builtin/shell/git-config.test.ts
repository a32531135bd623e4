import { describe, expect, it } from 'vitest'
import { programKey, readGitConfig } from './git-config.ts'

const keyOf = (text: string): string | undefined => {
  const entries = readGitConfig(text)
  return entries === undefined ? 'unreadable' : programKey(entries)
}

describe('what may name a program', () => {
  it.each([
    ['filter.x.clean', '[filter "x"]\n\tclean = evil'],
    ['filter.x.smudge', '[filter "x"] smudge = evil'],
    ['filter.x.process', '[FILTER "x"]\nPROCESS=evil'],
    ['diff.x.textconv', '[diff "x"]\n\ttextconv = evil'],
    ['diff.x.command', '[diff "x"]\n\tcommand = evil'],
    ['diff.external', '[diff]\n\texternal = evil'],
    ['merge.x.driver', '[merge "x"]\n\tdriver = evil'],
    ['include.path', '[include]\n\tpath = ../x'],
    ['includeif.gitdir:/.path', '[includeIf "gitdir:/"]\n\tpath = x'],
    ['pager.log', '[pager]\n\tlog = evil'],
    ['alias.x', '[alias]\n\tx = !evil'],
    ['alias.x', '[alias]\n\tx = " !evil"'],
    ['remote.x.uploadpack', '[remote "x"]\n\tuploadpack = evil'],
    ['remote.x.vcs', '[remote "x"]\n\tvcs = evil'],
    ['submodule.x.update', '[submodule "x"]\n\tupdate = !evil'],
    ['trailer.x.command', '[trailer "x"]\n\tcommand = evil'],
    ['uploadpack.packobjectshook', '[uploadpack]\n\tpackObjectsHook = evil'],
    ['core.attributesfile', '[core]\n\tattributesFile = /x'],
    ['core.gitproxy', '[core]\n\tgitProxy = evil'],
    ['x.y', '[x]\n\ty = what nobody knows'],
  ])('%s', (key, text) => {
    expect(keyOf(text)).toBe(key)
    expect(keyOf(`[core]\n\tbare = false ; a comment\n# another\n${text}`)).toBe(key)
  })

  it('is seen through continued lines, quotes and comments', () => {
    expect(keyOf('[core]\n\tbare = fal\\\nse\n[filter "a\\"b"]\n\tclean = x')).toBe('filter.a"b.clean')
    expect(keyOf('[core]\n\teditor = "a # [x]\\n"\n[filter "x"] clean=1')).toBe('filter.x.clean')
    expect(keyOf('[core]\r\n\tbare = false\r\n[filter "x"]\r\n\tclean = x\r\n')).toBe('filter.x.clean')
    expect(keyOf('\ufeff[filter "x"]\n\tclean')).toBe('filter.x.clean')
  })

  it.each([
    'clean = x',
    '[filter "x',
    '[filter]\n\t= x',
    '[core]\n\ta = "x',
    '[core]\n\ta = \\q',
    '[core]\na\u0000 = x',
  ])('%j is nothing that git reads, so nothing is believed of it', (text) => {
    expect(keyOf(text)).toBe('unreadable')
  })
})

describe('what is harmless', () => {
  it('the configuration of an ordinary clone', () => {
    expect(
      keyOf(
        [
          '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\tignorecase = true',
          '[remote "origin"]\n\turl = git@example.org:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*',
          '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n\tvscode-merge-base = origin/main',
          '[user]\n\tname = A "B" C\n\temail = a@example.org',
          '[submodule "x"]\n\turl = ../x\n\tactive = true',
          '[lfs]\n\trepositoryformatversion = 0',
          '[color]\n\tui',
          '[alias]\n\tco = checkout',
          '[pull]\n\trebase = true',
        ].join('\n'),
      ),
    ).toBeUndefined()
  })

  it('keys that are overridden anyway', () => {
    expect(keyOf('[core]\n\tfsmonitor = evil\n\thooksPath = x\n\tsshCommand = evil\n\tpager = evil')).toBeUndefined()
    expect(keyOf('[credential]\n\thelper = !evil')).toBeUndefined()
  })
})
