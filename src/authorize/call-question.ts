// One call, or one file that a running call asks about, as rules look at it. Resources are taken apart when the first rule
// wants to see them, and then once.

import type { JsonObject } from '../base/json-value.ts'
import type { CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import type { Resource, Touches } from '../describe/resource.ts'
import type { CommandFacts } from '../describe/tool.ts'
import type { FileScope } from './file-scope.ts'
import { Touched } from './resource-condition.ts'
import type { Question } from './rule.ts'
import type { ToolPlan } from './tool-plan.ts'

export class CallQuestion implements Question {
  readonly caller: Caller
  readonly args: JsonObject
  readonly effect: DeclaredEffect
  readonly scope: FileScope
  readonly resolved: boolean
  readonly filtersReads: boolean
  readonly command: CommandFacts | undefined
  readonly pathless: boolean
  readonly tool: ToolPlan['named']
  readonly #plan: ToolPlan
  readonly pathAsked: string | undefined
  readonly #input: CheckedInput
  readonly #strict: boolean
  readonly #resource: Resource | undefined
  readonly #asked: Touched | undefined
  #touched: readonly Touched[] | undefined
  #folders: readonly string[] | undefined
  #filtered: boolean | undefined

  /**
   * `asked`: judge this resource alone, in the place of all that the call touches, as a call of this `effect`. `strict`: a
   * folder as all that is below it, also of a tool that asks about each file.
   */
  constructor(
    plan: ToolPlan,
    scope: FileScope,
    caller: Caller,
    input: CheckedInput,
    asked?: Resource,
    effect: DeclaredEffect = input.effect,
    strict = false,
  ) {
    this.caller = caller
    this.args = input.args
    this.effect = effect
    this.scope = scope
    this.resolved = plan.resolved
    this.filtersReads = plan.filtersReads && !strict
    this.command = input.command
    this.pathless = plan.pathless
    this.tool = plan.named
    this.#plan = plan
    this.#input = input
    this.#strict = strict
    this.#resource = asked
    this.#asked = asked === undefined ? undefined : new Touched(asked, scope)
    this.pathAsked = this.#asked?.kind === 'file' ? this.#asked.path : undefined
  }

  /** A file inside the workspace as tools name it, relative to its root; another one absolute. */
  get pathForCel(): string | undefined {
    if (this.pathAsked === undefined) return undefined
    const [relative = this.pathAsked] = this.#asked?.spellings.relative ?? []
    return relative === '' ? '.' : relative
  }

  /** A tool that also changes what is below a folder is judged by all of it, whatever it asks about each file. */
  get filtered(): boolean {
    if (!this.filtersReads) return false
    this.#filtered ??= !this.touched().some(({ verb, whole, isFile }) => whole && isFile && verb !== 'read')
    return this.#filtered
  }

  resourceTexts(): readonly string[] | undefined {
    if (this.#resource !== undefined) return [this.#resource.text]
    const { touches } = this.#input
    return touches.kind === 'known' ? touches.resources.map(({ text }) => text) : undefined
  }

  get touches(): Touches {
    return this.#asked === undefined ? this.#input.touches : { kind: 'known', resources: [] }
  }

  touched(): readonly Touched[] {
    this.#touched ??= this.#asked === undefined ? this.#readTouches() : [this.#asked]
    return this.#touched
  }

  folders(): readonly string[] {
    this.#folders ??= this.#readFolders()
    return this.#folders
  }

  files(): readonly string[] | undefined {
    if (this.touches.kind === 'malformed') return undefined
    return this.touched().flatMap(({ isFile, path }) => (isFile ? [path] : []))
  }

  /** What a call that does more than read reads: each such resource as the matter of a read of its own. */
  reads(): readonly CallQuestion[] {
    if (this.effect === 'read') return []
    const { touches } = this.#input
    const touched = touches.kind === 'known' ? touches.resources : []
    return (this.#resource === undefined ? touched : [this.#resource])
      .filter(({ verb }) => verb === 'read')
      .map(
        (resource) =>
          new CallQuestion(this.#plan, this.scope, this.caller, this.#input, resource, 'read', this.#strict),
      )
  }

  #readFolders(): readonly string[] {
    if (this.#asked === undefined && !this.#namesWhole()) return []
    return this.touched().flatMap(({ kind, whole, spellings }) => (whole && kind === 'file' ? spellings.absolute : []))
  }

  #namesWhole(): boolean {
    const { touches } = this.#input
    return touches.kind === 'known' && touches.resources.some(({ key }) => key.endsWith('*'))
  }

  #readTouches(): readonly Touched[] {
    const { touches } = this.#input
    return touches.kind === 'known' ? touches.resources.map((resource) => new Touched(resource, this.scope)) : []
  }
}
