// The rules as a host or a configuration file gives them, before anything is checked.

import type { JsonObject } from '../base/json-value.ts'
import type { RuleOrigin } from '../describe/decision.ts'
import type { DeclaredEffect } from '../describe/effect.ts'
import type { Place } from '../describe/place.ts'

export type Answer = 'allow' | 'ask' | 'deny'

/** What a rule speaks of. A name or glob speaks of tools by name; in an object all keys must hold. */
export type RuleSubject =
  | string
  | readonly string[]
  | {
      readonly tool?: string | readonly string[]
      readonly source?: string | readonly string[]
      /** Names of the policy's `groups`. */
      readonly group?: string | readonly string[]
      readonly effect?: DeclaredEffect | readonly DeclaredEffect[]
      /** `verb kind:glob`, e.g. `read file:**\/.env*`. Relative file globs count from the workspace root. */
      readonly resource?: string | readonly string[]
      /** Programs that a call starts, by the bare names that callers know, or globs over them. */
      readonly program?: string | readonly string[]
      /** Whether the program, called with these arguments, certainly only reads. */
      readonly reads?: boolean
    }

/** Which callers a rule speaks of. All keys must hold; each takes a value, a glob in which `*` spans everything, or a list of them. */
export type RuleCallers = {
  readonly agent?: string | readonly string[]
  readonly user?: string | readonly string[]
  readonly role?: string | readonly string[]
  readonly tenant?: string | readonly string[]
  readonly task?: string | readonly string[]
  readonly step?: string | readonly string[]
}

/** A glob over the text of an argument. Numbers and booleans are compared by their JSON text. */
export type ArgumentGlob = string | number | boolean

/** All keys must hold. `in`: equal to one of these. `min`, `max`: a number, both ends included. `prefix`: a text that begins so. */
export type ArgumentTest = {
  readonly in?: readonly ArgumentGlob[]
  readonly min?: number
  readonly max?: number
  readonly prefix?: string
}

/** Arguments of a call of a tool that the rule speaks of; or, for a rule about resources, one resource: `read file:.env`. */
export type RuleExample = JsonObject | string

export type RuleExamples = { readonly match?: readonly RuleExample[]; readonly miss?: readonly RuleExample[] }

/** Exactly one of `allow`, `ask`, `deny`; every other key narrows. */
export type RuleOptions = {
  readonly allow?: RuleSubject
  readonly ask?: RuleSubject
  readonly deny?: RuleSubject
  readonly for?: RuleCallers
  /** Argument name (`path`, or `author.name` for a nested one) → glob or list of globs over the canonical argument. */
  readonly where?: Readonly<Record<string, ArgumentGlob | readonly ArgumentGlob[] | ArgumentTest>>
  /** A CEL expression over `args`, `caller`, `tool` and `resources` that has to be true. */
  readonly when?: string
  /** Of an `allow` or `ask`: calls that the rule holds for run in one of these places, or are denied. */
  readonly place?: Place | readonly Place[]
  /** Checked whenever the rule is loaded: it has to hold for each `match` and for no `miss`. */
  readonly examples?: RuleExamples
  /** Default: `user`. */
  readonly origin?: RuleOrigin
  readonly because?: string
  /** Where the rule stands; filled in by whoever read the file. */
  readonly at?: { readonly file: string; readonly line: number; readonly column: number }
}

export const PROFILES = ['coding', 'platform', 'strict'] as const
/** A named set of defaults; `explain profile` prints each. */
export type ProfileName = (typeof PROFILES)[number]

/** What a step of a task may use: a tool has to have one of the effects and be in one of the groups, where these are named. */
export type StepOptions = { readonly effects?: readonly DeclaredEffect[]; readonly groups?: readonly string[] }

export type PolicyOptions = {
  /** Default: `coding`. */
  readonly profile?: ProfileName
  /** Names of sets of tools, by tool name or glob, for rules and steps. */
  readonly groups?: Readonly<Record<string, readonly string[]>>
  readonly steps?: Readonly<Record<string, StepOptions>>
  readonly defaults?: Partial<Readonly<Record<DeclaredEffect, Answer>>>
  readonly rules?: readonly RuleOptions[]
  /** Rules of origin `project` may allow as well. Default: false. */
  readonly trustProject?: boolean
}
