// Keys of git's configuration that are overridden whatever a repository sets them to: nothing of them starts a program, reaches
// the network or goes into another repository.

const OVERRIDES: readonly (readonly [key: string, value: string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.editor', 'false'],
  ['core.askPass', 'false'],
  ['core.sshCommand', 'false'],
  ['core.alternateRefsCommand', 'false'],
  ['sequence.editor', 'false'],
  ['credential.helper', ''],
  ['log.showSignature', 'false'],
  ['gpg.program', 'false'],
  ['gpg.openpgp.program', 'false'],
  ['gpg.x509.program', 'false'],
  ['gpg.ssh.program', 'false'],
  ['gpg.ssh.defaultKeyCommand', 'false'],
  ['submodule.recurse', 'false'],
  ['status.submoduleSummary', 'false'],
  ['diff.ignoreSubmodules', 'all'],
  ['diff.submodule', 'short'],
  // A folder that only looks like a repository is none; one of another user is, for nothing of it is run.
  ['safe.bareRepository', 'explicit'],
  ['safe.directory', '*'],
  ['protocol.allow', 'never'],
  ...['ext', 'file', 'git', 'http', 'https', 'ssh'].map((name) => [`protocol.${name}.allow`, 'never'] as const),
]

/** As git takes them from its environment. */
export const OVERRIDES_ENVIRONMENT = Object.fromEntries([
  ['GIT_CONFIG_COUNT', String(OVERRIDES.length)],
  ...OVERRIDES.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]),
]) as Readonly<Record<string, string>>

/** Keys of configuration that mean nothing any more, whatever a repository sets them to; in lower case. */
export const OVERRIDDEN_KEYS: ReadonlySet<string> = new Set(OVERRIDES.map(([key]) => key.toLowerCase()))
