// A tool as the catalogue holds it: the contract, where it came from, and whether it can be called now.

import type { JsonObject, JsonValue } from '../base/json-value.ts'
import type { Layer } from './layer.ts'
import type { SchemaCheck } from './schema/compile-check.ts'
import type { Activation } from './source.ts'
import type { Tool } from './tool.ts'

/** `held`: known, listed to the operator, not callable; `reason` says why. */
export type EntryState =
  | { readonly kind: 'active' }
  | { readonly kind: 'held'; readonly reason: string }
  | { readonly kind: 'retired' }

export type Entry = {
  readonly tool: Tool
  readonly source: string
  /** Of its source. */
  readonly family?: string
  readonly layer: Layer
  /** Of its source. */
  readonly activation?: Activation
  readonly state: EntryState
  /** SHA-256 (hex) of the canonical definition: name, version, description, schemas, effect, source identity. */
  readonly fingerprint: string
  /** What a model is shown; undefined where the schema does not hold. */
  readonly listing: ToolListing | undefined
  readonly checkInput: SchemaCheck | undefined
  readonly checkOutput: SchemaCheck | undefined
}

/** A definition for a model. */
export type ToolListing = {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  readonly annotations: ToolAnnotations
  readonly meta?: Readonly<Record<string, JsonValue>>
}

/** MCP's hints (2025-11-25 and later), stating our effect and nothing that an upstream claims. */
export type ToolAnnotations = {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}
