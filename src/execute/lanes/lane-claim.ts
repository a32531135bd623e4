// What a call needs for itself while it runs: what it touches, and whether it may run beside others of its turn at all. The
// class comes from the tool and from what it touches, never from what a model says or leaves out.

import type { CheckedInput } from '../../describe/call.ts'
import type { Resource } from '../../describe/resource.ts'
import type { Tool } from '../../describe/tool.ts'
import { isHarmless, type LaneKeys, laneKeys } from './lane-keys.ts'

const NOTHING: readonly Resource[] = Object.freeze([])

export class LaneClaim {
  /** Within its turn it runs alone: after all that come before it, and before all that come after it. */
  readonly barrier: boolean
  /** Nothing that it names is changed, as far as it names anything. */
  readonly onlyReads: boolean
  readonly #resources: readonly Resource[]
  readonly #roots: readonly string[]
  #keys: LaneKeys | undefined

  constructor(tool: Pick<Tool, 'lane'>, input: CheckedInput, roots: readonly string[]) {
    const { touches } = input
    this.#resources = touches.kind === 'known' ? touches.resources : NOTHING
    this.#roots = roots
    this.onlyReads = this.#resources.every(isHarmless)
    this.barrier = isBarrier(tool, input, this.onlyReads)
  }

  get namesNothing(): boolean {
    return this.#resources.length === 0
  }

  /** Most reads meet nobody who writes, and nobody asks. */
  get keys(): LaneKeys {
    this.#keys ??= laneKeys(this.#resources, this.#roots)
    return this.#keys
  }
}

function isBarrier(
  { lane }: Pick<Tool, 'lane'>,
  { effect, effectFailed, touches }: CheckedInput,
  onlyReads: boolean,
): boolean {
  // INVARIANT closed: what a tool cannot say, or says in a form that cannot be read, may be anything.
  if (touches.kind !== 'known' || effectFailed !== undefined || lane === 'barrier') return true
  if (effect === 'read') return false
  if (effect === 'write') return onlyReads
  return lane !== 'touches'
}

/** Why a call counts as touching everything, where its own tool failed to say. */
export function whyExclusive({ effectFailed, touches }: CheckedInput): string | undefined {
  return touches.kind === 'malformed' ? touches.reason : effectFailed
}
