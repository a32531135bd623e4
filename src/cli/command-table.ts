// The commands, in the order of the help. Nothing of a command is loaded before it is asked for.

import type { CommandSpec, OptionSpec } from './command.ts'

type Options = Readonly<Record<string, OptionSpec>>

/** Options that every command takes. */
export const COMMON_OPTIONS: Options = {
  config: {
    kind: 'text',
    value: 'FILE',
    means: 'the configuration; else LOCKGATE_CONFIG, ./lockgate.yaml, the user’s own',
  },
  'env-file': {
    kind: 'texts',
    value: 'FILE',
    means: 'variables for `${NAME}` in the configuration; those of the process come first',
  },
  json: { kind: 'flag', means: 'print one JSON value on stdout and nothing else' },
  help: { kind: 'flag', short: 'h', means: 'what a command does, with an example' },
  version: { kind: 'flag', short: 'V', means: 'the version of Lockgate' },
}

const CALLER: Options = {
  tenant: { kind: 'text', value: 'NAME', means: 'the tenant of the caller' },
  user: { kind: 'text', value: 'NAME', means: 'the user of the caller' },
  agent: { kind: 'text', value: 'NAME', means: 'the agent of the caller' },
  role: { kind: 'texts', value: 'NAME', means: 'a role of the caller; may be given several times' },
  task: { kind: 'text', value: 'NAME', means: 'the task of the caller' },
  session: { kind: 'text', value: 'NAME', means: 'the conversation; else a new one for each command' },
  caller: { kind: 'text', value: 'JSON', means: 'the whole caller as one JSON object' },
}

const YES: Options = {
  yes: { kind: 'flag', short: 'y', means: 'answer a question with yes, as the person at the terminal' },
}

const command = (spec: Omit<CommandSpec, 'options' | 'positionalsMax'> & Partial<CommandSpec>): CommandSpec => ({
  options: {},
  positionalsMax: 0,
  ...spec,
})

export const COMMANDS: readonly CommandSpec[] = [
  command({
    name: 'init',
    summary: 'write a commented lockgate.yaml for this folder, and trust it',
    usage: '',
    examples: ['lockgate init'],
    load: async () => (await import('./init-command.ts')).initCommand,
  }),
  command({
    name: 'serve',
    summary: 'run the gateway over HTTP, or MCP on stdin and stdout',
    usage: '',
    options: {
      stdio: { kind: 'flag', means: 'speak MCP on stdin and stdout; everything else goes to stderr' },
      listen: { kind: 'text', value: 'HOST:PORT', means: 'where to listen, in place of `server.listen`' },
    },
    examples: ['lockgate serve', 'lockgate --config team.yaml serve --stdio'],
    load: async () => (await import('./serve-command.ts')).serveCommand,
  }),
  command({
    name: 'tools',
    summary: 'what a caller can call; with --all everything the gate knows, and why something cannot be called',
    usage: '',
    options: { all: { kind: 'flag', means: 'the whole catalogue, with layer, source and state' }, ...CALLER },
    examples: ['lockgate tools', 'lockgate tools --all', 'lockgate tools --agent cursor --json'],
    load: async () => (await import('./tools-command.ts')).toolsCommand,
  }),
  command({
    name: 'call',
    summary: 'make one call, through the whole pipeline, and print its outcome',
    usage: 'NAME [JSON|-]',
    positionalsMax: 2,
    options: {
      approval: { kind: 'text', value: 'ID', means: 'the approval to use; an equal one is found without it' },
      ...YES,
      ...CALLER,
    },
    examples: [`lockgate call read_file '{"path":"README.md"}'`, 'lockgate call write_file - --yes < arguments.json'],
    load: async () => (await import('./call-command.ts')).callCommand,
  }),
  command({
    name: 'turn',
    summary: 'make the calls of one model turn, and print their outcomes in order',
    usage: 'FILE|-',
    positionalsMax: 1,
    options: { ...YES, ...CALLER },
    examples: ['lockgate turn turn.json --json', `echo '[{"name":"list_dir","arguments":{}}]' | lockgate turn -`],
    load: async () => (await import('./turn-command.ts')).turnCommand,
  }),
  command({
    name: 'approvals',
    summary: 'questions to a person: list them, show one, answer one',
    usage: 'list | show ID | approve ID | decline ID',
    positionalsMax: 2,
    options: {
      all: { kind: 'flag', means: 'list those that were answered, used or expired as well' },
      comment: { kind: 'text', value: 'TEXT', means: 'a word with the answer; it is recorded' },
    },
    examples: ['lockgate approvals list', 'lockgate approvals approve apr_… --comment "only this once"'],
    load: async () => (await import('./approvals-command.ts')).approvalsCommand,
  }),
  command({
    name: 'audit',
    summary: 'the records: the newest of them, or whether their chains hold',
    usage: 'tail | verify',
    positionalsMax: 1,
    options: {
      number: {
        kind: 'text',
        short: 'n',
        value: 'N',
        means: 'how many records `tail` shows; 20 where it is not given',
      },
    },
    examples: ['lockgate audit tail -n 50', 'lockgate audit verify'],
    load: async () => (await import('./audit-command.ts')).auditCommand,
  }),
  command({
    name: 'trust',
    summary: 'record this configuration and all files that it refers to as looked at, so that it may run',
    usage: '',
    examples: ['lockgate trust'],
    load: async () => (await import('./trust-command.ts')).trustCommand,
  }),
  command({
    name: 'doctor',
    summary: 'what works on this machine, and how to mend what does not',
    usage: '',
    examples: ['lockgate doctor'],
    load: async () => (await import('./doctor-command.ts')).doctorCommand,
  }),
  command({
    name: 'explain',
    summary: 'why a tool is or is not there for a caller',
    usage: 'tool NAME',
    positionalsMax: 2,
    options: CALLER,
    examples: ['lockgate explain tool write_file', 'lockgate explain tool write_file --agent cursor'],
    load: async () => (await import('./explain-command.ts')).explainCommand,
  }),
]
