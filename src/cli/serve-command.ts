// `lockgate serve`: a gate that is tried before it serves, then one entrance to it until the operator or the client ends it.

import { systemClock } from '../base/clock.ts'
import type { Gate } from '../gate-contract.ts'
import { favourMemory } from '../machine/favour-memory.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { openGate } from './open-gate.ts'
import { watchPolicy } from './policy-watch.ts'
import { openProject, type Project } from './project.ts'
import { type SelfCheck, selfCheck } from './self-check.ts'
import { serveLog } from './serve-log.ts'

/** What sources have started is not at rest the moment that they are ready. */
const SETTLING_MS = 5_000

export const serveCommand: RunCommand = async (input) => {
  const { line, terminal } = input
  if (line.flag('stdio') && (line.text('listen') !== undefined || line.flag('json'))) {
    return terminal.fail('usage', '`--stdio` goes with neither `--listen` nor `--json`: stdout belongs to the client')
  }
  const favourSpeed = favourMemory()
  const opened = await openProject(input)
  if (opened.kind === 'end') return opened.code
  if (line.flag('stdio') && opened.value.config.approvals.proof === 'code')
    return terminal.fail(
      'configuration',
      '`approvals.proof: code` needs a terminal that the client does not read; serve over HTTP, or leave it out',
    )
  const log = await serveLog(input.io, terminal, opened.value.config.log)
  const gate = await openGate(opened.value, terminal, { log })
  let stopWatching = (): void => {}
  void gate.settled().finally(() => systemClock.after(SETTLING_MS, favourSpeed, 'background'))
  try {
    const check = await selfCheck(gate, opened.value.config)
    printCheck(input, check)
    if (!check.safe) return terminal.fail('configuration', 'a call that must be refused was not; nothing is served')
    stopWatching = watchPolicy(input, opened.value, gate, systemClock)
    return await serve(input, opened.value, gate, check)
  } finally {
    stopWatching()
    await gate.close()
  }
}

async function serve(input: CommandInput, project: Project, gate: Gate, check: SelfCheck): Promise<ExitCode> {
  if (input.line.flag('stdio')) {
    const { serveOverStdio } = await import('./serve-stdio.ts')
    return serveOverStdio(input, project, gate)
  }
  const { serveOverHttp } = await import('./serve-http.ts')
  return serveOverHttp(input, project, gate, check)
}

function printCheck({ terminal }: CommandInput, { canaries }: SelfCheck): void {
  for (const { name, expected, ended } of canaries.filter((canary) => !canary.held)) {
    terminal.note(['red', 'self-check failed: '], `${name} must be ${expected} and ended as ${ended}`)
  }
  const refused = canaries.filter(({ expected }) => expected === 'refused')
  const passed = canaries.filter(({ expected }) => expected === 'allowed')
  const held = (some: SelfCheck['canaries']): string =>
    `${some.filter((canary) => canary.held).length} of ${some.length}`
  const passing =
    passed.length === 0
      ? 'nothing that this configuration lets everybody do could be tried'
      : `${held(passed)} passed as it must`
  terminal.note(['green', 'self-check: '], `${held(refused)} canary calls refused as they must, ${passing}`)
}
