// What an author may give as the schema of a tool's input or output, and the types that follow from it. The interface is
// Standard Schema v1 with its JSON Schema companion (standardschema.dev), declared here so that no library's types leak
// into the public ones; zod, valibot and arktype fit it by shape.

import type { JsonObject } from '../../base/json-value.ts'

export type StandardIssue = {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/** Writes a schema's JSON Schema, e.g. for the target `draft-2020-12`. May throw where the schema has none. */
export type JsonSchemaWriter = (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>

export type StandardToolSchema<Input = unknown, Output = Input> = {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    /** A schema without it cannot be shown to a model; see the library's own converter. */
    readonly jsonSchema?: { readonly input: JsonSchemaWriter; readonly output: JsonSchemaWriter }
  }
}

/** A Standard Schema with a JSON Schema face, or plain JSON Schema (2020-12 unless `$schema` says otherwise). */
export type ToolSchema = StandardToolSchema | JsonObject

/** What a schema gives once it has checked a value. A plain JSON Schema says nothing to the compiler: `JsonObject`. */
export type InferSchema<Schema extends ToolSchema> = Schema extends StandardToolSchema
  ? NonNullable<Schema['~standard']['types']>['output']
  : JsonObject

/** What a schema takes, before defaults and transformations. */
export type InferInput<Schema extends ToolSchema> = Schema extends StandardToolSchema
  ? NonNullable<Schema['~standard']['types']>['input']
  : JsonObject
