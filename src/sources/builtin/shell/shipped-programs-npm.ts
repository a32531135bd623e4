// The grammar of npm: its version, and the package scripts that an operator names. A script is code of the workspace, so it
// takes no further arguments here, and a `.npmrc` of the workspace can neither choose the shell nor a place to write to.

import type { ProgramGrammar } from './program-grammar.ts'

/** Scripts that npm also runs without `run`. */
const SHORT = new Set(['test', 'start', 'stop', 'restart'])
const BEFORE = [
  ...['--script-shell=/bin/sh', '--node-options=', '--logs-max=0', '--no-update-notifier', '--no-fund'],
  ...['--no-audit', '--no-workspaces', '--foreground-scripts', '--no-color'],
] as const

const VERSION = ['--version', '-v'] as const
const INSTEAD = {
  exec: 'only what is allowed here may be run',
  install: 'packages are installed by the people of the project',
} as const

export const NPM: ProgramGrammar = {
  operands: [{ kind: 'text', oneOf: VERSION }],
  least: 1,
  literal: true,
  reads: true,
  instead: INSTEAD,
}

/** npm with `run NAME`, and `NAME` where npm knows it alone, of these scripts. */
export function npmWithScripts(scripts: readonly string[]): ProgramGrammar {
  const runs = (script: string): ProgramGrammar => ({ reads: false, runsWorkspaceCode: true, script, ends: false })
  const named = Object.fromEntries(scripts.map((script) => [script, runs(script)]))
  const quiet = ['--silent', '-s']
  const run: ProgramGrammar = { flags: quiet, subcommands: named, reads: true }
  const short = scripts.filter((script) => SHORT.has(script)).map((script) => [script, runs(script)] as const)
  return {
    ...{ reads: true, instead: INSTEAD },
    flags: [...VERSION, ...quiet],
    subcommands: { ...Object.fromEntries(short), run, 'run-script': run },
    before: BEFORE,
  }
}
