// `lockgate doctor`: what works on this machine and what does not, each with how to mend it. It looks and mends nothing.

import type { CommandInput, RunCommand } from './command.ts'
import { type Finding, machineFindings } from './doctor-machine.ts'
import { projectFindings } from './doctor-project.ts'
import type { Style } from './terminal.ts'

const STYLES: Readonly<Record<Finding['state'], Style>> = { ok: 'green', warning: 'yellow', failed: 'red' }
const NAME_WIDTH = 18

export const doctorCommand: RunCommand = async (input) => {
  const findings = [...(await machineFindings(input)), ...(await projectFindings(input))]
  for (const finding of findings) printFinding(input, finding)
  input.terminal.value({ findings })
  return findings.some(({ state }) => state === 'failed') ? 1 : 0
}

function printFinding({ terminal }: CommandInput, { name, state, detail, mend }: Finding): void {
  terminal.line([STYLES[state], state.padEnd(8)], name.padEnd(NAME_WIDTH), ' ', detail)
  if (mend !== undefined) terminal.line(' '.repeat(9 + NAME_WIDTH), ['dim', mend])
}
