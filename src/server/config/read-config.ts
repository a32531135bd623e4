// Reads `lockgate.yaml` and everything that it refers to, and answers either a whole configuration or every problem that
// was found, each with file, line, column and key. It starts nothing, and a file with one problem gives no configuration.

import { dirname, resolve } from 'node:path'
import type { PolicyOptions } from '../../authorize/policy-options.ts'
import { type ConfigProblem, GateConfigError } from '../../describe/gate-config-error.ts'
import { checkMcpOptions } from '../../sources/mcp/mcp-options.ts'
import { type ConfigFile, readConfigFile } from './config-file.ts'
import type { NodeProblem } from './config-node.ts'
import { configuration, ruleFile, type WrittenConfiguration } from './config-shape.ts'
import { type Environment, expandTree } from './expand.ts'
import type { LockgateConfig, SourceConfig } from './lockgate-config.ts'
import { mcpOptionsOf } from './mcp-options-of.ts'
import { type FiledRule, policyOf, policyProblems } from './policy-problems.ts'
import {
  bothNames,
  existingFile,
  existingFolder,
  launchFiles,
  listenOf,
  programDigests,
  type References,
  storeOf,
} from './read-references.ts'
import { readYaml } from './read-yaml.ts'
import type { PlacedRule } from './rule-shape.ts'
import type { Shape } from './shape.ts'
import type { ConnectedSource, LaunchedSource, Located } from './source-shape.ts'

export type ConfigReading =
  | { readonly kind: 'ok'; readonly config: LockgateConfig }
  | { readonly kind: 'bad'; readonly problems: readonly ConfigProblem[] }

/** Reads one configuration. Relative paths in it count from its own folder, links followed. */
export function readConfig(file: string, environment: Environment): ConfigReading {
  const reader = new ConfigReader(environment)
  const config = reader.read(resolve(file))
  return config === undefined || reader.problems.length > 0
    ? { kind: 'bad', problems: reader.problems }
    : { kind: 'ok', config }
}

class ConfigReader {
  readonly problems: ConfigProblem[] = []
  readonly #environment: Environment
  readonly #files: ConfigFile[] = []
  readonly #ownFiles = new Set<string>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  read(path: string): LockgateConfig | undefined {
    const written = this.#readShape(path, configuration)
    const file = this.#files[0]?.path
    if (written === undefined || file === undefined) return undefined
    const references: References = { folder: dirname(file), report: this.#reporter(path) }
    const workspace = this.#workspace(written, references)
    const sources = this.#sources(written, references)
    const store = storeOf(written.store, references)
    const listen = listenOf(written.server?.listen, references)
    const policy = this.#policy(written, path, workspace, references)
    if (store === undefined || listen === undefined || this.problems.length > 0) return undefined
    this.#protectLaunches(sources, [references.folder, ...Object.values(workspace)])
    if (store.kind === 'sqlite') this.#ownDatabase(store.file)
    const { expires } = written.approvals ?? {}
    return {
      ...{ file, workspace, sources, store, listen, policy },
      tools: { files: written.tools?.files ?? false },
      caller: written.callers?.default ?? {},
      approvals: expires === undefined ? {} : { expiresMs: expires },
      limits: limitsOf(written),
      files: this.#files,
      ownFiles: [...this.#ownFiles],
    }
  }

  /** One file: its bytes, its YAML, its variables, its shape. */
  #readShape<Value>(path: string, shape: Shape<Value>): Value | undefined {
    const read = readConfigFile(path)
    if (read.kind === 'bad') {
      this.problems.push({ file: path, message: read.reason })
      return undefined
    }
    this.#own(path, read.file)
    const report = this.#reporter(path)
    const yaml = readYaml(read.text)
    if (yaml.kind === 'bad') {
      yaml.problems.forEach(report)
      return undefined
    }
    const before = this.problems.length
    const node = expandTree(yaml.root, this.#environment, report)
    return this.problems.length > before ? undefined : shape.read({ node, key: '', report })
  }

  #reporter(file: string): (problem: NodeProblem) => void {
    return ({ at, key, message }) => this.problems.push({ file, ...at, ...(key === '' ? {} : { key }), message })
  }

  #own(path: string, file: ConfigFile): void {
    if (!this.#files.some((known) => known.path === file.path)) this.#files.push(file)
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
        'module' in source
          ? this.#moduleConfig(name, source.module, references)
          : mcpSourceConfig(name, source, references)
      for (const message of config.kind === 'module' ? [] : mcpProblems(config)) references.report({ at, key, message })
      sources.push(config)
    }
    return sources
  }

  #moduleConfig(name: string, written: Located<string>, references: References): SourceConfig {
    const file = existingFile(written, references) ?? ''
    const [digest] = file === '' ? [] : programDigests([file])
    if (digest !== undefined) this.#own(file, digest)
    return { kind: 'module', name, file, digest: digest?.digest ?? '' }
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
    const { defaults, rules, files = [] } = written.policy ?? {}
    const filed = [...filedRules(rules, path), ...files.flatMap((file) => this.#rulesOf(file, references))]
    const policy = policyOf(defaults, filed)
    this.problems.push(
      ...policyProblems(policy, filed, new Map(Object.entries(workspace).filter(([, folder]) => folder !== ''))),
    )
    return policy
  }

  #rulesOf(written: Located<string>, references: References): readonly FiledRule[] {
    const file = existingFile(written, references)
    return file === undefined ? [] : filedRules(this.#readShape(file, ruleFile)?.rules, file)
  }
}

const filedRules = (rules: readonly PlacedRule[] | undefined, file: string): readonly FiledRule[] =>
  (rules ?? []).map((rule) => ({ ...rule, file }))

function mcpSourceConfig(name: string, source: LaunchedSource | ConnectedSource, references: References): SourceConfig {
  const governed = {
    name,
    effects: Object.fromEntries(source.effects ?? []),
    trustAnnotations: source.trust === 'annotations',
    ...(source.deadline === undefined ? {} : { deadlineMs: source.deadline }),
  }
  if ('url' in source)
    return { kind: 'http', ...governed, url: source.url, headers: Object.fromEntries(source.headers ?? []) }
  const { command, args = [], env = [], cwd } = source
  const folder = cwd === undefined ? references.folder : (existingFolder(cwd, references) ?? '')
  return { kind: 'stdio', ...governed, command, args, env: Object.fromEntries(env), cwd: folder }
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

function limitsOf({ limits }: WrittenConfiguration): LockgateConfig['limits'] {
  return {
    ...(limits?.result === undefined ? {} : { resultBytes: limits.result }),
    ...(limits?.deadline === undefined ? {} : { deadlineMs: limits.deadline }),
    ...(limits?.arguments === undefined ? {} : { argumentBytes: limits.arguments }),
  }
}
