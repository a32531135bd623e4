// The rules, for those who write them: why a call gets its answer, who may do what, what other rules would change. It asks
// the same rooms that calls go through, runs no tool, records nothing and changes no rule but by `reload`.

import type { PolicyOptions, ProfileName } from '../authorize/policy-options.ts'
import type {
  CaseResult,
  ExplainedCall,
  MatrixRow,
  NamedCall,
  PolicyCase,
  PolicyDesk,
  PolicyReloaded,
  RecordedRange,
  Replay,
  ReplayOptions,
  RuleRow,
  SessionOptions,
  Simulation,
  Suggestion,
  ViewRow,
} from '../gate-contract.ts'
import type { DeskParts } from './desk-parts.ts'
import { explainCall } from './explain-call.ts'
import { matrixOf } from './matrix.ts'
import { runCase } from './run-case.ts'

/** The desk of one gate. */
export class GatePolicyDesk implements PolicyDesk {
  readonly #parts: DeskParts

  constructor(parts: DeskParts) {
    this.#parts = parts
  }

  get version(): string {
    return this.#parts.policy().version
  }

  get profile(): ProfileName {
    return this.#parts.policy().profile
  }

  rules(): readonly RuleRow[] {
    return this.#parts.policy().matchesNow(this.#parts.catalogue.items().map(({ entry }) => entry))
  }

  async explain(caller: SessionOptions, call: Pick<NamedCall, 'name' | 'arguments'>): Promise<ExplainedCall> {
    return explainCall(this.#parts, this.#parts.callerOf(caller), call)
  }

  matrix(callers: readonly SessionOptions[], tools?: readonly string[]): readonly MatrixRow[] {
    return matrixOf(
      this.#parts,
      callers.map((caller) => this.#parts.callerOf(caller)),
      tools,
    )
  }

  reload(policy: PolicyOptions): Promise<PolicyReloaded> {
    return this.#parts.reload(policy)
  }

  view(options: SessionOptions): readonly ViewRow[] {
    const caller = this.#parts.callerOf(options)
    return this.#parts.catalogue.items().map((item) => ({
      tool: item.entry.tool.name,
      source: item.entry.source,
      ...this.#parts.why(caller, item),
    }))
  }

  async test(cases: readonly PolicyCase[]): Promise<readonly CaseResult[]> {
    const results: CaseResult[] = []
    for (const [index, one] of cases.entries()) results.push(await runCase(this.#parts, one, index))
    return results
  }

  // Who asks what other rules would do waits a little longer for it, and a gate that never does loads none of it.
  async simulate(policy: PolicyOptions, range: RecordedRange = {}): Promise<Simulation> {
    const { simulate } = await import('./simulate.ts')
    return simulate(this.#parts, policy, range)
  }

  async suggest(range: RecordedRange = {}): Promise<readonly Suggestion[]> {
    const { suggest } = await import('./suggest.ts')
    return suggest(this.#parts, range)
  }

  /** Not a word about rules, but asked of the same rooms. */
  async replay(session: string, options: ReplayOptions = {}): Promise<Replay> {
    const { replaySession } = await import('./replay.ts')
    return replaySession(this.#parts, session, options)
  }
}
