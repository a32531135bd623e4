// Turns what an upstream lists into what the gate is offered. Everything in the list is somebody else's text: a
// definition that does not hold becomes a tool that cannot be called and says why, and its siblings stay.

import { sha256 } from '../../base/digest.ts'
import { canonicalJson, isJsonObject, type JsonObject, takeJson } from '../../base/json-value.ts'
import { utf8Bytes } from '../../base/text-cut.ts'
import { defineTool } from '../../describe/define-tool.ts'
import type { OfferedTool } from '../../describe/source.ts'
import type { RunAnswer, RunContext } from '../../describe/tool.ts'
import type { EffectRules } from './effect-rules.ts'
import { hiddenText } from './hidden-text.ts'
import { presentAnswer } from './read-result.ts'
import { listedName, nameProblem, shownName, standInName } from './tool-names.ts'

/** Tools of one server; those after it cannot be called. */
export const TOOLS_MAX = 512
/** A longer description is no description. Models are shown the first 4 KiB of it at most, and its cut is said. */
const DESCRIPTION_BYTES_MAX = 16 * 1024
/** Bounds of one definition before it is looked at closely; schemas have narrower ones of their own. */
const DEFINITION_BOUNDS = { depthMax: 64, keysMax: 20_000, bytesMax: 256 * 1024 } as const

/** A tool as the server defines it, checked as far as calling it needs. */
export type UpstreamTool = {
  readonly server: string
  /** The server's own name of it. */
  readonly name: string
  readonly inputSchema: JsonObject
  readonly hasOutputSchema: boolean
  readonly reads: boolean
  /** Of the whole definition; another digest is another tool. */
  readonly digest: string
}

export type RunUpstream = (tool: UpstreamTool, args: JsonObject, context: RunContext) => Promise<RunAnswer<unknown>>

export type OfferOptions = {
  readonly server: string
  readonly rules: EffectRules
  readonly deadlineMs: number | undefined
  readonly idleMs: number | undefined
  readonly run: RunUpstream
}

export type Offer = {
  readonly tools: readonly OfferedTool[]
  /** Digest of each callable tool's definition, by the server's own name. */
  readonly digests: ReadonlyMap<string, string>
  /** For the operator. */
  readonly warnings: readonly string[]
}

type Judged =
  | {
      readonly kind: 'good'
      readonly listed: string
      readonly name: string
      readonly tool: OfferedTool
      readonly digest: string
    }
  | { readonly kind: 'bad'; readonly listed: string; readonly name: string; readonly problem: string }

export function offerTools(listed: readonly unknown[], options: OfferOptions): Offer {
  const judged = listed.slice(0, TOOLS_MAX).map((raw, index) => judge(raw, index, options))
  const surplus = listed
    .slice(TOOLS_MAX, 2 * TOOLS_MAX)
    .map((raw, index) => surplusTool(raw, TOOLS_MAX + index, options.server))
  const settled = holdCollisions([...judged, ...surplus], options.server)
  const names = judged.map(({ name }) => name)
  return {
    tools: settled.map((one) =>
      one.kind === 'good' ? one.tool : { kind: 'problem', name: one.listed, problem: one.problem },
    ),
    digests: new Map(settled.flatMap((one) => (one.kind === 'good' ? [[one.name, one.digest] as const] : []))),
    warnings: [
      ...(listed.length > TOOLS_MAX ? [`it lists ${listed.length} tools; the first ${TOOLS_MAX} can be called`] : []),
      ...options.rules.unused(names).map((pattern) => `\`effects\` has \`${pattern}\`, which fits no tool of it`),
    ],
  }
}

function judge(raw: unknown, index: number, options: OfferOptions): Judged {
  const { server } = options
  const taken = takeJson(raw, DEFINITION_BOUNDS, { keyOrder: 'given', unsafeIntegers: 'keep' })
  const definition = taken.kind === 'ok' ? asObject(taken.value) : undefined
  const given = definition?.name
  const bad = (problem: string): Judged => {
    const listed =
      nameProblem(given) === undefined && typeof given === 'string'
        ? listedName(server, given)
        : standInName(server, given, index)
    return {
      kind: 'bad',
      listed,
      name: typeof given === 'string' ? given : '',
      problem: `${problem} (listed by \`${server}\` as ${shownName(given)})`,
    }
  }
  if (taken.kind === 'refused')
    return bad(`its definition does not hold: \`${taken.path}\`: expected ${taken.expected}, came ${taken.came}`)
  if (definition === undefined) return bad('its definition is no object')
  const problem = nameProblem(given) ?? definitionProblem(definition)
  if (problem !== undefined || typeof given !== 'string') return bad(problem ?? 'its name is no text')
  return accept(given, definition, options)
}

