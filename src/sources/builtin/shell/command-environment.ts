// The whole environment of a command, built from nothing: what the gate itself was started with is not in it, and no call can
// add to it.

export type EnvironmentParts = {
  /** Folders of programs, in the order of their search. */
  readonly folders: readonly string[]
  /** A folder of the command's own. */
  readonly home: string
}

/** Programs that look for other programs find those of the system. */
export function commandEnvironment({ folders, home }: EnvironmentParts): Readonly<Record<string, string>> {
  return {
    PATH: folders.join(':'),
    HOME: home,
    TMPDIR: home,
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    CI: '1',
    PAGER: 'cat',
    // An empty text stands for no configuration file at all.
    RIPGREP_CONFIG_PATH: '',
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    npm_config_cache: `${home}/.npm`,
  }
}
