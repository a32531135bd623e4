// For the tests beside it: the shell tools over a folder of their own, called in the order in which the gate calls them, with a
// policy that is one function. Runs in the sandbox of this machine where it has one, unless a test says otherwise.

import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '../../../base/clock.ts'
import type { JsonObject } from '../../../base/json-value.ts'
import type { Caller } from '../../../describe/caller.ts'
import type { Place } from '../../../describe/place.ts'
import { NO_REDACTION } from '../../../describe/redactor.ts'
import type { Source } from '../../../describe/source.ts'
import type { Progress, RunContext, Tool } from '../../../describe/tool.ts'
import { ToolFailure } from '../../../describe/tool-failure.ts'
import { ToolResult } from '../../../describe/tool-result.ts'
import { openRun } from '../../../describe/tool-run.ts'
import type { MachineAbilities } from '../../../machine/abilities.ts'
import { machineAbilities } from '../../../machine/probe-machine.ts'
import { type BuiltinOptions, builtinTools } from '../builtin-tools.ts'
import { ANA, KeptImages, validatorOf } from '../files/file-tools.fixture.ts'

export type Ran =
  | {
      readonly kind: 'value'
      readonly value: Readonly<Record<string, unknown>>
      readonly text: string
      readonly args: JsonObject
      readonly touches: readonly string[]
    }
  | {
      readonly kind: 'failure'
      readonly type: string
      readonly code: string
      readonly message: string
      readonly effect: string | undefined
      readonly text: string
      readonly details: Readonly<Record<string, unknown>>
    }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }

export class ShellFixture {
  readonly base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'shell-')))
  readonly workspace = join(this.base, 'ws')
  readonly own: string[] = []
  readonly limits: string[] = []
  readonly said: Progress[] = []
  /** Ends of what goes on after its call, as the gate would call them. */
  readonly ends: ((reason: Error) => void)[] = []
  mayTouch: (resource: string) => boolean = () => true
  beforeRun: () => void = () => {}
  place: Place = 'child'
  approved = false
  caller: Caller = ANA
  leftMs = 60_000
  tools: readonly Tool[] = []
  abilities: MachineAbilities | undefined
  asked = 0
  #source: Source | undefined

  async start(options: BuiltinOptions = {}, roots: readonly string[] = ['ws']): Promise<this> {
    const named = new Map(roots.map((name) => [name, join(this.base, name)]))
    for (const root of named.values()) fs.mkdirSync(root, { recursive: true })
    this.abilities = await machineAbilities()
    if (this.abilities.sandbox.kind === 'ready') this.place = 'sandbox'
    this.#source = builtinTools(['shell'], options)
    await this.#source.start({
      workspace: { roots: named, own: { paths: () => this.own } },
      images: new KeptImages(),
      redactor: NO_REDACTION,
      clock: systemClock,
      machine: () => machineAbilities(),
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

  put(relative: string, text = 'hello\n', mode = 0o644): void {
    fs.mkdirSync(dirname(this.path(relative)), { recursive: true })
    fs.writeFileSync(this.path(relative), text, { mode })
  }

  text(relative: string): string {
    return fs.readFileSync(this.path(relative), 'utf8')
  }

  exists(relative: string): boolean {
    return fs.lstatSync(this.path(relative), { throwIfNoEntry: false }) !== undefined
  }

  tool(name: string): Tool {
    const tool = this.tools.find((one) => one.name === name)
    if (tool === undefined) throw new Error(`no tool ${name}`)
    return tool
  }

  run(program: string, ...args: readonly string[]): Promise<Ran> {
    return this.call('run_command', { program, args })
  }

  async call(name: string, given: unknown): Promise<Ran> {
    const tool = this.tool(name)
    if (!validatorOf(tool.input)(given)) return { kind: 'refused', code: 'invalid_args', message: 'schema' }
    const resolved = await tool.resolve?.(given as never, this.caller)
    if (resolved !== undefined && 'kind' in resolved && resolved.kind === 'refused')
      return { kind: 'refused', code: String(resolved.code ?? 'unsafe_args'), message: String(resolved.message) }
    const args = Object.freeze(JSON.parse(JSON.stringify(resolved ?? given))) as JsonObject
    const touches = (await tool.touches?.(args, this.caller)) ?? []
    await tool.binds?.(args, this.caller)
    this.beforeRun()
    const run = openRun(tool)
    if (typeof run !== 'function') throw new Error(`${name} does not run here`)
    const answer = await run(args, this.#context())
    if (answer instanceof ToolFailure) {
      const { code, message, effect, type = 'tool_error', content = [], details = {} } = answer.options
      return { kind: 'failure', type, code, message, effect, text: textOf(content), details }
    }
    const value = (answer instanceof ToolResult ? answer.value : answer) as Readonly<Record<string, unknown>>
    return { kind: 'value', value, text: textOf(tool.present?.(value).content ?? []), args, touches }
  }

  async close(): Promise<void> {
    await this.#source?.close()
    fs.rmSync(this.base, { recursive: true, force: true })
  }

  #context(): RunContext {
    return {
      callId: `call-${++this.asked}`,
      caller: this.caller,
      signal: new AbortController().signal,
      clock: systemClock,
      idempotencyKey: `call-${this.asked}`,
      attempt: 1,
      place: { place: this.place, why: 'the test says so' },
      approved: this.approved,
      leftMs: () => this.leftMs,
      noteLimit: (limit, kind) => void this.limits.push(`${limit} ${kind}`),
      call: () => Promise.reject(new Error('no calls here')),
      goesOn: (end) => {
        this.ends.push(end)
        return () => void this.ends.splice(this.ends.indexOf(end), 1)
      },
      progress: (progress) => void this.said.push(progress),
      mayTouch: (resource) => this.mayTouch(resource),
      log: () => {},
    }
  }
}

const textOf = (parts: readonly { readonly type: string }[]): string =>
  parts.map((part) => ('text' in part && typeof part.text === 'string' ? part.text : '')).join('\n')
