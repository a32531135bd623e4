// What an operator says about one MCP server: how it is reached and what its tools may do. Everything is checked before
// anything starts; what the server says about itself is no part of it.

import type { DeclaredEffect } from '../../describe/effect.ts'
import { type ConfigProblem, GateConfigError } from '../../describe/gate-config-error.ts'
import { PROCESS_LIMITS, type ProcessLimit, SANDBOX_MODES, type SandboxMode } from '../../machine/abilities.ts'
import { effectProblems } from './effect-rules.ts'

/** A program that speaks MCP on its standard input and output. No shell reads the arguments. */
export type StdioUpstream = {
  readonly command: string
  readonly args?: readonly string[]
  /** Joins PATH, HOME, LANG, LC_ALL and TMPDIR; nothing else of the gate's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /**
   * Whether the server, and everything that it starts, runs in a sandbox. Default: `off`: it is a program that the operator
   * named, and what such a program needs only the operator knows.
   */
  readonly sandbox?: SandboxMode
  /**
   * In a sandbox: files and folders that it may read, besides programs of the system, its own program and package, and its
   * folder; absolute, or relative to `cwd`. Nothing else is there.
   */
  readonly readable?: readonly string[]
  /** In a sandbox: files and folders that it may change. */
  readonly writable?: readonly string[]
  /** In a sandbox: whether it has the network, the gate's own machine included. Default: true, for most servers are there to reach something. */
  readonly network?: boolean
  /** Bounds of the server with everything that it starts. Of processor time there is none: a server lives as long as the gate. */
  readonly limits?: ServerLimits
}

export type ServerLimits = Partial<Readonly<Record<Exclude<ProcessLimit, 'cpuMs'>, number>>>

/** An MCP server over Streamable HTTP. */
export type HttpUpstream = {
  readonly url: string
  /** Sent with each request. Redirects to another origin are not followed. */
  readonly headers?: Readonly<Record<string, string>>
}

export type McpSourceOptions = (StdioUpstream | HttpUpstream) & {
  /**
   * The server's own tool names, or globs over them → what those tools may do. An exact name beats every glob; of
   * several globs the strictest holds; a tool that none fits is `undeclared`.
   */
  readonly effects?: Readonly<Record<string, DeclaredEffect>>
  /** Take the server's own hints for true where `effects` says nothing. */
  readonly trust?: 'annotations'
  /** Milliseconds that one call may take, 1 to 86,400,000; the gate's own deadline holds where it is shorter. */
  readonly deadlineMs?: number
  /** Milliseconds without a word of how far a call is, 1 to 86,400,000, after which it is ended. Default: no such bound. */
  readonly idleMs?: number
}

const STDIO_KEYS = ['command', 'args', 'env', 'cwd', 'sandbox', 'readable', 'writable', 'network', 'limits']
/** Good for nothing without a sandbox. */
const ENCLOSED_KEYS = ['readable', 'writable', 'network']
const SERVER_LIMITS = PROCESS_LIMITS.filter((limit) => limit !== 'cpuMs')
const HTTP_KEYS = ['url', 'headers']
const GOVERNED_KEYS = ['effects', 'trust', 'deadlineMs', 'idleMs']
/** Names that stand for something of the gate itself. */
const RESERVED = new Set(['builtin', 'system', 'host'])
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,30}[A-Za-z0-9])?$/

export const isHttp = (options: McpSourceOptions): options is McpSourceOptions & HttpUpstream => 'url' in options

/** @throws GateConfigError for a name or an option that does not hold. */
export function checkMcpOptions(name: string, options: McpSourceOptions): void {
  const problems = [...nameProblems(name), ...optionProblems(options)]
  if (problems.length > 0)
    throw new GateConfigError(
      problems.map(({ key, message }) => ({
        key: key === undefined ? `sources.${name}` : `sources.${name}.${key}`,
        message,
      })),
    )
}

function nameProblems(name: string): readonly ConfigProblem[] {
  // `__` parts server and tool in a listed name; a name that held it could stand for another server's tools.
  if (NAME.test(name) && !name.includes('__') && !RESERVED.has(name)) return []
  return [
    {
      message:
        'expected a name of 1 to 32 letters, digits, `_` and `-`, without `__`, not one that the gate uses itself',
    },
  ]
}

function optionProblems(options: McpSourceOptions): readonly ConfigProblem[] {
  if (typeof options !== 'object' || options === null)
    return [{ message: 'expected an object with `command` or `url`' }]
  const given: Readonly<Record<string, unknown>> = options
  const http = 'url' in given
  if (http === 'command' in given) return [{ message: 'expected exactly one of `command` and `url`' }]
  const known = new Set([...(http ? HTTP_KEYS : STDIO_KEYS), ...GOVERNED_KEYS])
  return [
    ...Object.keys(given)
      .filter((key) => !known.has(key))
      .map((key) => ({ key, message: `unknown key; known: ${[...known].join(', ')}` })),
    ...(http ? httpProblems(given) : stdioProblems(given)),
    ...effectProblems(given.effects).map((message) => ({ key: 'effects', message })),
    ...(given.trust === undefined || given.trust === 'annotations'
      ? []
      : [{ key: 'trust', message: 'expected `annotations`' }]),
    ...['deadlineMs', 'idleMs']
      .filter((key) => !isDuration(given[key]))
      .map((key) => ({ key, message: 'expected whole milliseconds from 1 to 86400000' })),
    ...(typeof given.idleMs === 'number' && typeof given.deadlineMs === 'number' && given.idleMs >= given.deadlineMs
      ? [{ key: 'idleMs', message: 'expected less than `deadlineMs`, which would end the call first' }]
      : []),
  ]
}

