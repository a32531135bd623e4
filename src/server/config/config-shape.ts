// The whole of `lockgate.yaml`: every key that this version knows, what may stand there, and what it means. The reader
// and the JSON Schema for editors are both made from what stands here. A key is added together with what enforces it.

import { readCaller } from '../../authorize/caller-identity.ts'
import type { Answer } from '../../authorize/policy-options.ts'
import type { DeclaredEffect } from '../../describe/effect.ts'
import { DECLARED_EFFECTS } from '../../describe/effect.ts'
import { ruleFile, rules } from './rule-shape.ts'
import { choice, duration, exactly, flag, listOf, namedValues, refined, refuse, size, text } from './shape.ts'
import { byForm, fields, needed, optional } from './shape-object.ts'
import { clientServer, located, path, source, sourceName } from './source-shape.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
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

const policy = fields({
  defaults: optional(answers, 'Answers by effect, for calls that no rule answers.'),
  rules: optional(rules, 'The strictest rule that fits a call answers it.'),
  files: optional(listOf(path, FILES_MAX), 'Files with further rules, each `{ rules: [...] }`.'),
})

/** `lockgate.yaml`. */
export const configuration = fields({
  version: needed(exactly(1), 'The version of this format.'),
  workspace: optional(workspace, 'The folder that file tools work in, or several by name; the first is the default.'),
  store: optional(
    located(text('`sqlite`, `memory` or a path')),
    '`sqlite` (in the state folder of the user), `memory`, or the path of a database file.',
  ),
  tools: optional(
    fields({
      files: optional(flag(), 'Tools that read, search, write, move, delete and undo files of the workspace.'),
    }),
    'Built-in tools. Default: none.',
  ),
  sources: optional(namedValues(sourceName, located(source), 64), 'Where further tools come from.'),
  mcpServers: optional(
    namedValues(sourceName, located(clientServer), 64),
    'MCP servers as an MCP client writes them; the same as `sources`.',
  ),
  callers: optional(
    fields({ default: optional(caller, 'Who a caller is that says nothing about itself.') }),
    'Who calls.',
  ),
  policy: optional(policy, 'Which calls run, which ask a person first, which are refused.'),
  approvals: optional(
    fields({
      expires: optional(
        duration({ min: 1_000, max: 30 * DAY_MS }),
        'How long a question stays open, and an answer can be used.',
      ),
    }),
    'Questions to a person.',
  ),
  limits: optional(
    fields({
      result: optional(
        size({ min: 512, max: 64 * 1_048_576 }),
        'Of what a model reads of one result; more is cut, and said. Default: 48KB.',
      ),
      deadline: optional(duration({ min: 1, max: DAY_MS }), 'From the opening of a call to its end. Default: 60s.'),
      arguments: optional(size({ min: 2, max: 1_048_576 }), 'Of the arguments of one call. Default: 1MB.'),
    }),
    'Bounds of every call.',
  ),
  server: optional(
    fields({
      listen: optional(
        located(text('`HOST:PORT`, such as `127.0.0.1:7420`')),
        'Where `serve` listens. Default: 127.0.0.1:7420.',
      ),
    }),
    'The gateway.',
  ),
})

export { ruleFile }
export type WrittenConfiguration = NonNullable<ReturnType<typeof configuration.read>>
