// What the policy desk is given of the rooms. It holds no executor and no way to one: nothing that it does runs a tool.

import type { LoadedPolicy, Policy } from '../authorize/policy.ts'
import type { PolicyOptions } from '../authorize/policy-options.ts'
import type { Rooms } from '../call-tool.ts'
import type { Call, CallRequest } from '../describe/call.ts'
import type { Caller } from '../describe/caller.ts'
import type { Catalogue, CatalogueItem } from '../discover/catalogue.ts'
import type { PolicyReloaded, SessionOptions } from '../gate-contract.ts'
import type { Store } from '../observe/store.ts'

export type DeskParts = {
  /** The rooms that calls go through, but for the ones that run or record something. */
  readonly rooms: Pick<Rooms, 'catalogue' | 'policy' | 'check'>
  readonly catalogue: Pick<Catalogue, 'find' | 'items'>
  /** The policy that holds now, without the rules of any session. */
  readonly policy: () => Policy
  /** The same with the rules of the caller's session. */
  readonly policyOf: (caller: Caller) => Policy
  /** Throws GateConfigError for a caller that does not hold. Rules that it brings are known to `policyOf` from then on. */
  readonly callerOf: (options: SessionOptions) => Caller
  /** A call that is looked at and never made. */
  readonly preview: (request: CallRequest) => Call
  /** Whether an item of the catalogue is in a caller's view, and why or why not. */
  readonly why: (caller: Caller, item: CatalogueItem) => { readonly seen: boolean; readonly why: string }
  readonly store: Pick<Store, 'records' | 'chains' | 'flush'>
  /** Loads other rules over the same workspace and tools; takes none of them into force. */
  readonly load: (options: PolicyOptions) => LoadedPolicy
  readonly reload: (options: PolicyOptions) => Promise<PolicyReloaded>
}
