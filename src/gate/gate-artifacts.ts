// What a gate keeps of results that were cut, and who may read it: whoever's call it was, as far as that very call would be
// allowed today. One function answers for the tool, for arguments that name a result, and for the host.

import type { Clock } from '../base/clock.ts'
import type { Call, CallRequest } from '../describe/call.ts'
import { type Caller, principalOf } from '../describe/caller.ts'
import { ARGUMENT_BYTES_MAX, type ArgumentReferences, checkInput } from '../describe/check-input.ts'
import type { Decision } from '../describe/decision.ts'
import type { Entry } from '../describe/entry.ts'
import type { Tool } from '../describe/tool.ts'
import type { Catalogue } from '../discover/catalogue.ts'
import type { Views } from '../discover/view.ts'
import type { ArtifactsOptions, Gate, SessionOptions } from '../gate-contract.ts'
import { keepWholes } from '../observe/artifacts.ts'
import type { KeepWhole } from '../observe/keep-whole.ts'
import type { ArtifactRow, Store } from '../observe/store.ts'
import { type FoundArtifact, mayNameArtifacts, resolveReferences } from './argument-artifacts.ts'
import { ArtifactQueries } from './artifact-query.ts'
import type { GateAuthority } from './gate-authority.ts'
import { RESULT_BYTES } from './gate-shaping.ts'
import { ARTIFACTS } from './observing-options.ts'
import { READ_ARTIFACT, readArtifactTool } from './read-artifact.ts'

/** Tools of the gate itself. */
export const OWN = { source: 'lockgate', layer: 'builtin', identity: '', foreign: false } as const

/** How long the checks of a call's own tool may take when it is decided again. */
const CHECK_MS = 5_000
const LIST_DEFAULT = 100

export type GateArtifactsParts = {
  readonly store: Store
  readonly clock: Clock
  readonly options: false | ArtifactsOptions
  /** Bytes of one result. */
  readonly resultBytes: number | undefined
  readonly catalogue: Pick<Catalogue, 'add'>
  readonly views: Pick<Views, 'find'>
  readonly authority: Pick<GateAuthority, 'admit' | 'decideAgain'>
  readonly callerOf: (given: SessionOptions) => Caller
  /** A call that is looked at and never made. */
  readonly preview: (request: CallRequest) => Call
}

export class GateArtifacts {
  readonly keepWhole: KeepWhole
  readonly artifacts: Gate['artifacts']
  /** Undefined where nothing is kept: an object with the key `$artifact` is then one like any other. */
  readonly references: ArgumentReferences | undefined
  readonly #parts: GateArtifactsParts
  readonly #queries: ArtifactQueries
  readonly #tool: Tool

  constructor(parts: GateArtifactsParts) {
    const { clock, options, resultBytes = RESULT_BYTES, store } = parts
    this.#parts = parts
    this.#queries = new ArtifactQueries(clock)
    this.#tool = readArtifactTool({
      find: (id, caller) => this.#find(id, caller),
      ...{ queries: this.#queries, resultBytes },
    })
    this.keepWhole =
      options === false
        ? async () => ({ kind: 'refused', why: 'nothing is kept here' })
        : keepWholes({
            ...{ store: store.artifacts, clock, limits: { ...ARTIFACTS, ...options } },
            unreadable: (call) => this.#unreadable(call),
          })
    this.references = options === false ? undefined : this.#resolver()
    this.artifacts = {
      find: async (id, caller) => {
        const found = await this.#find(id, parts.callerOf(caller))
        return found.kind === 'ok' ? found.artifact : undefined
      },
      list: async ({ limit = LIST_DEFAULT } = {}) => {
        const rows = await store.artifacts.list({ limit })
        return rows.filter(({ expiresAt }) => expiresAt > clock.now())
      },
    }
  }

  /** Puts `read_artifact` into the catalogue, whatever is kept: the listing never depends on that. */
  register(): void {
    if (this.#parts.options !== false) this.#parts.catalogue.add(OWN, this.#tool)
  }

  close(): Promise<void> {
    return this.#queries.close()
  }

  #resolver(): ArgumentReferences {
    return {
      has: mayNameArtifacts,
      replace: (call, args, bytesMax) => resolveReferences(args, bytesMax, (id) => this.#find(id, call.caller)),
    }
  }

  #unreadable(call: Call): string | undefined {
    if (call.trail.entry?.tool === this.#tool) return 'a window of a kept result is not kept again'
    const found = this.#parts.views.find(call.caller, READ_ARTIFACT)
    const mayRead =
      found.kind === 'found' &&
      found.entry.tool === this.#tool &&
      this.#parts.authority.admit(call.caller, found.entry).kind !== 'deny'
    return mayRead ? undefined : 'this caller cannot read results that are kept'
  }

  // INVARIANT last-check: what is kept is shown under the decision of now, never under that of then.
  async #find(id: string, caller: Caller): Promise<FoundArtifact> {
    const { clock, options, store } = this.#parts
    if (options === false) return NOT_KEPT
    const artifact = await store.artifacts.find(id, principalOf(caller), clock.now())
    if (artifact === undefined) return NOT_KEPT
    const why = await this.#deniesNow(artifact.row.call, caller)
    return why === undefined ? { kind: 'ok', artifact } : { kind: 'refused', why }
  }

  /** Why the call whose result it is would not be allowed now; the words tell nothing of a tool that may be hidden by now. */
  async #deniesNow(made: ArtifactRow['call'], caller: Caller): Promise<string | undefined> {
    const { authority, clock, preview, views } = this.#parts
    const found = views.find(caller, made.tool)
    if (found.kind === 'missing' || found.entry.fingerprint !== made.fingerprint) return CHANGED
    const { entry } = found
    if (authority.admit(caller, entry).kind === 'deny') return DENIED
    const call = preview({ caller, entrance: 'library', name: made.tool, arguments: made.argumentsText })
    const input = await checkInput(call, entry, ARGUMENT_BYTES_MAX, clock, clock.monotonic() + CHECK_MS)
    if (input.kind === 'invalid') return input.code === 'permission_denied' ? DENIED : CHANGED
    if (input.text !== made.argumentsText) return CHANGED
    return standsAgainst(authority.decideAgain(caller, entry, input), made, entry)
  }
}

function standsAgainst(decision: Decision, made: ArtifactRow['call'], { tool }: Entry): string | undefined {
  if (decision.kind === 'deny') return DENIED
  if (decision.kind === 'ask' && !made.approved) return DENIED
  // What such a tool showed was filtered by the rules of then.
  return tool.walks === true && decision.policyVersion !== made.policyVersion ? CHANGED : undefined
}

const NOT_KEPT: FoundArtifact = Object.freeze({
  ...{ kind: 'refused', why: 'nothing is kept under this id for this caller: it has expired, or never was there' },
} as const)
const DENIED = 'the call whose result it is would not be allowed now'
const CHANGED =
  'the call whose result it is cannot be judged as it was made, since tools or rules have changed; make it again'
