// One call, or one file that a running call asks about, as rules look at it. Resources are taken apart when the first rule
// wants to see them, and then once.

import type { JsonObject } from '../base/json-value.ts'
import type { CheckedInput } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import type { Resource, Touches } from '../describe/resource.ts'
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
  readonly filtered: boolean
  readonly pathAsked: string | undefined
  readonly #input: CheckedInput
  readonly #asked: Touched | undefined
  #touched: readonly Touched[] | undefined
  #folders: readonly string[] | undefined

  /** `asked`: judge this resource alone, in the place of all that the call touches. */
  constructor(plan: ToolPlan, scope: FileScope, caller: Caller, input: CheckedInput, asked?: Resource) {
    this.caller = caller
    this.args = input.args
    this.effect = input.effect
    this.scope = scope
    this.resolved = plan.resolved
    this.filtered = plan.filtered && !namesStar(input.args)
    this.#input = input
    this.#asked = asked === undefined ? undefined : new Touched(asked, scope)
    this.pathAsked = this.#asked?.kind === 'file' ? this.#asked.path : undefined
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

/** A file may really be called `*`. Its touch looks like a folder as a whole, and nobody asks for what is below it. */
function namesStar(args: JsonObject): boolean {
  const path = Object.hasOwn(args, 'path') ? args.path : undefined
  return typeof path === 'string' && path.endsWith('*')
}
