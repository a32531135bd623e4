// Which JSON Schema dialects Lockgate reads, and what each keyword's value may be. The four dialects share one table: a
// keyword of a newer one is never a comment in an older one, since leaving out a constraint that was written opens a
// door. It reads no schema.

export type Dialect = 'draft-06' | 'draft-07' | 'draft-2019-09' | 'draft-2020-12'

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['json-schema.org/draft-06/schema', 'draft-06'],
  ['json-schema.org/draft-07/schema', 'draft-07'],
  ['json-schema.org/draft/2019-09/schema', 'draft-2019-09'],
  ['json-schema.org/draft/2020-12/schema', 'draft-2020-12'],
])

export const DIALECT_NAMES = 'draft-06, draft-07, 2019-09 and 2020-12'

/** The dialect that a `$schema` names, or undefined where Lockgate does not read it. */
export const dialectOf = (uri: string): Dialect | undefined =>
  DIALECTS.get(uri.replace(/^https?:\/\//, '').replace(/#$/, ''))

/** True in dialects where `items` may be a list and `$id` may be an anchor. */
export const isBefore2020 = (dialect: Dialect): boolean => dialect !== 'draft-2020-12'

/**
 * True in dialects where a `$ref` sets its neighbours aside. Here that holds for `$id` only: a constraint beside a `$ref`
 * was written to be kept, and keeping it can only refuse more.
 */
export const isBefore2019 = (dialect: Dialect): boolean => dialect === 'draft-06' || dialect === 'draft-07'

/** What the value of a keyword must be. The first six hold subschemas. */
export type KeywordShape =
  | 'schema'
  | 'schema-list'
  | 'schema-map'
  | 'pattern-map'
  | 'items'
  | 'dependencies'
  | 'reference'
  | 'identifier'
  | 'anchor'
  | 'dialect'
  | 'types'
  | 'enum'
  | 'pattern'
  | 'names'
  | 'name-lists'
  | 'count'
  | 'number'
  | 'positive-number'
  | 'boolean'
  | 'text'
  | 'list'
  | 'object'
  | 'anything'

const shaped = (shape: KeywordShape, names: string): readonly (readonly [string, KeywordShape])[] =>
  names.split(' ').map((name) => [name, shape])

export const KEYWORDS: ReadonlyMap<string, KeywordShape> = new Map([
  ...shaped('schema', 'not if then else contains propertyNames additionalProperties additionalItems'),
  ...shaped('schema', 'unevaluatedProperties unevaluatedItems contentSchema'),
  ...shaped('schema-list', 'allOf anyOf oneOf prefixItems'),
  ...shaped('schema-map', '$defs definitions properties dependentSchemas'),
  ...shaped('pattern-map', 'patternProperties'),
  ...shaped('items', 'items'),
  ...shaped('dependencies', 'dependencies'),
  ...shaped('reference', '$ref $dynamicRef $recursiveRef'),
  ...shaped('identifier', '$id'),
  ...shaped('anchor', '$anchor $dynamicAnchor'),
  ...shaped('dialect', '$schema'),
  ...shaped('types', 'type'),
  ...shaped('enum', 'enum'),
  ...shaped('pattern', 'pattern'),
  ...shaped('names', 'required'),
  ...shaped('name-lists', 'dependentRequired'),
  ...shaped('count', 'maxLength minLength maxItems minItems maxProperties minProperties maxContains minContains'),
  ...shaped('number', 'maximum minimum exclusiveMaximum exclusiveMinimum'),
  ...shaped('positive-number', 'multipleOf'),
  ...shaped('boolean', 'uniqueItems deprecated readOnly writeOnly $recursiveAnchor'),
  ...shaped('text', 'title description $comment format contentEncoding contentMediaType'),
  ...shaped('list', 'examples'),
  ...shaped('object', '$vocabulary'),
  ...shaped('anything', 'const default'),
])

/** Keywords whose subschemas judge the same value as the schema that holds them, so that a cycle through them never ends. */
export const IN_PLACE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
])

export const TYPES: ReadonlySet<string> = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'])
