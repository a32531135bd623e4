// The gateway over HTTP, and what the person who started it needs to know: where it is, how a client gets in, what runs.

import { join, relative } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { VERSION } from '../base/version.ts'
import { GateConfigError } from '../describe/gate-config-error.ts'
import type { Gate } from '../gate-contract.ts'
import type { LockgateConfig } from '../server/config/lockgate-config.ts'
import { parseListen } from '../server/config/read-references.ts'
import { tokenWarnings } from '../server/token-warnings.ts'
import type { Tokens } from '../server/tokens.ts'
import { hasPerson } from './approval-prompt.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput } from './command.ts'
import type { Project } from './project.ts'
import type { SelfCheck } from './self-check.ts'
import { warnWhenSettled } from './serve-stdio.ts'
import type { Terminal } from './terminal.ts'
import { printSource } from './tools-command.ts'

/** Names of the files in the state folder that hold a token as text. Deleting one and starting again makes a new token. */
const CALL_FILE = 'call-token'
const OPERATOR_FILE = 'operator-token'
const WILDCARD = /^(0\.0\.0\.0|::)$/
const LOOPBACK = /^(127\.|::1$|localhost$)/i

export async function serveOverHttp(
  input: CommandInput,
  project: Project,
  gate: Gate,
  check: SelfCheck,
): Promise<ExitCode> {
  const { io, terminal } = input
  const { config, stateFolder } = project
  const listen = listenOf(input, config)
  const [{ serveHttp }, { openTokens }, { recordTokens }, { sealKey }] = await Promise.all([
    import('../server/http-server.ts'),
    import('../server/tokens.ts'),
    import('../server/token-changes.ts'),
    import('../server/seal-key.ts'),
  ])
  const log = (message: string): void => terminal.note(['dim', message])
  const record = recordTokens(gate, 'lockgate serve')
  const tokens = await openTokens({ folder: stateFolder, clock: systemClock, log, record })
  const callToken = await tokens.ensure(CALL_FILE, { name: 'call', scopes: ['call'] })
  // INVARIANT own-files: what can answer and look into records cannot call, and what can call cannot answer.
  await tokens.ensure(OPERATOR_FILE, { name: 'operator', scopes: ['approve', 'audit', 'admin'] })
  const serving = await serveHttp({
    gate,
    listen,
    tokens,
    caller: config.caller,
    allowedHosts: config.names,
    takesAnswers: config.approvals.channels?.includes('console') ?? true,
    asking: {
      sealKey: await sealKey(stateFolder),
      ...(config.approvals.holdMs === undefined ? {} : { holdMs: config.approvals.holdMs }),
    },
    log,
  })
  const asksHere = isAskedHere(input, config)
  const served = {
    url: serving.url,
    link: serving.openingLink(),
    callToken,
    operatorTokenFile: join(stateFolder, OPERATOR_FILE),
  }
  try {
    announce(terminal, project, { ...served, asksHere })
    if (!LOOPBACK.test(listen.host))
      terminal.note(
        ['yellow', 'warning: '],
        `${listen.host} can be reached from other machines, and what is spoken there is not encrypted`,
      )
    if (WILDCARD.test(listen.host) && config.names.length === 0)
      terminal.note(
        ['yellow', 'warning: '],
        'clients on other machines are refused until `server.names` says under which names they may come',
      )
    if (config.approvals.proof === 'code' && !hasPerson(io))
      terminal.note(
        ['yellow', 'warning: '],
        'codes are shown only where a person sits at this terminal, and nobody does: no question can be approved',
      )
    terminal.value(announcement(gate, config, served, check))
    warnOfTokens(terminal, tokens, config)
    void reportSources(terminal, gate, io.signal)
    const asking = asksHere ? askHere(input, gate) : undefined
    await aborted(io.signal)
    await asking
    terminal.note(['dim', 'ending…'])
  } finally {
    await serving.close()
  }
  return 0
}

