// The half of `doctor` that looks at one configuration: whether it holds and is trusted, its workspace, its records, the
// modes of what is kept, and each source by starting it. A configuration that is not trusted starts nothing here either.

import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describeProblem } from '../describe/gate-config-error.ts'
import { besideDatabase } from '../gate/signing-key.ts'
import type { LockgateConfig } from '../server/config/lockgate-config.ts'
import { hasBuiltin } from '../server/config/tools-shape.ts'
import type { CommandInput } from './command.ts'
import type { Finding } from './doctor-machine.ts'
import { auditFindings } from './doctor-records.ts'
import { foldersAround, locateConfig, stateFolderOf, stateRoot } from './locations.ts'
import { unsettledText, withGate } from './open-gate.ts'
import { envTexts, openProject, type Project, readConfiguration } from './project.ts'
import { Terminal } from './terminal.ts'
import { checkTrust } from './trust-store.ts'

/** Clocks of one machine that was set back by less than this are no finding. */
const CLOCK_SLACK_MS = 300_000

export async function projectFindings(input: CommandInput): Promise<readonly Finding[]> {
  const { io, line } = input
  const location = locateConfig(line.text('config'), io.cwd, io.variables)
  if ('looked' in location) {
    return [
      {
        name: 'configuration',
        state: 'warning',
        detail: 'there is none',
        mend: '`lockgate init` writes one for this folder',
      },
    ]
  }
  const texts = envTexts(input)
  if (texts.kind === 'bad')
    return [{ name: 'configuration', state: 'failed', detail: texts.reason, mend: 'mend `--env-file`' }]
  const read = await readConfiguration(input, location.file, texts.texts)
  if (read.kind === 'bad') {
    return read.problems.map((problem) => ({
      name: 'configuration',
      state: 'failed',
      detail: describeProblem(problem),
      mend: 'mend this place of the file',
    }))
  }
  const { config } = read
  const root = stateRoot(io.cwd, io.variables)
  const trusted = location.by !== 'found' || checkTrust(root, config.files).kind === 'trusted'
  const configuration: Finding = trusted
    ? { name: 'configuration', state: 'ok', detail: config.file }
    : {
        name: 'configuration',
        state: 'failed',
        detail: `${config.file} is not trusted`,
        mend: 'read it, then run `lockgate trust`',
      }
  const kept = [...workspaceFindings(config, root), ...modeFindings(stateFolderOf(root, config.file))]
  return trusted ? [configuration, ...kept, ...(await gateFindings(input))] : [configuration, ...kept]
}

function workspaceFindings({ workspace, tools }: LockgateConfig, root: string): readonly Finding[] {
  const named = Object.entries(workspace)
  if (named.length === 0) {
    return hasBuiltin(tools)
      ? [
          {
            name: 'workspace',
            state: 'failed',
            detail: 'there are built-in tools, and no workspace is named',
            mend: 'add `workspace: .`',
          },
        ]
      : []
  }
  const around = foldersAround(root, Object.values(workspace))
  return [
    ...named.map(([name, folder]) => folderFinding(name, folder)),
    ...(around.length === 0
      ? []
      : [
          {
            name: 'state folder',
            state: 'warning',
            detail: `it lies inside the workspace ${around.join(', ')}`,
            mend: 'name a folder outside with LOCKGATE_STATE',
          } as const,
        ]),
  ]
}

function folderFinding(name: string, folder: string): Finding {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK)
  } catch {
    return {
      name: 'workspace',
      state: 'failed',
      detail: `${name}: ${folder} cannot be read`,
      mend: `chmod u+rx ${folder}`,
    }
  }
  try {
    accessSync(folder, constants.W_OK)
    return { name: 'workspace', state: 'ok', detail: `${name}: ${folder}` }
  } catch {
    return {
      name: 'workspace',
      state: 'warning',
      detail: `${name}: ${folder} can only be read`,
      mend: `chmod u+w ${folder}, if tools shall write there`,
    }
  }
}