function stdioProblems(given: Readonly<Record<string, unknown>>): readonly ConfigProblem[] {
  const { command, args, env, cwd } = given
  return [
    ...boundProblems(given),
    ...(isPlain(command) && command !== ''
      ? []
      : [{ key: 'command', message: 'expected the name or path of a program' }]),
    ...(args === undefined || (Array.isArray(args) && args.every(isPlain))
      ? []
      : [{ key: 'args', message: 'expected a list of texts' }]),
    ...(env === undefined || isTexts(env) ? [] : [{ key: 'env', message: 'expected texts by name' }]),
    ...(cwd === undefined || isPlain(cwd) ? [] : [{ key: 'cwd', message: 'expected a folder' }]),
  ]
}

function boundProblems(given: Readonly<Record<string, unknown>>): readonly ConfigProblem[] {
  const { sandbox, readable, writable, network, limits } = given
  const encloses = sandbox === 'required' || sandbox === 'preferred'
  return [
    ...(sandbox === undefined || SANDBOX_MODES.some((mode) => mode === sandbox)
      ? []
      : [{ key: 'sandbox', message: `expected one of ${SANDBOX_MODES.join(', ')}` }]),
    ...Object.entries({ readable, writable })
      .filter(([, paths]) => paths !== undefined && !isPaths(paths))
      .map(([key]) => ({ key, message: 'expected a list of paths' })),
    ...(network === undefined || typeof network === 'boolean'
      ? []
      : [{ key: 'network', message: 'expected true or false' }]),
    ...ENCLOSED_KEYS.filter((key) => given[key] !== undefined && !encloses).map((key) => ({
      key,
      message: 'it means something only in a sandbox: with `sandbox` `required` or `preferred`',
    })),
    ...limitProblems(limits),
  ]
}

function limitProblems(limits: unknown): readonly ConfigProblem[] {
  if (limits === undefined) return []
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits))
    return [{ key: 'limits', message: 'expected numbers by name' }]
  return Object.entries(limits).flatMap(([name, value]: [string, unknown]) => {
    const key = `limits.${name}`
    if (!SERVER_LIMITS.some((limit) => limit === name))
      return [{ key, message: `unknown key; known: ${SERVER_LIMITS.join(', ')}` }]
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
      ? []
      : [{ key, message: 'expected a whole number from 1 up' }]
  })
}

const isPaths = (value: unknown): boolean => Array.isArray(value) && value.every((path) => isPlain(path) && path !== '')

function httpProblems({ url, headers }: Readonly<Record<string, unknown>>): readonly ConfigProblem[] {
  return [
    ...(isWebAddress(url)
      ? []
      : [{ key: 'url', message: 'expected an http or https address without user and password' }]),
    ...(headers === undefined || (isTexts(headers) && isHeaders(headers))
      ? []
      : [{ key: 'headers', message: 'expected header values by name' }]),
  ]
}

function isWebAddress(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === ''
}

function isHeaders(headers: Readonly<Record<string, string>>): boolean {
  try {
    return new Headers(headers) !== undefined
  } catch {
    return false
  }
}

/** Text that can be an argument of a program. */
const isPlain = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0')

const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.entries(value).every(([key, text]) => key !== '' && isPlain(text))

const isDuration = (value: unknown): boolean =>
  value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= 86_400_000)

/**
 * Launch command or address, as it stands in the fingerprint of each tool. Values of variables and headers are left
 * out: they may be secrets, and a new one of the same name makes no other server.
 */
export function identityOf(options: McpSourceOptions): string {
  if (isHttp(options))
    return JSON.stringify(['http', new URL(options.url).href, Object.keys(options.headers ?? {}).sort()])
  const { command, args = [], env = {}, cwd = null } = options
  return JSON.stringify(['stdio', command, args, cwd, Object.keys(env).sort()])
}

type Handed = { readonly name: string; readonly value: string }

/** What the server is given beside the calls: variables, headers, flags with a value, parameters of its address. */
export function handedBy(options: McpSourceOptions): readonly Handed[] {
  const named = (values: Readonly<Record<string, string>> = {}): readonly Handed[] =>
    Object.entries(values).map(([name, value]) => ({ name, value }))
  if (isHttp(options))
    return [...named(options.headers), ...named(Object.fromEntries(new URL(options.url).searchParams))]
  const { args = [], env } = options
  const flags = args.flatMap((arg, index): readonly Handed[] => {
    const [, name, value = args[index + 1]] = /^--?([A-Za-z][A-Za-z0-9_.-]*)(?:=(.*))?$/s.exec(arg) ?? []
    return name === undefined || value === undefined || value.startsWith('-') ? [] : [{ name, value }]
  })
  return [...named(env), ...flags]
}
