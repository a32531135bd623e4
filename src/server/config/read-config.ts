// Reads `lockgate.yaml` and everything that it refers to, and answers either a whole configuration or every problem that
// was found, each with file, line, column and key. It starts nothing, and a file with one problem gives no configuration.

import { dirname, resolve } from 'node:path'
import type { PolicyOptions } from '../../authorize/policy-options.ts'
import { type ConfigProblem, GateConfigError } from '../../describe/gate-config-error.ts'
import { DEADLINE_MS } from '../../gate/gate-options-check.ts'
import { checkMcpOptions } from '../../sources/mcp/mcp-options.ts'
import { type ConfigFile, readConfigFile } from './config-file.ts'
import { keyBelow, type NodeProblem } from './config-node.ts'
import { configuration, type WrittenConfiguration } from './config-shape.ts'
import { type Environment, expandTree } from './expand.ts'
import type { LockgateConfig, SourceConfig } from './lockgate-config.ts'
import { mcpOptionsOf } from './mcp-options-of.ts'
import { readAudit } from './read-audit.ts'
import { type PolicyPlaces, readPolicy } from './read-policy.ts'
import {
  bothNames,
  existingFile,
  existingFolder,
  existingPath,
  launchFiles,
  listenOf,
  programDigests,
  type References,
  storeOf,
} from './read-references.ts'
import { readYaml } from './read-yaml.ts'
import type { Shape } from './shape.ts'
import { guardsOf, vainBounds } from './source-guards.ts'
import type { ConnectedSource, LaunchedSource, Located, ModuleSource } from './source-shape.ts'
import { NO_TOOLS } from './tools-shape.ts'

export type ConfigReading =
  | { readonly kind: 'ok'; readonly config: LockgateConfig }
  | { readonly kind: 'bad'; readonly problems: readonly ConfigProblem[] }

/**
 * Reads one configuration. Relative paths in it count from its own folder, links followed. `places`: where rules stand that
 * the configuration does not name.
 */
export function readConfig(file: string, environment: Environment, places: PolicyPlaces = {}): ConfigReading {
  const reader = new ConfigReader(environment, places)
  const config = reader.read(resolve(file))
  return config === undefined || reader.problems.length > 0
    ? { kind: 'bad', problems: reader.problems }
    : { kind: 'ok', config }
}

class ConfigReader {
  readonly problems: ConfigProblem[] = []
  readonly #environment: Environment
  readonly #files: ConfigFile[] = []
  readonly #projectFiles: ConfigFile[] = []
  readonly #policyPaths = new Set<string>()
  readonly #ownFiles = new Set<string>()
  readonly #places: PolicyPlaces

  constructor(environment: Environment, places: PolicyPlaces) {
    this.#environment = environment
    this.#places = places
  }

