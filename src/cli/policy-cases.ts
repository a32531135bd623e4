// A table of cases from a file: calls, and the answers that they should get. YAML or JSON, read as strictly as a
// configuration: what is misspelt is an error with its line, never a case that is left out.

import { readCaller } from '../authorize/caller-identity.ts'
import { isJsonObject, type JsonObject } from '../base/json-value.ts'
import { ERROR_TYPES, type ErrorType } from '../describe/error-types.ts'
import type { ConfigProblem } from '../describe/gate-config-error.ts'
import type { PolicyCase } from '../gate-contract.ts'
import { readConfigFile } from '../server/config/config-file.ts'
import { describeNode, jsonOf } from '../server/config/config-node.ts'
import { readYaml } from '../server/config/read-yaml.ts'
import { choice, listOf, refined, refuse, type Shape, text } from '../server/config/shape.ts'
import { byForm, fields, needed, optional } from '../server/config/shape-object.ts'

const CASES_MAX = 10_000

/** A case, and the line that it starts on. */
export type PlacedCase = PolicyCase & { readonly line: number }

export type CasesReading =
  | { readonly kind: 'ok'; readonly cases: readonly PlacedCase[] }
  | { readonly kind: 'bad'; readonly problems: readonly ConfigProblem[] }

/** Reads a file of cases: a list of them, or a map that has them as `cases`. */
export function readCases(file: string): CasesReading {
  const read = readConfigFile(file)
  if (read.kind === 'bad') return { kind: 'bad', problems: [{ file, message: read.reason }] }
  const problems: ConfigProblem[] = []
  const yaml = readYaml(read.text)
  const report = ({ at, key, message }: { at: { line: number; column: number }; key: string; message: string }): void =>
    void problems.push({ file, ...at, ...(key === '' ? {} : { key }), message })
  if (yaml.kind === 'bad') yaml.problems.forEach(report)
  const cases = yaml.kind === 'ok' ? table.read({ node: yaml.root, key: '', report }) : undefined
  return cases === undefined || problems.length > 0 ? { kind: 'bad', problems } : { kind: 'ok', cases }
}

const anyObject: Shape<JsonObject> = {
  expected: 'a map',
  schema: { type: 'object' },
  read(reading) {
    const value = jsonOf(reading.node)
    return isJsonObject(value) ? value : refuse(reading, `expected a map, got ${describeNode(reading.node)}`)
  },
}

const caller = refined(anyObject, (value, reading) => {
  const read = readCaller(value)
  return read.kind === 'ok' ? value : refuse(reading, read.reason)
})

const errorTypes = Object.keys(ERROR_TYPES) as readonly ErrorType[]

const one: Shape<PlacedCase> = refined(
  fields({
    name: optional(text(), 'What the case says, in a few words.'),
    caller: optional(caller, 'Who calls; what is left out is taken from `callers.default`.'),
    call: needed(
      fields({
        name: needed(text('the name of a tool'), 'The tool.'),
        arguments: optional(anyObject, 'What it is called with.'),
      }),
      'The call.',
    ),
    expect: needed(
      choice(['allow', 'ask', 'deny', ...errorTypes]),
      'The answer, or the error type of a call that does not come as far as the policy.',
    ),
  }),
  ({ name, caller: who, call, expect }, { node }): PlacedCase => ({
    ...(name === undefined ? {} : { name }),
    ...(who === undefined ? {} : { caller: who }),
    call: { name: call.name, arguments: call.arguments ?? {} },
    expect,
    line: node.at.line,
  }),
)

const list = listOf(one, CASES_MAX)

const table: Shape<readonly PlacedCase[]> = byForm({
  list,
  map: refined(fields({ cases: needed(list, 'The cases.') }), ({ cases }) => cases),
})
