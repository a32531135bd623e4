// The variables that a configuration can name: those of the process, and those of a file that the operator named. A file
// never replaces what the process already has, so that a checkout cannot override the operator's shell.

import { parseEnv } from 'node:util'
import type { Environment } from './expand.ts'

/** `files` are the texts of `.env` files; of two that set the same variable the later one holds. */
export function environmentOf(
  variables: Readonly<Record<string, string | undefined>>,
  files: readonly string[] = [],
): Environment {
  const fromFiles = new Map<string, string>()
  for (const text of files) {
    for (const [name, value] of Object.entries(parseEnv(text))) if (value !== undefined) fromFiles.set(name, value)
  }
  return (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined) ?? fromFiles.get(name)
}
