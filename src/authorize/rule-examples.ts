// The examples of a rule, which are held against it whenever it is loaded: a rule that does not do what its author says is
// an error and no policy. Nothing is looked up: an example is what it says and no more.

import { isJsonObject, type JsonObject, takeJson } from '../base/json-value.ts'
import { parseResource, type Resource, TOUCHES_UNKNOWN, type Touches } from '../describe/resource.ts'
import type { CommandFacts } from '../describe/tool.ts'
import { argumentHolds } from './argument-condition.ts'
import { LOCAL_CALLER } from './caller-identity.ts'
import type { FileScope } from './file-scope.ts'
import { isPlainObject, nameOf, type OptionReader } from './option-reader.ts'
import { Touched } from './resource-condition.ts'
import { type Question, type RuleConditions, resourcesHold, sideOf, whenHolds } from './rule.ts'

const KEYS = ['match', 'miss']
const EXAMPLES_MAX = 100
const BOUNDS = { bytesMax: 65_536, depthMax: 64, keysMax: 1_000 }
const SHOWN_MAX = 80

/** Reads the examples of a rule and holds each against it; what does not hold is a problem. */
export function checkExamples(
  value: unknown,
  rule: RuleConditions,
  scope: FileScope,
  key: string,
  reader: OptionReader,
): void {
  const fields = reader.fields(value, key, KEYS)
  for (const name of KEYS) {
    if (fields?.has(name) !== true) continue
    const given: unknown = fields.get(name)
    if (!Array.isArray(given)) reader.problem(`${key}.${name}`, `must be a list of examples, not ${nameOf(given)}`)
    else if (given.length > EXAMPLES_MAX) reader.problem(`${key}.${name}`, `has more than ${EXAMPLES_MAX} examples`)
    else
      for (const [index, example] of given.entries()) {
        const at = `${key}.${name}[${index}]`
        const question = readExample(example, rule, scope, at, reader)
        const holds = question === undefined ? undefined : exampleHolds(rule, question)
        if (holds !== undefined && holds !== (name === 'match'))
          reader.problem(at, `the rule ${name === 'match' ? 'does not hold' : 'holds'} for ${shown(example)}`)
      }
  }
}

const shown = (example: unknown): string => {
  const text = typeof example === 'string' ? example : JSON.stringify(example)
  return `\`${text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`}\``
}

function readExample(
  example: unknown,
  rule: RuleConditions,
  scope: FileScope,
  key: string,
  reader: OptionReader,
): Example | undefined {
  if (typeof example === 'string') {
    const resource = parseResource(example)
    if (resource === undefined) return reader.problem(key, 'must have the form `verb kind:key`, e.g. `read file:.env`')
    if (rule.resources !== undefined || rule.when?.reads.resources === true)
      return new Example(rule, scope, {}, resource)
    return reader.problem(key, 'is a resource, and the rule speaks of none; give the arguments of a call')
  }
  if (!isPlainObject(example))
    return reader.problem(key, `must be the arguments of a call or a resource, not ${nameOf(example)}`)
  const taken = takeJson(example, BOUNDS)
  if (taken.kind === 'refused') return reader.problem(key, 'has to be JSON of a moderate size')
  if (rule.resources !== undefined && rule.where.length === 0 && rule.when?.looksAtArguments !== true)
    return reader.problem(
      key,
      'is about arguments, and the rule looks at none; give a resource such as `read file:.env`',
    )
  const { value } = taken
  return isJsonObject(value) ? new Example(rule, scope, value, undefined) : undefined
}

/** Undefined where a condition looks at something that no example says: the caller, a tool that has no name here, its program. */
function exampleHolds(rule: RuleConditions, example: Example): boolean | undefined {
  const side = sideOf(rule)
  const { command, resource } = example
  const { programs, when } = rule
  if (programs !== undefined && command !== undefined && !programs.matches(command.program)) return false
  if (resource !== undefined && rule.resources !== undefined && !resourcesHold(rule, rule.resources, example))
    return false
  if (resource === undefined)
    for (const condition of rule.where) if (!argumentHolds(condition, side, example)) return false
  if (when !== undefined) {
    const { reads } = when
    const silent = resource === undefined ? reads.resources : reads.ways.length > 0 || reads.whole
    if (silent || reads.caller || reads.tool) return undefined
    if (!whenHolds(when, side, example)) return false
  }
  return rule.reads === undefined && (programs === undefined || command !== undefined) ? true : undefined
}

/** A call of some tool by somebody. */
class Example implements Question {
  readonly args: JsonObject
  readonly scope: FileScope
  readonly caller = LOCAL_CALLER
  readonly effect: Question['effect']
  readonly tool = { name: 'tool', source: 'host', version: '1.0.0' }
  readonly resource: Resource | undefined
  readonly resolved = false
  readonly filtered = false
  readonly filtersReads = false
  readonly pathless = false
  readonly pathAsked = undefined
  readonly pathForCel = undefined

  constructor(rule: RuleConditions, scope: FileScope, args: JsonObject, resource: Resource | undefined) {
    this.args = args
    this.scope = scope
    this.resource = resource
    this.effect = rule.effects?.[0] ?? 'write'
  }

  /** Whether it only reads is not for an example to say. */
  get command(): CommandFacts | undefined {
    const { program } = this.args
    return typeof program === 'string' && program !== '' ? { program, reads: false } : undefined
  }

  get touches(): Touches {
    return this.resource === undefined ? TOUCHES_UNKNOWN : { kind: 'known', resources: [this.resource] }
  }

  touched(): readonly Touched[] {
    return this.resource === undefined ? [] : [new Touched(this.resource, this.scope)]
  }

  folders(): readonly string[] {
    return []
  }

  files(): readonly string[] {
    return []
  }

  resourceTexts(): readonly string[] | undefined {
    return this.resource === undefined ? undefined : [this.resource.text]
  }
}
