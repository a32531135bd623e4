// Makes the catalogue's entry of one tool: schemas judged, listing written, fingerprint taken. A tool whose schema does
// not hold becomes an entry that is held and says why; it is never callable without its check.

import { sha256 } from '../base/digest.ts'
import { canonicalJson, type JsonValue } from '../base/json-value.ts'
import type { Entry, EntryState } from '../describe/entry.ts'
import type { Layer } from '../describe/layer.ts'
import { compileCheck, type SchemaCheck } from '../describe/schema/compile-check.ts'
import type { Activation } from '../describe/source.ts'
import type { Tool } from '../describe/tool.ts'
import { hasRun } from '../describe/tool-run.ts'
import { listTool } from './listing.ts'

export type Origin = {
  readonly source: string
  readonly layer: Layer
  readonly identity: string
  readonly foreign: boolean
  readonly activation?: Activation
}

export type Built = { readonly entry: Entry; readonly warnings: readonly string[] }

export function buildEntry(tool: Tool, origin: Origin, family?: string): Built {
  if (!hasRun(tool)) return held(tool, origin, 'it is a copy, or was not made by `defineTool`')
  const input = compileCheck(tool.input, { trusted: !origin.foreign })
  if (input.kind === 'bad') return held(tool, origin, `its input schema does not hold: ${input.reason}`)
  const output =
    tool.output === undefined ? undefined : compileCheck(tool.output, { trusted: !origin.foreign, purpose: 'output' })
  if (output?.kind === 'bad') return held(tool, origin, `its output schema does not hold: ${output.reason}`)
  const bad = badExample(tool, input)
  if (bad !== undefined) return held(tool, origin, bad)
  const { listing, cut } = listTool(tool, input.jsonSchema, output?.jsonSchema)
  const fingerprint = fingerprintOf(tool, origin, input.jsonSchema, output?.jsonSchema ?? null)
  const entry = freeze({ tool, origin, family, state: { kind: 'active' }, fingerprint, listing, input, output })
  return { entry, warnings: cut === undefined ? [] : [cut] }
}

/** An entry that nobody can call; a tool that is only known by name has a stand-in contract. */
export function held(tool: Tool, origin: Origin, reason: string): Built {
  const fingerprint = sha256(canonicalJson(['held', tool.name, tool.version, origin.source, origin.identity]))
  const entry = freeze({
    tool,
    origin,
    family: undefined,
    state: { kind: 'held', reason },
    fingerprint,
    listing: undefined,
    input: undefined,
    output: undefined,
  })
  return { entry, warnings: [`\`${tool.name}\` of ${origin.source} cannot be called: ${reason}`] }
}

function badExample(tool: Tool, input: SchemaCheck): string | undefined {
  for (const [index, example] of (tool.examples ?? []).entries()) {
    const checked = input.check(example as JsonValue)
    if ('then' in checked) return `example ${index + 1} cannot be checked: the schema checks asynchronously`
    if (checked.kind === 'invalid') return `example ${index + 1} does not fit its own schema: ${checked.message}`
  }
  return undefined
}

function fingerprintOf(tool: Tool, origin: Origin, input: JsonValue, output: JsonValue): string {
  const { name, version, description, returns = null, title = null, effect, repeat = null, walks = null } = tool
  const guidance = tool.guidance === undefined ? null : (JSON.parse(JSON.stringify(tool.guidance)) as JsonValue)
  const declared = typeof effect === 'string' ? effect : { most: effect.most, of: 'arguments' }
  const { source, identity } = origin
  const { place, sandbox } = tool
  return sha256(
    canonicalJson({
      // An approval of a command that runs in a sandbox is none of one that does not.
      ...(place === 'child' ? { place, sandbox: sandbox ?? 'preferred' } : {}),
      ...(place === 'worker' ? { place } : {}),
      name,
      version,
      title,
      description,
      returns,
      guidance,
      input,
      output,
      effect: declared,
      repeat,
      walks,
      source,
      identity,
    }),
  )
}

type Parts = {
  readonly tool: Tool
  readonly origin: Origin
  readonly family: string | undefined
  readonly state: EntryState
  readonly fingerprint: string
  readonly listing: Entry['listing']
  readonly input: SchemaCheck | undefined
  readonly output: SchemaCheck | undefined
}

const freeze = ({ tool, origin, family, state, fingerprint, listing, input, output }: Parts): Entry =>
  Object.freeze({
    tool,
    source: origin.source,
    ...(family === undefined ? {} : { family }),
    layer: origin.layer,
    ...(origin.activation === undefined ? {} : { activation: origin.activation }),
    state,
    fingerprint,
    listing,
    checkInput: input,
    checkOutput: output,
  })
