// The whole of `lockgate.yaml`: every key that this version knows, what may stand there, and what it means. The reader
// and the JSON Schema for editors are both made from what stands here. A key is added together with what enforces it.

import { readCaller } from '../../authorize/caller-identity.ts'
import { type Answer, PROFILES } from '../../authorize/policy-options.ts'
import type { DeclaredEffect } from '../../describe/effect.ts'
import { DECLARED_EFFECTS } from '../../describe/effect.ts'
import { limits } from './limits-shape.ts'
import { artifacts, audit, log, redaction } from './observe-shape.ts'
import { ruleFile, rules } from './rule-shape.ts'
import { choice, duration, exactly, flag, listOf, namedValues, refined, refuse, text } from './shape.ts'
import { byForm, fields, needed, optional } from './shape-object.ts'
import { clientServer, located, path, source, sourceName } from './source-shape.ts'
import { tools } from './tools-shape.ts'

const DAY_MS = 86_400_000
const FILES_MAX = 64

const workspace = byForm({
  text: path,
  map: namedValues(text('a name: 1 to 32 letters, digits, `_` and `-`', '[A-Za-z0-9_-]{1,32}'), path, 32),
})

const answers = fields(
  Object.fromEntries(
    DECLARED_EFFECTS.map((effect) => [
      effect,
      optional(choice(['allow', 'ask', 'deny']), `Calls whose effect is \`${effect}\`, where no rule answers.`),
    ]),
  ) as Record<DeclaredEffect, ReturnType<typeof optional<Answer>>>,
)

const task = byForm({
  text: refined(text('the name of a task'), (name) => ({ name })),
  map: fields({
    name: needed(text('the name of a task'), 'What the conversation is about.'),
    allow: optional(listOf(text('a tool name or a glob')), 'Tools that may be called. An empty list allows nothing.'),
  }),
})

const callerFields = fields({
  tenant: optional(text(), 'Default: `local`.'),
  user: optional(text(), 'Who the calls are made for.'),
  agent: optional(text(), 'Which agent makes them.'),
  roles: optional(listOf(text(), 64), 'What the caller may act as.'),
  task: optional(task, 'Narrows what may be called.'),
})

/** What the gate itself asks of a caller is asked here, where there is a line to name. */
const caller = refined(callerFields, (value, reading) => {
  const read = readCaller(value)
  return read.kind === 'ok' ? value : refuse(reading, read.reason)
})

const name = text('a name: 1 to 64 letters, digits, `_`, `-` and `.`', '[A-Za-z0-9_.-]{1,64}')
const toolNames = listOf(text('a tool name or a glob'))

const step = fields({
  effects: optional(listOf(choice(DECLARED_EFFECTS)), 'A tool has to have one of these effects.'),
  groups: optional(listOf(name), 'A tool has to be in one of these groups.'),
})

/** Where rules stand, and whose word they are. */
const rulePlace = byForm({
  text: path,
  map: fields({
    file: needed(path, 'A file with further rules.'),
    origin: optional(
      choice(['system', 'user', 'project']),
      'Whose rules these are; it is said with each answer, and makes none stronger. Default: `user`.',
    ),
  }),
})

/** A name as a client writes it into `Host`; with a port where it is not the default one. */
const hostName = text(
  'a host name, or an address, with or without a port, such as `gate.example.com:7420`',
  '(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\])(?::\\d{1,5})?',
)

const policy = fields({
  defaults: optional(answers, 'Answers by effect, for calls that no rule answers.'),
  rules: optional(rules, 'The strictest rule that fits a call answers it.'),
  files: optional(
    listOf(rulePlace, FILES_MAX),
    'Files with further rules, each `{ rules: [...] }`: a path, or `{ file, origin }`.',
  ),
})

/** `lockgate.yaml`. */
export const configuration = fields({
  version: needed(exactly(1), 'The version of this format.'),
  workspace: optional(workspace, 'The folder that file tools work in, or several by name; the first is the default.'),
  store: optional(
    located(text('`sqlite`, `memory` or a path')),
    '`sqlite` (in the state folder of the user), `memory`, or the path of a database file.',
  ),
  tools: optional(tools, 'Built-in tools. Default: none.'),
  sources: optional(namedValues(sourceName, located(source), 64), 'Where further tools come from.'),
  mcpServers: optional(
    namedValues(sourceName, located(clientServer), 64),
    'MCP servers as an MCP client writes them; the same as `sources`.',
  ),
  callers: optional(
    fields({ default: optional(caller, 'Who a caller is that says nothing about itself.') }),
    'Who calls.',
  ),
  profile: optional(
    located(choice(PROFILES)),
    'A named set of defaults; `lockgate explain profile` prints it. Default: `coding`.',
  ),
  groups: optional(
    located(refined(namedValues(name, toolNames, 256), (groups) => Object.fromEntries(groups))),
    'Names of sets of tools, for rules and steps.',
  ),
  steps: optional(
    located(refined(namedValues(name, step, 64), (steps) => Object.fromEntries(steps))),
    'Phases of a task, and what may be used in each. A step that names nothing allows nothing.',
  ),
  policy: optional(policy, 'Which calls run, which ask a person first, which are refused.'),
  approvals: optional(
    fields({
      channels: optional(
        listOf(choice(['terminal', 'console', 'elicitation'])),
        'Where `serve` lets a person answer: at its own terminal, and in the console with its API. Default: these two. `elicitation`: through the client of `serve --stdio` too; over HTTP tokens are marked for it.',
      ),
      hold: optional(
        duration({ min: 0, max: DAY_MS }),
        'How long a call of a client that cannot ask is held for its answer. Default: 45s.',
      ),
      grant: optional(
        duration({ min: 1_000, max: 30 * DAY_MS }),
        'How long an answer of wider reach holds. Default: 12h.',
      ),
      proof: optional(
        choice(['none', 'code']),
        '`code`: whoever answers has to bring a one-time code that only the gate’s own terminal shows.',
      ),
      expires: optional(
        duration({ min: 1_000, max: 30 * DAY_MS }),
        'How long a question stays open, and an answer can be used.',
      ),
    }),
    'Questions to a person.',
  ),
  limits: optional(limits, 'Bounds of every call.'),
  artifacts: optional(artifacts, 'Results that were cut are kept whole for their caller. `false`: they are not.'),
  redaction: optional(redaction, 'Which texts count as secrets by their shape. Most need nothing here.'),
  audit: optional(audit, 'How records are signed, kept and sealed.'),
  telemetry: optional(
    flag(),
    'Spans and metrics through `@opentelemetry/api`, for an SDK that is loaded before the gate. Default: false.',
  ),
  log: optional(log, 'What `serve` writes to stderr.'),
  server: optional(
    fields({
      listen: optional(
        located(text('`HOST:PORT`, such as `127.0.0.1:7420`')),
        'Where `serve` listens. Default: 127.0.0.1:7420.',
      ),
      names: optional(
        listOf(hostName, 64),
        'Names under which clients may come, besides the loopback ones and the one that it listens on.',
      ),
    }),
    'The gateway.',
  ),
})

export { ruleFile }
export type WrittenRulePlace = NonNullable<ReturnType<typeof rulePlace.read>>
export type WrittenConfiguration = NonNullable<ReturnType<typeof configuration.read>>