function definitionProblem(definition: JsonObject): string | undefined {
  const { description, title, inputSchema, outputSchema } = definition
  for (const [key, text] of Object.entries({ description, title })) {
    if (text !== undefined && typeof text !== 'string') return `its ${key} is no text`
  }
  if (typeof description === 'string' && utf8Bytes(description) > DESCRIPTION_BYTES_MAX)
    return `its description is longer than ${DESCRIPTION_BYTES_MAX} bytes`
  const input = asObject(inputSchema)
  if (input === undefined) return inputSchema === undefined ? 'it has no input schema' : 'its input schema is no object'
  if (input.type !== undefined && input.type !== 'object') return 'its input schema does not ask for an object'
  if (outputSchema !== undefined && asObject(outputSchema) === undefined) return 'its output schema is no object'
  const hidden = hiddenText(
    { description, title, inputSchema, outputSchema, annotations: definition.annotations },
    'its definition',
  )
  return hidden === undefined ? undefined : `something hides in ${hidden}`
}

function accept(
  name: string,
  definition: JsonObject,
  { server, rules, deadlineMs, idleMs, run }: OfferOptions,
): Judged {
  const listed = listedName(server, name)
  const input = asObject(definition.inputSchema) ?? {}
  const output = asObject(definition.outputSchema)
  const annotations = asObject(definition.annotations)
  const effect = rules.effectOf(name, annotations)
  const digest = sha256(canonicalJson(definition))
  const inputSchema: JsonObject = { type: 'object', ...input, properties: input.properties ?? {} }
  const upstream: UpstreamTool = Object.freeze({
    server,
    name,
    inputSchema,
    hasOutputSchema: output !== undefined,
    reads: effect === 'read',
    digest,
  })
  const title = textOf(definition.title) ?? textOf(annotations?.title)
  const tool = defineTool({
    name: listed,
    // Upstream tools have no version of their own; the fingerprint tells one definition from another.
    version: '0.0.0',
    ...(title === undefined ? {} : { title }),
    description: textOf(definition.description) ?? title ?? `\`${name}\` of ${server}, which does not describe it.`,
    input: inputSchema,
    ...(output === undefined ? { present: presentAnswer } : { output }),
    effect,
    repeat: effect === 'read' ? 'safe' : 'never',
    place: 'upstream',
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(idleMs === undefined ? {} : { idleMs }),
    run: (args: JsonObject, context) => run(upstream, args, context),
  })
  return { kind: 'good', listed, name, tool: { kind: 'tool', tool }, digest }
}

function surplusTool(raw: unknown, index: number, server: string): Judged {
  const given = typeof raw === 'object' && raw !== null && 'name' in raw ? raw.name : undefined
  return {
    kind: 'bad',
    listed: standInName(server, given, index),
    name: '',
    problem: `its server lists more than ${TOOLS_MAX} tools, and it comes after them`,
  }
}

/** Tools that cannot be told apart are all held back, under one name that names them all. */
function holdCollisions(judged: readonly Judged[], server: string): readonly Judged[] {
  return [...groupByName(judged).values()].flatMap((group): readonly Judged[] => {
    const [first] = group
    if (first === undefined || group.length === 1) return group
    const names = [...new Set(group.map(({ name }) => shownName(name)))].join(' and ')
    const problem = `${group.length} tools of \`${server}\` cannot be told apart under this name: ${names}`
    return [...new Set(group.map(({ listed }) => listed))].map((listed) => ({
      kind: 'bad',
      listed,
      name: first.name,
      problem,
    }))
  })
}

/** Names that differ only in the case of their letters are too easily taken for each other. */
const foldedName = ({ listed }: Judged): string => listed.toLowerCase()

function groupByName(judged: readonly Judged[]): Map<string, Judged[]> {
  const groups = new Map<string, Judged[]>()
  for (const one of judged) {
    const group = groups.get(foldedName(one))
    if (group === undefined) groups.set(foldedName(one), [one])
    else group.push(one)
  }
  return groups
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined

const asObject = (value: unknown): JsonObject | undefined => (isJsonObject(value) ? value : undefined)
