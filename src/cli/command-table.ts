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

const CALLER = {
  tenant: { kind: 'text', value: 'NAME', means: 'the tenant of the caller' },
  user: { kind: 'text', value: 'NAME', means: 'the user of the caller' },
  agent: { kind: 'text', value: 'NAME', means: 'the agent of the caller' },
  role: { kind: 'texts', value: 'NAME', means: 'a role of the caller; may be given several times' },
  task: { kind: 'text', value: 'NAME', means: 'the task of the caller' },
  step: { kind: 'text', value: 'NAME', means: 'the step of the task: one of the configuration’s `steps`' },
  session: { kind: 'text', value: 'NAME', means: 'the conversation; else a new one for each command' },
  caller: { kind: 'text', value: 'JSON', means: 'the whole caller as one JSON object' },
} as const satisfies Options

const SINCE: OptionSpec = {
  kind: 'text',
  value: 'AGO',
  means: 'how far back, such as `7d`, or since a date; all that is kept where it is not given',
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
      stdio: {
        kind: 'flag',
        means:
          'speak MCP on stdin and stdout; everything else goes to stderr. `elicitation` in `approvals.channels` lets a person answer through the client',
      },
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
      key: {
        kind: 'text',
        value: 'KEY',
        means: 'an idempotency key: the same call made again under it gets the recorded outcome, and nothing is run',
      },
      approval: { kind: 'text', value: 'ID', means: 'the approval to use; an equal one is found without it' },
      ...YES,
      ...CALLER,
    },
    examples: [
      `lockgate call read_file '{"path":"README.md"}'`,
      'lockgate call write_file - --yes < arguments.json',
      `lockgate call create_invoice '{"customer":7}' --key invoice-7`,
    ],
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
    name: 'policy',
    summary: 'the rules: check them, test them, ask them why, and what others would change',
    usage: 'check | test [FILE] | explain NAME [JSON|-] | matrix | simulate | suggest',
    positionalsMax: 3,
    actions: {
      check: 'load everything; what each rule speaks of now; 1 where a tool is held because a rule does not fit it',
      'test [FILE]': 'a table of calls and the answers that they should get; 1 where one gets another',
      'explain NAME [JSON|-]': 'why one call gets its answer; also `explain CALL`, the whole call as one JSON object',
      matrix: 'callers against tools',
      simulate: 'recorded calls under other rules: every decision that would differ',
      suggest: 'the narrowest rules that answered questions would justify; applies none',
    },
    options: {
      since: SINCE,
      policy: {
        kind: 'text',
        value: 'FILE',
        means:
          '`simulate`: another lockgate.yaml, or a file of rules to add; else what was recorded against the rules in force',
      },
      tool: { kind: 'texts', value: 'GLOB', means: '`matrix`: which tools; may be given several times' },
      ...CALLER,
      caller: {
        kind: 'texts',
        value: 'JSON',
        means: 'the whole caller as one JSON object; `matrix` takes several',
      },
    },
    examples: [
      'lockgate policy check',
      'lockgate policy test policy-cases.yaml',
      `lockgate policy explain write_file '{"path":"docs/a.md","content":"x"}' --role dev`,
      `lockgate policy matrix --caller '{"agent":"cursor"}' --caller '{"agent":"ci"}' --tool 'mcp__*'`,
      'lockgate policy simulate --since 7d --policy changed.yaml',
      'lockgate policy suggest --since 7d',
    ],
    load: async () => (await import('./policy-command.ts')).policyCommand,
  }),
  command({
    name: 'approvals',
    summary: 'questions to a person: list them, show one, answer one',
    usage: 'list | show ID | approve ID | decline ID',
    positionalsMax: 2,
    options: {
      all: { kind: 'flag', means: 'list those that were answered, used or expired as well' },
      comment: { kind: 'text', value: 'TEXT', means: 'a word with the answer; it is recorded' },
      scope: {
        kind: 'text',
        value: 'REACH',
        means: 'how far `approve` reaches: once, session or pattern, as `show` offers',
      },
      code: { kind: 'text', value: 'CODE', means: 'the one-time code that the gate has shown, where it asks for one' },
    },
    examples: [
      'lockgate approvals list',
      'lockgate approvals approve apr_… --comment "only this once"',
      'lockgate approvals approve apr_… --scope session',
    ],
    load: async () => (await import('./approvals-command.ts')).approvalsCommand,
  }),
  command({
    name: 'grants',
    summary: 'answers that reach further than one call: list them, end one',
    usage: 'list | revoke ID',
    positionalsMax: 2,
    options: { all: { kind: 'flag', means: 'list those that were revoked or have expired as well' } },
    examples: ['lockgate grants list', 'lockgate grants revoke grt_…'],
    load: async () => (await import('./grants-command.ts')).grantsCommand,
  }),
  command({
    name: 'journal',
    summary: 'idempotency keys: list them, settle a call whose end nobody knows',
    usage: 'list | settle CALL --as none|done',
    positionalsMax: 2,
    actions: {
      list: 'the keys, newest first, with the state of their calls',
      'settle CALL': 'say what a call did whose state is unknown: `none` frees its key, `done` keeps it',
    },
    options: {
      state: { kind: 'text', value: 'STATE', means: '`list`: only running, done or unknown ones' },
      as: { kind: 'text', value: 'EFFECT', means: '`settle`: none or done' },
    },
    examples: ['lockgate journal list --state unknown', 'lockgate journal settle call_… --as none'],
    load: async () => (await import('./journal-command.ts')).journalCommand,
  }),
  command({
    name: 'stop',
    summary: 'the kill switch: stop a tool, a source, a session or everything, running calls too',
    usage: '',
    options: {
      all: { kind: 'flag', means: 'stop everything' },
      tool: { kind: 'text', value: 'NAME', means: 'stop this tool' },
      source: { kind: 'text', value: 'NAME', means: 'stop the tools of this source' },
      session: { kind: 'text', value: 'NAME', means: 'stop this conversation, and whoever works for it' },
      reason: { kind: 'text', value: 'TEXT', means: 'why; for the operator, and recorded' },
      list: { kind: 'flag', means: 'what is stopped now' },
      lift: { kind: 'text', value: 'ID', means: 'let it go on' },
    },
    examples: [
      'lockgate stop --tool delete_file',
      'lockgate stop --all --reason "it deletes things"',
      'lockgate stop --lift stop_…',
    ],
    load: async () => (await import('./stop-command.ts')).stopCommand,
  }),
  command({
    name: 'tokens',
    summary: 'credentials of callers: make one, list them, make one anew, end one',
    usage: 'create | list | rotate ID | revoke ID',
    positionalsMax: 2,
    options: {
      name: { kind: 'text', value: 'NAME', means: 'how lists and records call it' },
      scope: {
        kind: 'text',
        value: 'SCOPES',
        means: 'what it may do: call, approve, audit, admin; several after commas',
      },
      expires: { kind: 'text', value: 'AFTER', means: 'when it ends, such as `30d`; never where it is not given' },
      elicitation: { kind: 'flag', means: 'whoever holds it may answer questions through its own client' },
      tenant: CALLER.tenant,
      user: CALLER.user,
      agent: CALLER.agent,
      role: CALLER.role,
      task: { kind: 'text', value: 'NAME[:GLOBS]', means: 'the task, and after a colon the tools that it leaves' },
      step: CALLER.step,
      layer: { kind: 'texts', value: 'NAME', means: 'a layer of tools that is in force; may be given several times' },
    },
    examples: ['lockgate tokens create --name cursor --scope call --role dev --expires 30d', 'lockgate tokens list'],
    load: async () => (await import('./tokens-command.ts')).tokensCommand,
  }),
  command({
    name: 'audit',
    summary: 'the records: read them, export them, prove that nothing was changed, erase a person',
    usage: 'tail | query | export | verify | checkpoint | key | erase --user NAME',
    positionalsMax: 1,
    actions: {
      tail: 'the newest records in words; with --follow those that come as well',
      query: 'records that fit all filters, oldest first, a page at a time',
      export: 'all records that fit, one JSON value for each line',
      verify: 'whether the records are as they were written; 1, and the first row that is not, where they are not',
      checkpoint: 'sign the end of every chain now, and print the note to keep elsewhere',
      key: 'the public half of the key that signs, to verify with elsewhere',
      'erase --user NAME': 'make everything about a person unreadable, for good; the records still verify',
    },
    options: {
      number: {
        kind: 'text',
        short: 'n',
        value: 'N',
        means: 'how many records: `tail` 20, `query` 100 where it is not given',
      },
      follow: { kind: 'flag', short: 'f', means: '`tail`, `export`: go on with records as they are written' },
      all: { kind: 'flag', means: '`tail`: checkpoints as well' },
      kind: { kind: 'text', value: 'KIND', means: 'only intent, end, approval, grant, stop, checkpoint, …' },
      tool: { kind: 'text', value: 'NAME', means: 'only calls of this tool' },
      source: { kind: 'text', value: 'NAME', means: 'only calls of tools of this source' },
      tenant: { kind: 'text', value: 'NAME', means: 'only of this tenant; `erase`: of the person to erase' },
      user: { kind: 'text', value: 'NAME', means: 'only of this user; `erase`: whom' },
      agent: { kind: 'text', value: 'NAME', means: 'only of this agent' },
      session: { kind: 'text', value: 'NAME', means: 'only of this conversation' },
      call: { kind: 'text', value: 'ID', means: 'only of this call' },
      chain: { kind: 'text', value: 'NAME', means: 'only of this chain: what one process has written' },
      ok: { kind: 'flag', means: 'only calls that were done' },
      failed: { kind: 'flag', means: 'only calls that were refused or failed' },
      error: { kind: 'text', value: 'TYPE', means: 'only calls that ended in this error type' },
      decision: { kind: 'text', value: 'ANSWER', means: 'only what the policy answered so: allow, ask or deny' },
      since: SINCE,
      until: { kind: 'text', value: 'AGO', means: 'only before, such as `1h` ago or a date' },
      newest: { kind: 'flag', means: '`query`: newest first' },
      after: { kind: 'text', value: 'CURSOR', means: '`query`, `export`: go on where the page before ended' },
      format: { kind: 'text', value: 'FORMAT', means: '`export`: jsonl, or otel for OpenTelemetry logs in JSON' },
      stored: { kind: 'flag', means: '`export`: bodies as they are stored and signed, sealed parts unopened' },
      against: {
        kind: 'texts',
        value: 'FILE',
        means: '`verify`: checkpoints that were kept elsewhere; may be given several times',
      },
      key: {
        kind: 'text',
        value: 'FILE',
        means: '`verify`: the public key whose signatures count; else the one of the configuration, where it is here',
      },
    },
    examples: [
      'lockgate audit tail -f --tool run_command',
      'lockgate audit query --since 7d --user ana --failed --json',
      'lockgate audit export --since 1d --format otel > records.jsonl',
      'lockgate audit verify --against /mnt/elsewhere/checkpoints',
      'lockgate audit erase --user ana',
    ],
    load: async () => (await import('./audit-command.ts')).auditCommand,
  }),
  command({
    name: 'replay',
    summary: 'a recorded conversation, call by call, beside what the rules would answer today; runs nothing',
    usage: 'SESSION',
    positionalsMax: 1,
    options: {
      tenant: { kind: 'text', value: 'NAME', means: 'only calls of this tenant' },
      user: { kind: 'text', value: 'NAME', means: 'only calls of this user' },
      number: {
        kind: 'text',
        short: 'n',
        value: 'N',
        means: 'how many calls, oldest first; 1000 where it is not given',
      },
      differing: { kind: 'flag', means: 'print only calls that would get another answer' },
    },
    examples: ['lockgate replay nightly-triage', 'lockgate replay nightly-triage --user ana --json'],
    load: async () => (await import('./replay-command.ts')).replayCommand,
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
    summary:
      'why a tool is or is not there, what a caller sees, what stands before a tool, what profiles and effects mean',
    usage: 'tool NAME | view | guards [TOOL] | profile [NAME] | effects',
    positionalsMax: 2,
    actions: {
      'tool NAME': 'one tool, where it comes from, and whether this caller can call it',
      view: 'every tool, and why this caller sees it or not',
      'guards [TOOL]': 'what stands between an allowed call and its tool, outermost first, and what each guard bounds',
      'profile [NAME]': 'what answers where no rule holds, as plain rules; coding, platform or strict',
      effects: 'what each kind of call may do, and what this version does about it',
    },
    options: CALLER,
    examples: [
      'lockgate explain tool write_file --agent cursor',
      'lockgate explain view --role dev --step analyse',
      'lockgate explain guards write_file',
      'lockgate explain profile strict',
      'lockgate explain effects',
    ],
    load: async () => (await import('./explain-command.ts')).explainCommand,
  }),
]
