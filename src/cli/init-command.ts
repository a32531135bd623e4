// `lockgate init`: a configuration for this folder, written once and trusted as it was written. It replaces nothing.

import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { RunCommand } from './command.ts'
import { CONFIG_NAME, stateRoot } from './locations.ts'
import { makeStateFolder, readConfiguration } from './project.ts'
import { recordTrust } from './trust-store.ts'

const TEMPLATE = `# What agents may do in this folder, and how. Every key, with what may stand there: schema/lockgate.schema.json
version: 1

# The folder that file tools work in. Nothing outside of it is ever reached, and neither is this file.
workspace: .

# A named set of defaults, printed by \`lockgate explain profile\`: coding, platform or strict.
profile: coding

# Built-in tools. \`files\`: read, list, find and search; write, edit, move, delete and undo. \`shell\`: programs that only read
# (git status and log, ls, grep, …), without a shell, each flag and operand checked; \`lockgate doctor\` says whether this
# machine can put them into a sandbox. \`commands\`: commands of your own, each a tool with a narrow input.
tools:
  files: true
#  shell: { programs: inspect, sandbox: preferred }
#  commands:
#    run_tests: { program: npm, args: [test, --, '{target}'], inputs: { target: { path: true } }, effect: execute, deadline: 5m }

# Where further tools come from. Each is shown as mcp__NAME__TOOL. What a tool of a source may do is said here: a tool of
# which nothing is said is asked about each time.
sources: {}
#  github:
#    command: npx
#    args: ['-y', '@modelcontextprotocol/server-github']
#    env: { GITHUB_TOKEN: '\${env:GITHUB_TOKEN}' }
#    effects: { 'get_*': read, 'list_*': read, create_issue: external }

policy:
  # What happens to a call that no rule answers. These are the values that hold without this block as well.
  defaults: { read: allow, write: ask, execute: ask, external: ask, destructive: deny, undeclared: ask }
  # The strictest rule that fits a call answers it: a deny cannot be undone by another rule.
  rules:
    - deny: { resource: ['read file:**/.env*', 'read file:**/*.pem', 'read file:**/*.key'] }
      because: keys stay out of the context
#    - allow: write_file
#      where: { path: docs/** }
#    - allow: { tool: run_command, reads: true }

# How long a question to a person stays open, how long a client's call is held for the answer, and how long an answer for a
# whole session holds: \`lockgate approvals list\`, \`lockgate grants list\`
approvals: { expires: 1h, hold: 45s, grant: 12h }

limits: { result: 48KB, turn: 120KB, deadline: 60s, parallel: 8 }

# Secrets are taken out of results, records are signed, and what is personal in them is sealed, without a word here. A copy
# of each signed checkpoint belongs where nobody can write who can write the database: \`lockgate audit verify --against FILE\`
#audit: { checkpointTo: [stderr, /var/log/lockgate/checkpoints], keep: 400d }

server: { listen: '127.0.0.1:7420' }
`

export const initCommand: RunCommand = async ({ io, line, terminal }) => {
  const named = line.text('config')
  const file = named === undefined ? join(io.cwd, CONFIG_NAME) : resolve(io.cwd, named)
  const root = stateRoot(io.cwd, io.variables)
  const problem = makeStateFolder(root)
  if (problem !== undefined) return terminal.fail('configuration', problem)
  try {
    writeFileSync(file, TEMPLATE, { flag: 'wx' })
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    return terminal.fail(
      'usage',
      exists
        ? `${file} is there already, and nothing was changed`
        : `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  const read = await readConfiguration({ io }, file, [])
  if (read.kind === 'bad') return terminal.failConfiguration(read.problems)
  recordTrust(root, read.config.files)
  terminal.line(['green', 'wrote '], file, ' and trusted it')
  terminal.line('next: ', ['cyan', 'lockgate tools'], ', then ', ['cyan', 'lockgate serve'])
  terminal.value({ written: read.config.file, trusted: true })
  return 0
}
