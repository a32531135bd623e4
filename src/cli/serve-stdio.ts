// MCP for the one client that launched this process: stdout is the protocol's and nobody else's. It ends when the client
// closes its end.

import type { Gate } from '../gate-contract.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput } from './command.ts'
import type { Project } from './project.ts'

export async function serveOverStdio(
  { io, terminal }: CommandInput,
  { config, stateFolder }: Project,
  gate: Gate,
): Promise<ExitCode> {
  const [{ serveMcpStdio }, { sealKey }] = await Promise.all([
    import('../server/mcp-stdio.ts'),
    import('../server/seal-key.ts'),
  ])
  const { channels = [], holdMs } = config.approvals
  const served = serveMcpStdio({
    gate,
    caller: config.caller,
    input: io.stdin,
    output: io.stdout,
    log: (message) => terminal.note(['dim', message]),
    elicitation: channels.includes('elicitation'),
    asking: { sealKey: await sealKey(stateFolder), ...(holdMs === undefined ? {} : { holdMs }) },
  })
  terminal.note(['green', 'serving MCP on stdin and stdout'])
  void warnWhenSettled(gate, terminal)
  await new Promise<void>((resolve) => {
    void served.closed.then(resolve)
    io.signal.addEventListener('abort', () => resolve(), { once: true })
    if (io.signal.aborted) resolve()
  })
  await served.close()
  return 0
}

/** Warnings about rules and sources mean something only once every source has said what it offers. */
export async function warnWhenSettled(gate: Gate, terminal: CommandInput['terminal']): Promise<void> {
  await gate.settled()
  for (const warning of gate.warnings()) terminal.note(['yellow', 'warning: '], warning)
}
