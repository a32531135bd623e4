// Who asks. Given by the host or by the transport's credential, never by a model.

import type { Layer } from './layer.ts'

/** A task that the host set for a conversation; `allow` narrows what may be called, an empty list allows nothing. */
export type Task = {
  readonly name: string
  /** Tool names or globs over tool names. Absent: the task narrows nothing. */
  readonly allow?: readonly string[]
}

/** The identity of a call. The principal is (tenant, user, agent). */
export type Caller = {
  readonly tenant: string
  readonly user: string
  readonly agent: string
  readonly roles: readonly string[]
  /** One conversation, named by the host. */
  readonly session: string
  readonly task?: Task
  /** The phase of the task: the name of one of the gate's steps. One that the gate does not know sees and calls nothing. */
  readonly step?: string
  /** The layers in force; absent: all of them. An empty list leaves no tool. */
  readonly layers?: readonly Layer[]
  /** Whoever this caller works for: it has no more authority than that one, and the policy asks about both. */
  readonly parent?: Caller
}

export type Principal = Pick<Caller, 'tenant' | 'user' | 'agent'>

export const principalOf = ({ tenant, user, agent }: Principal): Principal => ({ tenant, user, agent })

export const samePrincipal = (one: Principal, other: Principal): boolean =>
  one.tenant === other.tenant && one.user === other.user && one.agent === other.agent