  read(path: string): LockgateConfig | undefined {
    const written = this.#readShape(path, configuration, (file) => {
      this.#refersTo(file)
      return this.#environment
    })
    const file = this.#files[0]?.path
    if (written === undefined || file === undefined) return undefined
    const references: References = { folder: dirname(file), report: this.#reporter(path) }
    const workspace = this.#workspace(written, references)
    const sources = this.#sources(written, references)
    const store = storeOf(written.store, references)
    const listen = listenOf(written.server?.listen, references)
    const roots = Object.values(workspace)
    const own = (name: string): void => void this.#ownFiles.add(name)
    const policy = this.#policy(written, path, workspace, references)
    const isOwn = (name: string): boolean =>
      this.#ownFiles.has(name) || (store?.kind === 'sqlite' && store.file === name)
    const audit = readAudit(written.audit ?? {}, { references, store, roots, own, isOwn })
    if (store === undefined || listen === undefined || this.problems.length > 0) return undefined
    this.#protectLaunches(sources, [references.folder, ...Object.values(workspace)])
    if (store.kind === 'sqlite') this.#ownDatabase(store.file)
    return {
      ...{ file, workspace, sources, store, listen, policy },
      tools: written.tools ?? NO_TOOLS,
      guards: guardsOf(new Map([...(written.sources ?? [])].map(([name, { value }]) => [name, value]))),
      caller: written.callers?.default ?? {},
      approvals: approvalsOf(written),
      limits: written.limits ?? {},
      ...(written.artifacts === undefined ? {} : { artifacts: written.artifacts }),
      ...(written.redaction === undefined ? {} : { redaction: written.redaction }),
      audit,
      telemetry: written.telemetry ?? false,
      log: written.log ?? {},
      names: written.server?.names ?? [],
      files: this.#files,
      projectFiles: this.#projectFiles,
      policyPaths: [...this.#policyPaths],
      ownFiles: [...this.#ownFiles],
    }
  }

  /** One file: its bytes, its YAML, its variables, its shape. `kept` is told of its bytes, and says which variables it has. */
  #readShape<Value>(path: string, shape: Shape<Value>, kept: (file: ConfigFile) => Environment): Value | undefined {
    this.#policyPaths.add(path)
    this.#ownFiles.add(path)
    const read = readConfigFile(path)
    if (read.kind === 'bad') {
      this.problems.push({ file: path, message: read.reason })
      return undefined
    }
    this.#ownFiles.add(read.file.path)
    const environment = kept(read.file)
    const report = this.#reporter(path)
    const yaml = readYaml(read.text)
    if (yaml.kind === 'bad') {
      yaml.problems.forEach(report)
      return undefined
    }
    const before = this.problems.length
    const node = expandTree(yaml.root, environment, report)
    return this.problems.length > before ? undefined : shape.read({ node, key: '', report })
  }

  #reporter(file: string): (problem: NodeProblem) => void {
    return ({ at, key, message }) => this.problems.push({ file, ...at, ...(key === '' ? {} : { key }), message })
  }

  /** A file that the configuration refers to: what `trust` records, and what no tool may reach. */
  #refersTo(file: ConfigFile): void {
    if (!this.#files.some((known) => known.path === file.path)) this.#files.push(file)
  }

  #own(path: string, file: ConfigFile): void {
    this.#refersTo(file)
    for (const name of [path, file.path]) this.#ownFiles.add(name)
  }

  #ownDatabase(file: string): void {
    for (const name of bothNames(file))
      for (const suffix of ['', '-wal', '-shm', '-journal']) this.#ownFiles.add(name + suffix)
  }

  #workspace({ workspace }: WrittenConfiguration, references: References): Readonly<Record<string, string>> {
    if (workspace === undefined) return {}
    const written: readonly (readonly [string, Located<string>])[] =
      workspace instanceof Map ? [...workspace] : [['main', workspace]]
    return Object.fromEntries(written.map(([name, path]) => [name, existingFolder(path, references) ?? '']))
  }

  #sources(written: WrittenConfiguration, references: References): readonly SourceConfig[] {
    const sources: SourceConfig[] = []
    for (const [name, { value: source, at, key }] of [...(written.sources ?? []), ...(written.mcpServers ?? [])]) {
      if (sources.some((known) => known.name === name)) {
        references.report({ at, key, message: 'a source of this name stands under `sources` already' })
      }
      const config =
        'module' in source ? this.#moduleConfig(name, source, references) : mcpSourceConfig(name, source, references)
      const vain = vainBounds({ ...source }, written.limits?.deadlineMs ?? DEADLINE_MS)
      for (const one of vain) references.report({ at, key: keyBelow(key, one.key), message: one.message })
      for (const message of config.kind === 'module' ? [] : mcpProblems(config)) references.report({ at, key, message })
      sources.push(config)
    }
    return sources
  }

  #moduleConfig(name: string, { module, activation }: ModuleSource, references: References): SourceConfig {
    const file = existingFile(module, references) ?? ''
    const [digest] = file === '' ? [] : programDigests([file])
    if (digest !== undefined) this.#own(file, digest)
    const active = activation === undefined ? {} : { activation }
    return { kind: 'module', name, file, digest: digest?.digest ?? '', ...active }
  }

  #protectLaunches(sources: readonly SourceConfig[], folders: readonly string[]): void {
    for (const source of sources) {
      if (source.kind !== 'stdio') continue
      const files = launchFiles(source, folders)
      for (const file of files) for (const name of bothNames(file)) this.#ownFiles.add(name)
      for (const digest of programDigests(files)) this.#own(digest.path, digest)
    }
  }

  #policy(
    written: WrittenConfiguration,
    path: string,
    workspace: LockgateConfig['workspace'],
    references: References,
  ): PolicyOptions {
    const roots = new Map(Object.entries(workspace).filter(([, folder]) => folder !== ''))
    return readPolicy(written, path, roots, {
      places: this.#places,
      references,
      environment: this.#environment,
      problem: (problem) => this.problems.push(problem),
      read: (file, shape, kept) => this.#readShape(file, shape, kept),
      refersTo: (file) => this.#refersTo(file),
      isReferredTo: (file) => this.#files.some((known) => known.path === file),
      // INVARIANT own-files: a file of rules that is not there yet cannot be put there by a tool.
      mayAppear: (file) => {
        this.#policyPaths.add(file)
        this.#ownFiles.add(file)
      },
      project: (file) => void this.#projectFiles.push(file),
    })
  }
}