function listenOf({ line }: CommandInput, config: LockgateConfig): LockgateConfig['listen'] {
  const given = line.text('listen')
  const listen = given === undefined ? config.listen : parseListen(given)
  if (listen === undefined)
    throw new GateConfigError([
      { key: '--listen', message: `expected \`HOST:PORT\`, such as \`127.0.0.1:7420\`, got \`${given}\`` },
    ])
  return listen
}

/** Questions are put at this terminal where a person sits at it and the configuration does not keep them from it. */
const isAskedHere = ({ io, terminal }: CommandInput, { approvals, log }: LockgateConfig): boolean =>
  hasPerson(io) &&
  log.format !== 'json' &&
  (io.isForeground?.() ?? true) &&
  !terminal.json &&
  (approvals.channels?.includes('terminal') ?? true)

/** A fault of the prompt ends the prompt and nothing else. */
async function askHere({ io, terminal }: CommandInput, gate: Gate): Promise<void> {
  const { answerAtTerminal } = await import('./terminal-channel.ts')
  await answerAtTerminal({ gate, io, terminal, clock: systemClock, signal: io.signal }).catch((error: unknown) => {
    if (!io.signal.aborted)
      terminal.note(
        ['red', 'questions can no longer be answered here: '],
        error instanceof Error ? error.message : String(error),
      )
  })
}

type Served = {
  readonly url: string
  readonly link: string
  readonly callToken: string
  readonly operatorTokenFile: string
}

function announce(
  terminal: Terminal,
  { config, stateFolder }: Project,
  { url, link, callToken, operatorTokenFile, asksHere }: Served & { readonly asksHere: boolean },
): void {
  terminal.line(['bold', `Lockgate ${VERSION}`], ' serves ', config.file)
  terminal.line('  MCP       ', ['cyan', `${url}/mcp`])
  terminal.line('  console   ', ['cyan', link], ['dim', '  (opens once, within ten minutes)'])
  terminal.line(
    '  API       ',
    ['cyan', `${url}/api`],
    ['dim', `  (described at ${url}/api/openapi.json; operator’s token in ${operatorTokenFile})`],
  )
  terminal.line('  token     ', ['cyan', callToken], ['dim', `  (may call; kept in ${join(stateFolder, CALL_FILE)})`])
  const again = `lockgate --config ${relative(process.cwd(), config.file) || config.file}`
  terminal.line('  approvals ', `${again} approvals list`, [
    'dim',
    asksHere ? '  (or answer here, where each question is shown)' : '  (answers calls that ask)',
  ])
  terminal.line()
  terminal.line('Connect a client:')
  terminal.block(JSON.stringify(clientEntry(url, callToken), undefined, 2))
  terminal.line()
}

/** What clients with an `mcpServers` block take as it is. */
const clientEntry = (url: string, token: string) => ({
  mcpServers: { lockgate: { type: 'http', url: `${url}/mcp`, headers: { Authorization: `Bearer ${token}` } } },
})

const announcement = (
  gate: Gate,
  config: LockgateConfig,
  { url, link, callToken, operatorTokenFile }: Served,
  { canaries }: SelfCheck,
) => ({
  version: VERSION,
  configuration: config.file,
  mcp: `${url}/mcp`,
  console: `${url}/`,
  consoleLink: link,
  api: `${url}/api`,
  callToken,
  operatorTokenFile,
  client: clientEntry(url, callToken),
  sources: gate.catalogue.sources(),
  unsettled: gate.unsettled,
  selfCheck: canaries,
})

function warnOfTokens(terminal: Terminal, tokens: Tokens, { policy }: LockgateConfig): void {
  for (const row of tokens.list())
    for (const warning of tokenWarnings(row, policy)) terminal.note(['yellow', 'warning: '], warning)
}

async function reportSources(terminal: Terminal, gate: Gate, signal: AbortSignal): Promise<void> {
  await gate.settled()
  if (signal.aborted) return
  for (const source of gate.catalogue.sources()) printSource(terminal, source)
  await warnWhenSettled(gate, terminal)
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (signal.aborted) resolve()
  })
