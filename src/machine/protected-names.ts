// Names that no file tool may write, move, delete or create, whether or not they exist: what another program of the host
// reads by itself (on entering a folder, opening it in an editor, starting a shell, any git or package command) and runs, or
// takes its own permissions from. Reading them is the policy's to decide. Ordinary sources that only run when somebody runs
// them (package.json, Makefile, CI workflows) are not among them.

/** Folders: the name itself and everything below it, at any depth. */
const FOLDERS = [
  ...['.git', '.hg', '.svn', '.jj', '.bzr', '.husky', '.githooks', '.lefthook'],
  ...['.vscode', '.vscode-server', '.vs', '.idea', '.fleet', '.zed', '.nova', '.devcontainer', '.theia'],
  ...[
    '.claude',
    '.cursor',
    '.codex',
    '.gemini',
    '.continue',
    '.windsurf',
    '.codeium',
    '.roo',
    '.cline',
    '.kiro',
    '.trae',
    '.augment',
    '.amazonq',
    '.junie',
  ],
  ...['.opencode', '.qwen', '.goose', '.crush', '.copilot', '.openhands', '.factory', '.agents', '.mcp', '.lockgate'],
  ...[
    '.ssh',
    '.gnupg',
    '.aws',
    '.azure',
    '.kube',
    '.docker',
    '.direnv',
    '.mise',
    '.cargo',
    '.yarn',
    '.bundle',
    '.mvn',
    '.bashrc.d',
    '.zshrc.d',
    '.oh-my-zsh',
    '.emacs.d',
    '.vim',
  ],
]

/** Files, at any depth. */
const FILES = [
  ...[
    '.gitconfig',
    '.gitmodules',
    '.git-credentials',
    '.hgrc',
    '.pre-commit-config.yaml',
    '.pre-commit-config.yml',
    'lefthook.yml',
    'lefthook.yaml',
    '.lefthook.yml',
    '.lefthook.yaml',
  ],
  ...[
    '.mcp.json',
    '.claude.json',
    '.opencode.json',
    'opencode.json',
    '.roomodes',
    '.aider.conf.yml',
    '.goosehints.json',
  ],
  ...['lockgate.yaml', 'lockgate.yml', 'lockgate.json', 'lockgate.lock'],
  ...['.envrc', '.mise.toml', 'mise.toml', '.mise.local.toml', 'mise.local.toml', '.autoenv', '.autoenv.zsh'],
  ...[
    '.npmrc',
    '.yarnrc',
    '.yarnrc.yml',
    '.pnpmfile.cjs',
    '.pnpmfile.mjs',
    'pnpmfile.js',
    '.pnp.cjs',
    '.pnp.js',
    '.pnp.loader.mjs',
    '.pypirc',
    '.gemrc',
    '.bazelrc',
    '.condarc',
  ],
  ...[
    '.profile',
    '.bashrc',
    '.bash_profile',
    '.bash_login',
    '.bash_logout',
    '.bash_aliases',
    '.zshrc',
    '.zshenv',
    '.zprofile',
    '.zlogin',
    '.zlogout',
    '.kshrc',
    '.mkshrc',
  ],
  ...[
    '.cshrc',
    '.tcshrc',
    '.login',
    '.logout',
    '.inputrc',
    '.xinitrc',
    '.xprofile',
    '.xsession',
    '.xsessionrc',
    '.pam_environment',
    'microsoft.powershell_profile.ps1',
    'autorun.inf',
  ],
  ...[
    '.vimrc',
    '.gvimrc',
    '.exrc',
    '.nvimrc',
    '.nvim.lua',
    '.emacs',
    '.dir-locals.el',
    '.dir-locals-2.el',
    '.gdbinit',
    '.lldbinit',
    '.tmux.conf',
    '.screenrc',
  ],
  ...['.irbrc', '.pryrc', '.rprofile', '.renviron', '.pythonrc', '.pdbrc', '.curlrc', '.wgetrc', '.netrc', '_netrc'],
]

/** Folders that mean something only below another one. */
const NESTED = [
  ...[
    'git',
    'fish',
    'nvim',
    'autostart',
    'systemd',
    'environment.d',
    'zed',
    'opencode',
    'goose',
    'direnv',
    'mise',
    'powershell',
    'pip',
    'lockgate',
    'code',
    'cursor',
  ].map((name) => `.config/${name}`),
  ...['.local/bin', '.gradle/init.d', '.m2/settings.xml'],
]

const folders = new Set(FOLDERS)
const files = new Set(FILES)
const nested = new Set(NESTED)

/** Code points that HFS+ drops when it compares names. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/**
 * A name as the most forgiving file system compares it: letter case folded, ignorable code points, trailing dots and blanks
 * and an alternate stream dropped, the short name of `.git` expanded.
 */
export function foldName(name: string): string {
  const plain = name
    .replace(IGNORED, '')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
  const folded = plain.normalize('NFC').toUpperCase().toLowerCase()
  return /^git~\d+$/.test(folded) ? '.git' : folded
}

/**
 * The protected name that a path reaches, as it is listed here; undefined where it reaches none.
 *
 * @param names The names of the path in order, below the root of the workspace.
 */
export function protectedName(names: readonly string[]): string | undefined {
  const folded = names.map(foldName)
  for (const [index, name] of folded.entries()) {
    const pair = `${folded[index - 1] ?? ''}/${name}`
    if (nested.has(pair)) return pair
    if (folders.has(name) || files.has(name)) return name
    if (name.endsWith('.code-workspace')) return '.code-workspace'
  }
  return undefined
}

/** All the names that are listed here, each relative to any folder of the workspace. */
export const PROTECTED_NAMES: readonly string[] = [...FOLDERS, ...FILES, ...NESTED]