function mcpSourceConfig(name: string, source: LaunchedSource | ConnectedSource, references: References): SourceConfig {
  const governed = {
    name,
    effects: Object.fromEntries(source.effects ?? []),
    trustAnnotations: source.trust === 'annotations',
    ...(source.deadline === undefined ? {} : { deadlineMs: source.deadline }),
    ...(source.idle === undefined ? {} : { idleMs: source.idle }),
    ...(source.activation === undefined ? {} : { activation: source.activation }),
  }
  if ('url' in source)
    return { kind: 'http', ...governed, url: source.url, headers: Object.fromEntries(source.headers ?? []) }
  const { command, args = [], env = [], cwd } = source
  const folder = cwd === undefined ? references.folder : (existingFolder(cwd, references) ?? '')
  const bounds = boundsOf(source, references)
  return { kind: 'stdio', ...governed, command, args, env: Object.fromEntries(env), cwd: folder, bounds }
}

function boundsOf(
  { sandbox, readable, writable, network, limits }: LaunchedSource,
  references: References,
): Extract<SourceConfig, { kind: 'stdio' }>['bounds'] {
  const all = (paths: readonly Located<string>[]) => paths.flatMap((one) => existingPath(one, references) ?? [])
  return {
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(readable === undefined ? {} : { readable: all(readable) }),
    ...(writable === undefined ? {} : { writable: all(writable) }),
    ...(network === undefined ? {} : { network }),
    ...(limits === undefined ? {} : { limits }),
  }
}

/** What the source itself would refuse when it is made: globs, addresses, headers. */
function mcpProblems(source: SourceConfig & { kind: 'stdio' | 'http' }): readonly string[] {
  try {
    checkMcpOptions(source.name, mcpOptionsOf(source))
    return []
  } catch (error) {
    if (error instanceof GateConfigError)
      return error.problems.map(
        ({ key, message }) => `${key?.replace(`sources.${source.name}.`, '') ?? ''}: ${message}`,
      )
    throw error
  }
}

function approvalsOf({ approvals = {} }: WrittenConfiguration): LockgateConfig['approvals'] {
  const { channels, expires, grant, hold, proof } = approvals
  return {
    ...(channels === undefined ? {} : { channels }),
    ...(expires === undefined ? {} : { expiresMs: expires }),
    ...(grant === undefined ? {} : { grantMs: grant }),
    ...(hold === undefined ? {} : { holdMs: hold }),
    ...(proof === undefined ? {} : { proof }),
  }
}
