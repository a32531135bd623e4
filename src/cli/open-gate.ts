// A gate in this process, from the project's configuration, over the database that it shares with other processes. What it
// logs goes to stderr; whoever opens it closes it.

import type { Gate, LogEntry, UnsettledCall } from '../gate-contract.ts'
import type { LockgateConfig, SourceConfig } from '../server/config/lockgate-config.ts'
import type { CommandInput } from './command.ts'
import type { Project } from './project.ts'
import { noteEntry } from './serve-log.ts'
import type { Terminal } from './terminal.ts'

const POLL_MS = 10
/** Of calls that earlier gates left open; all of them stand in the records. */
const UNSETTLED_SHOWN = 20

export type OpenGateOptions = {
  /** Which sources to start; all of them where it is not given. */
  readonly starts?: (source: SourceConfig) => boolean
  /** Where the gate's log goes. Default: warnings and errors to the terminal's stderr. */
  readonly log?: (entry: LogEntry) => void
}

/** @throws GateConfigError where the gate does not take the configuration. */
export async function openGate(project: Project, terminal: Terminal, options: OpenGateOptions = {}): Promise<Gate> {
  const [{ createGate }, { gateOptionsOf }] = await Promise.all([
    import('../gate.ts'),
    import('../server/config/gate-options.ts'),
  ])
  const { config, database, ownFiles } = project
  const toTerminal = (entry: LogEntry): void => {
    if (entry.level !== 'info') noteEntry(terminal, entry)
  }
  const { log = toTerminal } = options
  const gate = await createGate(
    await gateOptionsOf({
      config,
      database,
      ownFiles,
      log,
      // A program that runs a command of ours reads its output, and sits at no terminal.
      showCode: (code, { id, tool }) => {
        if (terminal.confide(['bold', 'code '], code, ` for ${id} (${tool})`)) return
        terminal.note(`${id} asks for a code, which is shown only where a person sits at the terminal of the gate`)
      },
      ...(options.starts === undefined ? {} : { starts: options.starts }),
    }),
  )
  await modulesLoaded(gate, config)
  reportUnsettled(terminal, gate.unsettled)
  return gate
}

/** What gates before this one have left open, as it was found at this start: each call, and what is to be done about it. */
function reportUnsettled(terminal: Terminal, unsettled: readonly UnsettledCall[]): void {
  for (const call of unsettled.slice(0, UNSETTLED_SHOWN)) terminal.note(['yellow', 'unsettled: '], unsettledText(call))
  if (unsettled.length === 0) return
  const of = (effect: UnsettledCall['effect']): number => unsettled.filter((call) => call.effect === effect).length
  terminal.note(
    ['yellow', 'recovered: '],
    `${unsettled.length} ${unsettled.length === 1 ? 'call' : 'calls'} of gates that are gone: ${of('none')} did nothing, ${of('done')} were done, of ${of('unknown')} nobody knows`,
  )
  if (of('unknown') > 0)
    terminal.note(
      ['dim', '  what they asked for: '],
      `${terminal.command('audit query --call ID')}; what they did, where they had a key: ${terminal.command('journal settle ID --as none|done')}`,
    )
}

/** What a gate before this one has left: the operator has to look, and is told by whichever gate comes first. */
export const unsettledText = ({ tool, callId, at, effect }: UnsettledCall): string =>
  `${tool} ${callId} of ${new Date(at).toISOString()} was never ended; its effect is ${effect}`

/**
 * Tools of modules may stand in the place of built-in ones, so that nothing is called, and nothing tried, before they are
 * there. A source has a bounded time to start, and other sources are not waited for.
 */
async function modulesLoaded(gate: Gate, { sources }: LockgateConfig): Promise<void> {
  const modules = new Set(sources.filter(({ kind }) => kind === 'module').map(({ name }) => name))
  const isLoading = (): boolean =>
    gate.catalogue.sources().some(({ name, state }) => modules.has(name) && state.kind === 'starting')
  while (isLoading()) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
}

/** Opens a gate, uses it, and closes it whatever happens. */
export async function withGate<Value>(
  project: Project,
  { terminal }: CommandInput,
  options: OpenGateOptions,
  use: (gate: Gate) => Promise<Value>,
): Promise<Value> {
  const gate = await openGate(project, terminal, options)
  try {
    return await use(gate)
  } finally {
    await gate.close()
  }
}

/**
 * Only the sources that can offer one of these tools: all but MCP servers, and of those the ones whose prefix a name has.
 * A name keeps its prefix even where it had to be shortened, so that leaving out the others changes no answer.
 */
export const sourcesFor =
  (names: readonly string[]) =>
  (source: SourceConfig): boolean =>
    source.kind === 'module' || names.some((name) => name.startsWith(`mcp__${source.name}__`))

/** Waits until a tool can be found, or until every source is ready or has failed. Sources have a bounded time to start. */
export async function untilThere(gate: Gate, name: string, signal: AbortSignal): Promise<void> {
  const isThere = (): boolean => gate.catalogue.rows().some((row) => row.name === name && row.state.kind === 'active')
  const stops: (() => void)[] = []
  const there = new Promise<void>((resolve) => {
    stops.push(gate.on('catalogue-changed', () => isThere() && resolve()))
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (isThere() || signal.aborted) resolve()
  })
  await Promise.race([there, gate.settled()])
  for (const stop of stops) stop()
}
