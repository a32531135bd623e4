// The one text that this room ever gives to `sh`: it puts the shell itself into control groups and then starts the command in
// its own place, so that nothing of the command ever runs outside of them. The text is fixed; what differs stands in arguments,
// which no shell reads as anything but words.

/** Joins each group that is named before the command; where one cannot be joined it says so on descriptor 3 and runs nothing. */
const JOIN =
  'n=$1; shift; while [ "$n" -gt 0 ]; do echo 0 > "$1" || { echo unjoined >&3; exit 125; }; shift; n=$((n-1)); done'

/** Then the command, which may use descriptor 3. */
export const JOIN_GROUPS = `${JOIN}; exec "$@"`

/** Then the command, which has no descriptor 3. */
const JOIN_GROUPS_CLOSED = `${JOIN}; exec 3>&-; exec "$@"`

/** Variables that a shell makes by itself, and that a command shall not have unless they are given. */
const SHELL_VARIABLES = ['PWD', 'OLDPWD', 'SHLVL']

/** The command has `env` and nothing that the shell adds. */
export function joinGroupsWith(env: Readonly<Record<string, string>>): string {
  const unset = SHELL_VARIABLES.filter((name) => !Object.hasOwn(env, name))
  return unset.length === 0 ? JOIN_GROUPS_CLOSED : `unset ${unset.join(' ')}; ${JOIN_GROUPS_CLOSED}`
}
