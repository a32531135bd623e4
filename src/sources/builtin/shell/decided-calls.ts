// What was found out about the arguments of a call when it was decided, kept until the call has run: a link, a script or a
// repository may be another one by then, and nobody was asked about that one.

import type { JsonObject } from '../../../base/json-value.ts'
import type { BoundText } from '../../../describe/tool.ts'
import type { ToolFailure } from '../../../describe/tool-failure.ts'
import { boundTexts } from './bound-texts.ts'
import { type Operand, type SettledCommand, touchesOf } from './settled-command.ts'
import { noSuchScript, stale } from './undone.ts'

type Known = { command: string; binds: string }

/** By the very object that holds the canonical arguments; gone with it. */
export class DecidedCalls {
  readonly #known = new WeakMap<JsonObject, Known>()

  touches(args: JsonObject, command: SettledCommand): readonly string[] {
    this.#of(args).command = meaningOf(command)
    return touchesOf(command)
  }

  async binds(args: JsonObject, command: SettledCommand): Promise<readonly BoundText[]> {
    const binds = await boundTexts(command)
    this.#of(args).binds = JSON.stringify(binds)
    return binds
  }

  /**
   * Why a command cannot run as it was decided. INVARIANT last-check: what was decided and approved is what runs, or nothing
   * does.
   */
  async problem(args: JsonObject, command: SettledCommand): Promise<ToolFailure | undefined> {
    const known = this.#known.get(args)
    const bound = await boundTexts(command)
    const isSame = known?.command === meaningOf(command) && known.binds === JSON.stringify(bound)
    if (!isSame) return stale()
    return command.script !== undefined && bound.length === 0 ? noSuchScript(command.script) : undefined
  }

  #of(args: JsonObject): Known {
    const known = this.#known.get(args) ?? { command: '', binds: '[]' }
    this.#known.set(args, known)
    return known
  }
}

/**
 * Which file runs, with what, and which places its arguments mean. Not what stands there: a folder that an earlier call of the
 * same turn makes is looked into file by file when the command runs.
 */
function meaningOf({ program, args, cwd, operands, looksAt }: SettledCommand): string {
  const placed = (operand: Operand | undefined) => [operand?.settled.absolute, operand?.below]
  return JSON.stringify([program.path, args, cwd.absolute, operands.map(placed), placed(looksAt)])
}
