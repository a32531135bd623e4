// What the parts of a compiled schema are given: the judged schema, and the way to compile a subschema.

import type { JsonValue } from '../../base/json-value.ts'
import type { Check } from './check-run.ts'
import type { LintedSchema } from './lint-schema.ts'

export type Compiler = { readonly linted: LintedSchema; compile(schema: JsonValue): Check }
