// The expression language of `when`: CEL, loaded when the first rule uses it. What a rule may use of it is listed here;
// everything else, and whatever could cost more than the size of the arguments, is refused when the rule is loaded.

import { createRequire } from 'node:module'

type Cel = typeof import('@marcbachmann/cel-js')
export type CelNode = import('@marcbachmann/cel-js').ASTNode
export type CelEnvironment = import('@marcbachmann/cel-js').Environment
export type CelExpression = import('@marcbachmann/cel-js').ParseResult

/** Characters of one expression. */
export const CEL_TEXT_MAX = 2_000
const LIMITS = { maxAstNodes: 300, maxDepth: 24, maxListElements: 200, maxMapEntries: 32, maxCallArguments: 4 }

const load = createRequire(import.meta.url)
let cel: Cel | undefined
let general: CelEnvironment | undefined
let anyArguments: CelEnvironment | undefined

/** What each comprehension takes: the name of its variable, and expressions. */
export const CEL_LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter', 'map'])

export const CEL_FUNCTIONS: ReadonlySet<string> = new Set([
  ...['has', 'size', 'int', 'double', 'string', 'bool', 'type', 'dyn', 'timestamp'],
])

export const CEL_METHODS: ReadonlySet<string> = new Set([
  ...['size', 'startsWith', 'endsWith', 'contains', 'matches', 'lowerAscii', 'upperAscii', 'trim'],
  ...['indexOf', 'lastIndexOf', 'substring', 'split', 'join'],
])

/** Names of types, for `type(args.x) == int`. */
export const CEL_TYPES: ReadonlySet<string> = new Set(['int', 'double', 'string', 'bool', 'list', 'map', 'null_type'])

/** Stands in for `matches`, whose own regular expressions may take forever; as long, so that places in the text stay. */
export const LINEAR_MATCHES = 'matchRe'

/** Expressions of any tool: arguments have no known type. */
export function celEnvironment(): CelEnvironment {
  general ??= base()
    .registerVariable('args', 'map<string, dyn>')
    .registerVariable('caller', 'map<string, dyn>')
    .registerVariable('tool', 'map<string, dyn>')
    .registerVariable('resources', 'list<string>')
  return general
}

/** The type of each argument, as CEL names it. Only for checking. */
export type CelSchema = { readonly [name: string]: string | CelSchema }

const CALLER: CelSchema = {
  ...{ tenant: 'string', user: 'string', agent: 'string', roles: 'list<string>', session: 'string', step: 'string' },
  task: { name: 'string' },
}
const TOOL: CelSchema = { name: 'string', source: 'string', effect: 'string', version: 'string' }

/** Expressions over arguments of known types; without a schema, over any. Only for checking. */
export function celChecking(args: CelSchema | undefined): CelEnvironment {
  if (args !== undefined) return checking().registerVariable({ name: 'args', schema: args })
  anyArguments ??= checking().registerVariable('args', 'map<string, dyn>')
  return anyArguments
}

const checking = (): CelEnvironment =>
  base()
    .registerVariable({ name: 'caller', schema: CALLER })
    .registerVariable({ name: 'tool', schema: TOOL })
    .registerVariable('resources', 'list<string>')

function base(): CelEnvironment {
  cel ??= load('@marcbachmann/cel-js') as Cel
  const environment = new cel.Environment({ homogeneousAggregateLiterals: false, limits: LIMITS })
  environment.registerFunction(`string.${LINEAR_MATCHES}(string): bool`, linearMatches)
  // A JSON number is whole or not by chance: 2 and 2.5 are values of one argument, and compare and add up alike.
  for (const [left, right] of [
    ['int', 'double'],
    ['double', 'int'],
  ]) {
    for (const [sign, apply] of MIXED) environment.registerOperator(`${left} ${sign} ${right}`, apply)
  }
  return environment.registerOperator('int == double', (left, right) => Number(left) === right)
}

const MIXED: readonly (readonly [string, (left: unknown, right: unknown) => number])[] = [
  ['+', (left, right) => Number(left) + Number(right)],
  ['-', (left, right) => Number(left) - Number(right)],
  ['*', (left, right) => Number(left) * Number(right)],
  ['/', (left, right) => Number(left) / Number(right)],
]

let re2: typeof import('re2js') | undefined
/** Compiled ones, of all policies; when there are too many they are compiled anew. */
const PATTERNS_KEPT = 1_000
const patterns = new Map<string, (text: string) => boolean>()

/** Compiles a regular expression that is matched in linear time. Throws for one that does not hold. */
export function linearPattern(source: string): (text: string) => boolean {
  const known = patterns.get(source)
  if (known !== undefined) return known
  re2 ??= load('re2js') as typeof import('re2js')
  const compiled = re2.RE2JS.compile(source)
  const test = (text: string) => compiled.test(text)
  if (patterns.size >= PATTERNS_KEPT) patterns.clear()
  patterns.set(source, test)
  return test
}

/** The pattern stands in the rule: `readSyntax` refuses every other. */
function linearMatches(text: unknown, source: unknown): boolean {
  if (typeof text !== 'string' || typeof source !== 'string') throw new TypeError('`matches` takes a text')
  return linearPattern(source)(text)
}
