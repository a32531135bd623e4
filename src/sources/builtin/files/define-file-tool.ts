// The frame of every file tool: an input schema that refuses unknown fields and has `root` only where several roots exist, and
// the types of the arguments that this schema has passed.

import type { JsonObject } from '../../../base/json-value.ts'
import type { Caller } from '../../../describe/caller.ts'
import { defineTool } from '../../../describe/define-tool.ts'
import type { Effect } from '../../../describe/effect.ts'
import type { Guidance, Presentation, Refusal, Repeat, RunAnswer, RunContext, Tool } from '../../../describe/tool.ts'
import type { FilePlace } from './file-place.ts'

/** Arguments of a file tool; `root` only where there are several. */
export type Rooted<Args> = Args & { readonly root?: string }

export type FileTool<Args, Value> = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly returns: string
  readonly guidance: Guidance
  readonly effect: Effect
  readonly repeat: Repeat
  readonly walks?: boolean
  readonly properties: Readonly<Record<Exclude<keyof Args & string, 'root'>, JsonObject>>
  readonly required: readonly (keyof Args & string)[]
  /** True where the files are named by something else than a path. */
  readonly isRootless?: boolean
  readonly examples: readonly Args[]
  readonly resolve?: (args: Rooted<Args>, caller: Caller) => Rooted<Args> | Refusal | Promise<Rooted<Args> | Refusal>
  readonly touches: (args: Rooted<Args>, caller: Caller) => readonly string[] | Promise<readonly string[]>
  readonly happened?: (args: Rooted<Args>) => boolean | undefined | Promise<boolean | undefined>
  readonly run: (args: Rooted<Args>, context: RunContext) => Promise<RunAnswer<Value>>
  readonly present: (value: Value) => Presentation
}

const VERSION = '1.0.0'

export function defineFileTool<Args, Value>(place: FilePlace, tool: FileTool<Args, Value>): Tool {
  const {
    properties,
    required,
    isRootless = false,
    examples,
    resolve,
    touches,
    happened,
    run,
    present,
    ...described
  } = tool
  const root = place.roots.length > 1 && !isRootless ? { root: rootField(place.roots) } : {}
  // INVARIANT last-check: every function below is called with arguments that `input` has passed, so their type is known.
  const as = (args: unknown): Rooted<Args> => args as Rooted<Args>
  return defineTool({
    ...described,
    version: VERSION,
    input: {
      type: 'object',
      properties: { ...properties, ...root },
      required: [...required],
      additionalProperties: false,
    },
    examples: examples.map((example) => ({ ...example })),
    ...(resolve === undefined ? {} : { resolve: async (args, caller) => ({ ...(await resolve(as(args), caller)) }) }),
    ...(happened === undefined ? {} : { happened: (args) => happened(as(args)) }),
    touches: (args, caller) => touches(as(args), caller),
    run: (args, context) => run(as(args), context),
    present: (value) => present(value as Value),
  })
}

const rootField = (roots: readonly string[]): JsonObject => ({
  type: 'string',
  enum: [...roots],
  description: `Root folder that \`path\` is relative to; \`${roots[0] ?? ''}\` where it is left out.`,
})

export const PATH_FIELD: JsonObject = {
  type: 'string',
  description:
    'Path of the file, relative to the root of the workspace (or absolute inside it). Taken literally: no `~`, no URL, no escapes.',
}

export const FOLDER_FIELD: JsonObject = {
  type: 'string',
  description: 'Folder to begin in, relative to the root of the workspace; the root where it is left out.',
}

export const HASH_FIELD: JsonObject = {
  type: 'string',
  pattern: '^[0-9a-f]{64}$',
  description:
    '`hash` from read_file: the change is refused as `stale` if the file is no longer the one that was read.',
}
