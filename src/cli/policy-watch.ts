// Follows the files of a serving gate's policy: when one of them changes, or the operator asks, the configuration is read
// again and its rules are taken, under the same trust as at the start. What does not hold, or is not trusted, changes
// nothing: the last good rules stay, and stderr says so.

import { statSync } from 'node:fs'
import type { Clock } from '../base/clock.ts'
import { describeProblem } from '../describe/gate-config-error.ts'
import type { Gate } from '../gate-contract.ts'
import { errorCode } from '../server/config/config-file.ts'
import type { LockgateConfig } from '../server/config/lockgate-config.ts'
import type { CommandInput } from './command.ts'
import { stateRoot } from './locations.ts'
import { envTexts, type Project, readConfiguration } from './project.ts'
import { checkTrust, trustFile } from './trust-store.ts'

const LOOK_MS = 500

/** Follows until the answer is called. */
export function watchPolicy(
  input: CommandInput,
  project: Project,
  gate: Pick<Gate, 'policy' | 'protect'>,
  clock: Clock,
): () => void {
  const watch = new PolicyWatch(input, project, gate)
  let cancel = (): void => {}
  const look = (): void => {
    watch.look()
    cancel = clock.after(LOOK_MS, look, 'background')
  }
  look()
  const stopHearing = input.io.onReload?.(() => watch.reload())
  return () => {
    cancel()
    stopHearing?.()
  }
}

class PolicyWatch {
  readonly #input: CommandInput
  readonly #project: Project
  readonly #gate: Pick<Gate, 'policy' | 'protect'>
  #config: LockgateConfig
  /** What the files looked like when they were last read, and at the last look. */
  #read: string
  #seen: string
  #reloading: Promise<void> = Promise.resolve()

  constructor(input: CommandInput, project: Project, gate: Pick<Gate, 'policy' | 'protect'>) {
    this.#input = input
    this.#project = project
    this.#gate = gate
    this.#config = project.config
    this.#read = this.#looks()
    this.#seen = this.#read
  }

  /** A file that is being written looks different each time, and is read once it stays as it is. */
  look(): void {
    const now = this.#looks()
    const stands = now === this.#seen
    this.#seen = now
    if (stands && now !== this.#read) this.reload()
  }

  reload(): void {
    this.#read = this.#looks()
    this.#reloading = this.#reloading.then(() => this.#reload())
  }

  /** What is trusted may change by itself. */
  #looks(): string {
    const { cwd, variables } = this.#input.io
    return looksOf([...this.#config.policyPaths, trustFile(stateRoot(cwd, variables))])
  }

  async #reload(): Promise<void> {
    const { terminal } = this.#input
    try {
      const problems = await this.#take()
      if (problems === undefined) return
      terminal.note(['red', 'policy not taken: '], 'the last good rules stay in force')
      for (const problem of problems) terminal.note(['red', '  '], problem)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      terminal.note(['red', 'policy not taken: '], `${reason}; the last good rules stay in force`)
    }
  }

  /** Undefined once the rules are in force; else why they are not. */
  async #take(): Promise<readonly string[] | undefined> {
    const { terminal } = this.#input
    const texts = envTexts(this.#input)
    if (texts.kind === 'bad') return [texts.reason]
    const { location } = this.#project
    const read = await readConfiguration(this.#input, location.file, texts.texts)
    if (read.kind === 'bad') return read.problems.map(describeProblem)
    const { config } = read
    if (location.by === 'found') {
      const trust = checkTrust(stateRoot(this.#input.io.cwd, this.#input.io.variables), config.files)
      if (trust.kind !== 'trusted')
        return [`${config.file} is not trusted as it stands now; read it, then run \`lockgate trust\``]
    }
    // Out of the reach of tools before anything of it counts.
    this.#gate.protect(config.ownFiles)
    const reloaded = await this.#gate.policy.reload(config.policy)
    if (reloaded.kind === 'kept') return reloaded.problems.map(describeProblem)
    if (restOf(config) !== restOf(this.#config))
      terminal.note(
        ['yellow', 'warning: '],
        'of what has changed, only the rules are taken; the rest waits for the next start',
      )
    // Of a file that was not followed so far nobody knows whether it has changed since it was read.
    if (config.policyPaths.join('\n') !== this.#config.policyPaths.join('\n')) this.#read = ''
    this.#config = config
    terminal.note(['green', 'policy taken: '], `version ${reloaded.version.slice(0, 16)}`)
    for (const warning of reloaded.warnings) terminal.note(['yellow', 'warning: '], warning)
    return undefined
  }
}

const looksOf = (paths: readonly string[]): string => paths.map((path) => `${path} ${lookOf(path)}`).join('\n')

/** What cannot be looked at, such as a link to itself, is a look as well: reading it says what is wrong. */
function lookOf(path: string): string {
  try {
    const status = statSync(path, { throwIfNoEntry: false, bigint: true })
    return status === undefined ? '-' : `${status.ino} ${status.size} ${status.mtimeNs} ${status.ctimeNs}`
  } catch (error) {
    return errorCode(error)
  }
}

/** What a reload does not take. */
const restOf = (config: LockgateConfig): string => {
  const { workspace, store, tools, sources, caller, approvals, limits, listen, names } = config
  return JSON.stringify([workspace, store, tools, sources, caller, approvals, limits, listen, names])
}
