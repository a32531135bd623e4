// The walk that finding and searching share: from a folder (or one file) over all regular files that a glob matches. A glob
// whose leading names lead out of the workspace is refused before anything is walked.

import type { JsonObject } from '../../../base/json-value.ts'
import type { Refusal, RunContext } from '../../../describe/tool.ts'
import type { ToolFailure } from '../../../describe/tool-failure.ts'
import type { WalkedEntry } from '../../../machine/rooted-walk.ts'
import { AllowedWalk, type LeftOut } from './allowed-walk.ts'
import { failureFor } from './file-failure.ts'
import { type FilePlace, isRefusal, refusal, type Settled, type Spot } from './file-place.ts'
import { globScope } from './glob-scope.ts'

const DEPTH_MAX = 64

export const GLOB_FIELD: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 1_024,
  description:
    'Glob over paths relative to `path`: `*`, `?`, `**`, `[a-z]`, `{a,b}`. Without a `/` it matches names at any depth.',
}

export type GlobSpot = { readonly path?: string; readonly glob?: string; readonly root?: string }

/** `base`: the folder that the call names. `start`: where the glob begins to need a walk. */
export type SettledWalk = {
  readonly base: Settled
  readonly start: Settled
  readonly names: ReadonlySet<string>
  matches(below: string): boolean
}

/** The canonical form of a folder and a glob below it. */
export function locateWalk<Args extends GlobSpot>(place: FilePlace, args: Args): (Args & Spot) | Refusal {
  const base = place.locate({ ...args, path: args.path ?? '.' })
  if (isRefusal(base)) return base
  if (args.glob === undefined) return { ...args, ...place.spot(base) }
  const scope = globScope(args.glob)
  if (scope.kind === 'bad') return refusal(`\`glob\`: ${scope.reason}`, scope.code)
  const start = place.locate({ root: base.root, path: join(base.relative, scope.prefix) })
  if (isRefusal(start)) return start
  if (start.relative === join(base.relative, scope.prefix)) return { ...args, ...place.spot(base) }
  // The glob leads through a link inside the workspace: from here on it is spelled by the folder that the link stands for.
  return { ...args, ...place.spot(start), glob: scope.rest }
}

export function settledWalk(place: FilePlace, args: GlobSpot): SettledWalk {
  const base = place.settled({ ...args, path: args.path ?? '.' })
  const scope = args.glob === undefined ? undefined : globScope(args.glob)
  if (scope?.kind === 'bad') throw new TypeError('the arguments of this call were not resolved')
  const start = scope === undefined ? base : place.settled({ root: base.root, path: join(base.relative, scope.prefix) })
  return {
    base,
    start,
    names: new Set([...start.relative.split('/'), ...(scope?.names ?? [])]),
    matches: (below) => scope?.matches(below) ?? true,
  }
}

/** Why the folder that a call names cannot be walked; undefined where it can. A missing start of a glob only matches nothing. */
export function walkProblem({ base }: SettledWalk): ToolFailure | undefined {
  const looked = base.folder.look(base.relative)
  if (looked.kind !== 'ok') return failureFor(looked, base.relative)
  return looked.stat.isDirectory() ? undefined : failureFor({ kind: 'not-a-directory' }, base.relative)
}

export class GlobWalk {
  readonly #spot: SettledWalk
  readonly #walk: AllowedWalk

  constructor(spot: SettledWalk, context: RunContext) {
    this.#spot = spot
    this.#walk = new AllowedWalk(spot.start, { depthMax: DEPTH_MAX, names: spot.names }, context)
  }

  /** Regular files that match and that the caller may read, in the order of names. */
  async *files(): AsyncGenerator<WalkedEntry, void, void> {
    const { folder, relative } = this.#spot.start
    const looked = folder.look(relative)
    if (looked.kind !== 'ok' || !looked.stat.isDirectory()) return
    const skip = relative === '.' ? 0 : relative.length + 1
    for await (const entry of this.#walk.entries()) {
      if (entry.kind === 'file' && this.#spot.matches(entry.relative.slice(skip))) yield entry
    }
  }

  get bounds(): AllowedWalk {
    return this.#walk
  }

  leftOut(): LeftOut {
    return this.#walk.leftOut()
  }
}

const join = (folder: string, below: string): string =>
  folder === '.' ? below : below === '.' ? folder : `${folder}/${below}`
