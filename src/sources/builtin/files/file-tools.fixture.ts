// For the tests beside it: the built-in file tools over a folder of their own, called in the order in which the gate calls
// them (schema, resolve, touches, run, present), with a policy that is one function.

import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { systemClock } from '../../../base/clock.ts'
import type { BeforeImages, FileChange } from '../../../describe/before-images.ts'
import type { Caller } from '../../../describe/caller.ts'
import type { Display } from '../../../describe/content.ts'
import { NO_REDACTION } from '../../../describe/redactor.ts'
import type { Source } from '../../../describe/source.ts'
import type { RunContext, Tool } from '../../../describe/tool.ts'
import { ToolFailure } from '../../../describe/tool-failure.ts'
import { ToolResult } from '../../../describe/tool-result.ts'
import { openRun } from '../../../describe/tool-run.ts'
import type { Platform } from '../../../machine/rooted-path.ts'
import { builtinTools } from '../builtin-tools.ts'

export type Called =
  | {
      readonly kind: 'value'
      readonly value: Readonly<Record<string, unknown>>
      readonly text: string
      readonly display: Display | undefined
      readonly args: object
      readonly touches: readonly string[]
      readonly callId: string
    }
  | {
      readonly kind: 'failure'
      readonly code: string
      readonly message: string
      readonly effect: string | undefined
      readonly touches: readonly string[]
    }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }

export const ANA: Caller = { tenant: 't', user: 'ana', agent: 'a', roles: [], session: 's' }

/** Keeps changes as the store does, and can be told to fail. */
export class KeptImages implements BeforeImages {
  readonly changes = new Map<string, FileChange>()
  isBroken = false
  /** Runs when a change has been kept and nothing has been written yet. */
  onKept: () => void = () => {}
  async keep(change: FileChange): Promise<void> {
    if (this.isBroken) throw new Error('no room')
    this.changes.set(change.callId, change)
    this.onKept()
  }
  async find(callId: string): Promise<FileChange | undefined> {
    return this.changes.get(callId)
  }
}

const ajv = new Ajv2020({ strict: true, strictRequired: false })
const validators = new Map<string, ReturnType<typeof ajv.compile>>()

export function validatorOf(input: object): ReturnType<typeof ajv.compile> {
  const key = JSON.stringify(input)
  const validate = validators.get(key) ?? ajv.compile(input)
  validators.set(key, validate)
  return validate
}

export type FixtureOptions = { readonly platform?: Platform; readonly roots?: readonly string[] }

export class FileFixture {
  readonly base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'files-')))
  readonly workspace = join(this.base, 'ws')
  readonly images = new KeptImages()
  readonly own: string[] = []
  mayTouch: (resource: string) => boolean = () => true
  /** Runs between the decision and the run. */
  beforeRun: () => void = () => {}
  caller = ANA
  tools: readonly Tool[] = []
  #calls = 0

  async start(options: FixtureOptions = {}): Promise<this> {
    fs.mkdirSync(this.workspace, { recursive: true })
    const roots = new Map((options.roots ?? ['ws']).map((name) => [name, join(this.base, name)]))
    for (const root of roots.values()) fs.mkdirSync(root, { recursive: true })
    const source: Source = builtinTools(['files'], options.platform === undefined ? {} : { platform: options.platform })
    await source.start({
      workspace: { roots, own: { paths: () => this.own } },
      images: this.images,
      redactor: NO_REDACTION,
      clock: systemClock,
      machine: () => Promise.reject(new Error('no file tool asks for it')),
      offer: (offered) => {
        this.tools = offered.flatMap((one) => (one.kind === 'tool' ? [one.tool] : []))
      },
      report: () => {},
      log: () => {},
    })
    return this
  }

  path(relative: string): string {
    return join(this.workspace, relative)
  }

  put(relative: string, text: string | Uint8Array = 'hello'): void {
    fs.mkdirSync(dirname(this.path(relative)), { recursive: true })
    fs.writeFileSync(this.path(relative), text)
  }

  text(relative: string): string {
    return fs.readFileSync(this.path(relative), 'utf8')
  }

  exists(relative: string): boolean {
    return fs.existsSync(this.path(relative))
  }

  tool(name: string): Tool {
    const tool = this.tools.find((one) => one.name === name)
    if (tool === undefined) throw new Error(`no tool ${name}`)
    return tool
  }

  async call(name: string, given: unknown): Promise<Called> {
    const tool = this.tool(name)
    const validate = validatorOf(tool.input)
    if (!validate(given)) return { kind: 'refused', code: 'invalid_args', message: ajv.errorsText(validate.errors) }
    const resolved = await tool.resolve?.(given as never, this.caller)
    if (resolved !== undefined && 'kind' in resolved && resolved.kind === 'refused') {
      return { kind: 'refused', code: String(resolved.code), message: String(resolved.message) }
    }
    const args = Object.freeze(JSON.parse(JSON.stringify(resolved ?? given)) as never)
    const touches = (await tool.touches?.(args, this.caller)) ?? []
    this.beforeRun()
    const callId = `call-${++this.#calls}`
    const run = openRun(tool)
    if (typeof run !== 'function') throw new Error('file tools run in the gate')
    const answer = await run(args, this.#context(callId))
    if (answer instanceof ToolFailure) {
      const { code, message, effect, type } = answer.options
      return type === 'unsafe_args'
        ? { kind: 'refused', code: type, message }
        : { kind: 'failure', code, message, effect, touches }
    }
    const value = (answer instanceof ToolResult ? answer.value : answer) as Readonly<Record<string, unknown>>
    const display = answer instanceof ToolResult ? answer.display : tool.present?.(value).display
    const text = (tool.present?.(value).content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n')
    return { kind: 'value', value: JSON.parse(JSON.stringify(value)), text, display, args, touches, callId }
  }

  close(): void {
    fs.rmSync(this.base, { recursive: true, force: true })
  }

  #context(callId: string): RunContext {
    return {
      callId,
      caller: this.caller,
      signal: new AbortController().signal,
      clock: systemClock,
      idempotencyKey: callId,
      attempt: 1,
      place: { place: 'process', why: '' },
      approved: false,
      leftMs: () => 60_000,
      noteLimit: () => {},
      goesOn: () => () => {},
      call: () => Promise.reject(new Error('no file tool makes calls')),
      progress: () => {},
      mayTouch: (resource) => this.mayTouch(resource),
      log: () => {},
    }
  }
}
