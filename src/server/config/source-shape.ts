// Sources of `sources:`, and those of a pasted `mcpServers:` block in the format that MCP clients write.

import { DECLARED_EFFECTS } from '../../describe/effect.ts'
import { isInside } from '../../gate/gate-options-check.ts'
import { SANDBOX_MODES } from '../../machine/abilities.ts'
import type { Position } from './config-node.ts'
import { serverLimits } from './process-limits-shape.ts'
import { anyText, choice, duration, flag, listOf, namedValues, refined, refuse, type Shape, text } from './shape.ts'
import { chosenByKey, fields, needed, optional } from './shape-object.ts'
import { guarded } from './source-guards.ts'

/** A value that other files or folders hang on, with the place where it stands. */
export type Located<Value> = { readonly value: Value; readonly at: Position; readonly key: string }

export const located = <Value>(shape: Shape<Value>): Shape<Located<Value>> =>
  refined(shape, (value, { node, key }) => ({ value, at: node.at, key }))

const HOUR_MS = 3_600_000

export const sourceName = text(
  'a source name (1 to 32 letters, digits, `_` and `-`; not first or last `_` or `-`; without `__`; not `builtin`, `system`, `host` or `lockgate`)',
  '(?!.*__)(?!(?:builtin|system|host|lockgate)$)[A-Za-z0-9](?:[A-Za-z0-9_-]{0,30}[A-Za-z0-9])?',
)

/** A path as it is written; it counts from the folder of the configuration file. */
export const path = located(text('a path'))

const variables = namedValues(text('the name of a variable', '[A-Za-z_][A-Za-z0-9_]*'), anyText())
const headers = namedValues(text('the name of a header', "[A-Za-z0-9!#$%&'*+.^_`|~-]+"), anyText())
const address = text('an address that starts with `http://` or `https://`', 'https?://[^\\s]+')

const activation = optional(
  refined(
    fields({
      roles: optional(listOf(text('a role')), 'The caller has one of these roles.'),
      workspace: optional(
        listOf(
          refined(text('a relative path'), (value, reading) =>
            isInside(value) ? value : refuse(reading, 'expected a relative path inside the workspace, such as `.git`'),
          ),
        ),
        'A root of the workspace holds one of these.',
      ),
    }),
    (value, reading) =>
      value.roles === undefined && value.workspace === undefined
        ? refuse(reading, 'it says nothing; name `roles` or `workspace`, or leave it out')
        : value,
  ),
  'When the tools of this source are there at all. All keys must hold. Default: always.',
)

const launch = {
  command: needed(text('a program'), 'The program that speaks MCP on its standard input and output.'),
  args: optional(listOf(anyText()), 'Its arguments, passed on as they stand: no shell reads them.'),
  env: optional(variables, 'Variables of its environment, which is otherwise nearly empty.'),
  cwd: optional(path, 'The folder that it starts in. Default: the folder of the configuration file.'),
}

const connection = {
  url: needed(address, 'The address of an MCP server over Streamable HTTP.'),
  headers: optional(headers, 'Headers that go with each request.'),
}

const governed = {
  effects: optional(
    namedValues(text('a tool name or a glob'), choice(DECLARED_EFFECTS)),
    'What tools of this source may do, by their own name or a glob over it. A name beats every glob, of several globs the strictest holds; a tool that none fits is `undeclared`.',
  ),
  trust: optional(
    choice(['annotations']),
    'Take what the server says of its own tools for true, where `effects` says nothing.',
  ),
  deadline: optional(duration({ min: 1, max: 24 * HOUR_MS }), 'The longest that one call of this source may take.'),
  idle: optional(
    duration({ min: 1, max: 24 * HOUR_MS }),
    'A call is ended after so long without a word of how far it is. Default: no such bound.',
  ),
  activation,
}

/** What keeps a program that the operator named. */
const bounded = {
  sandbox: optional(
    choice(SANDBOX_MODES),
    'Whether the server, with everything that it starts, runs in a sandbox. Default: `off`.',
  ),
  readable: optional(
    listOf(path, 256),
    'In a sandbox: what it may read besides programs of the system, its own program and package, and its folder.',
  ),
  writable: optional(listOf(path, 256), 'In a sandbox: what it may change.'),
  network: optional(flag(), 'In a sandbox: whether it has the network. Default: true.'),
  limits: optional(serverLimits, 'Bounds of the server with everything that it starts.'),
}

const launched = fields({ ...launch, ...bounded, ...governed, ...guarded })
const connected = fields({ ...connection, ...governed, ...guarded })
const moduleSource = fields({
  module: needed(path, 'A JavaScript module that exports `tools`, a list of what `defineTool` answers.'),
  activation,
  ...guarded,
})

/** One entry of `sources:`. */
export const source = chosenByKey({ command: launched, url: connected, module: moduleSource })

/** One entry of `mcpServers:`. */
export const clientServer = chosenByKey({
  command: fields({ ...launch, type: optional(choice(['stdio']), 'How the server is reached.') }),
  url: fields({ ...connection, type: optional(choice(['http', 'streamable-http']), 'How the server is reached.') }),
})

export type LaunchedSource = NonNullable<ReturnType<typeof launched.read>>
export type ConnectedSource = NonNullable<ReturnType<typeof connected.read>>
export type ModuleSource = NonNullable<ReturnType<typeof moduleSource.read>>
