// `lockgate policy test [FILE]`: a table of calls with the answers that they should get. Nothing is run; a case that gets
// another answer is a finding.

import { dirname, join, relative, resolve } from 'node:path'
import type { Caller } from '../describe/caller.ts'
import type { CaseResult } from '../gate-contract.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { sourcesFor, withGate } from './open-gate.ts'
import { type PlacedCase, readCases } from './policy-cases.ts'
import { openProject } from './project.ts'

/** Beside the configuration, where no other file is named. */
const CASES_NAME = 'policy-cases.yaml'

export const policyTest: RunCommand = async (input) => {
  const { io, line, terminal } = input
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  const { config } = opened.value
  const named = line.positionals[1]
  const file = named === undefined ? join(dirname(config.file), CASES_NAME) : resolve(io.cwd, named)
  const read = readCases(file)
  if (read.kind === 'bad') {
    const isMissing = named === undefined && read.problems.every(({ line: at }) => at === undefined)
    if (isMissing) return terminal.fail('usage', `there is no ${file}`, ['name the file with the cases'])
    return terminal.failConfiguration(read.problems)
  }
  const cases = read.cases.map((one) => titled(one, config.caller, relative(io.cwd, file)))
  const names = [...new Set(cases.map(({ call }) => call.name))]
  return withGate(opened.value, input, { starts: sourcesFor(names) }, async (gate) => {
    await gate.settled()
    const results = await gate.policy.test(cases)
    printResults(input, results)
    terminal.value(results)
    return results.every(({ ok }) => ok) ? 0 : 1
  })
}

/** What a case does not say of its caller is what the configuration says of whoever says nothing. */
function titled({ line, ...one }: PlacedCase, fallback: Partial<Caller>, file: string): PlacedCase {
  const place = `${file}:${line}`
  return {
    ...one,
    line,
    name: one.name === undefined ? `${place} ${one.call.name}` : `${place} ${one.name}`,
    caller: { ...fallback, ...one.caller },
  }
}

function printResults({ terminal }: CommandInput, results: readonly CaseResult[]): void {
  const failed = results.filter(({ ok }) => !ok)
  for (const { name, expected, got, why } of failed) {
    terminal.line(['red', 'failed '], ['bold', name])
    terminal.line(`       expected ${expected}, got ${got}: ${why}`)
  }
  terminal.line(
    [failed.length === 0 ? 'green' : 'red', `${results.length - failed.length} of ${results.length}`],
    ' cases got the answer that they should',
  )
}