/** The folder and the files in it are for the operator alone: whoever reads a token can call. */
function modeFindings(folder: string): readonly Finding[] {
  if (process.getuid === undefined || !existsSync(folder)) return []
  const open = [folder, ...readdirSync(folder).map((name) => join(folder, name))].filter((path) => {
    const status = statSync(path, { throwIfNoEntry: false })
    return status !== undefined && (status.mode & 0o077) !== 0
  })
  if (open.length === 0) return [{ name: 'modes', state: 'ok', detail: `${folder} is readable by its owner only` }]
  return open.map((path) => ({
    name: 'modes',
    state: 'failed',
    detail: `others can get at ${path}`,
    mend: `chmod go= ${path}`,
  }))
}

async function gateFindings(input: CommandInput): Promise<readonly Finding[]> {
  // What opening has to say in its own words stands in the findings already.
  const quiet = { ...input, terminal: new Terminal(silenced(input), { json: false }) }
  const opened = await openProject(quiet)
  if (opened.kind === 'end')
    return [{ name: 'gate', state: 'failed', detail: 'it cannot be opened', mend: 'see what stands above' }]
  try {
    return await withGate(opened.value, quiet, {}, async (gate) => {
      await gate.settled()
      const [newest] = await gate.records.query({ newestFirst: true, limit: 1 })
      const sources = gate.catalogue.sources().map(({ name, state, tools }): Finding => {
        if (state.kind === 'ready') return { name: `source ${name}`, state: 'ok', detail: `${tools} tools` }
        const detail = state.kind === 'failed' ? state.reason : state.kind
        return {
          name: `source ${name}`,
          state: 'failed',
          detail,
          mend: `mend \`sources.${name}\`, or start what it needs; the others work without it`,
        }
      })
      const unsettled = gate.unsettled.map(
        (call): Finding => ({
          name: 'unsettled',
          state: 'warning',
          detail: unsettledText(call),
          mend: 'look at what it may have done',
        }),
      )
      return [
        recordsFinding(opened.value, newest?.at),
        ...auditFindings(recordsParts(opened.value)),
        ...gate.troubles().map(troubleFinding),
        ...unsettled,
        ...sources,
        ...gate.warnings().map((detail): Finding => ({ name: 'warning', state: 'warning', detail })),
      ]
    })
  } catch (error) {
    return [
      {
        name: 'gate',
        state: 'failed',
        detail: error instanceof Error ? error.message : String(error),
        mend: 'mend what the message names',
      },
    ]
  }
}

const recordsParts = ({ database, config: { audit } }: Project): Parameters<typeof auditFindings>[0] => {
  const named = audit.signingKey !== undefined && 'file' in audit.signingKey ? audit.signingKey.file : undefined
  return { database, audit, signingKey: named ?? (database === undefined ? undefined : besideDatabase(database)) }
}

const troubleFinding = (detail: string): Finding => ({
  name: 'trouble',
  state: 'failed',
  detail,
  mend: 'mend what it names: until then calls are refused',
})

function recordsFinding({ database }: Project, newestMs: number | undefined): Finding {
  if (database === undefined)
    return {
      name: 'records',
      state: 'warning',
      detail: 'kept in memory: they end with the process',
      mend: 'use `store: sqlite`',
    }
  if (newestMs !== undefined && newestMs > Date.now() + CLOCK_SLACK_MS) {
    return {
      name: 'records',
      state: 'failed',
      detail: `the newest record is of ${new Date(newestMs).toISOString()}: the clock was set back`,
      mend: 'set the clock',
    }
  }
  return { name: 'records', state: 'ok', detail: database }
}

const silenced = ({ io }: CommandInput): CommandInput['io'] => ({ ...io, stdout: discard(), stderr: discard() })

const discard = (): CommandInput['io']['stdout'] => new Writable({ write: (_chunk, _encoding, done) => done() })
