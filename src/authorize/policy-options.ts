// The rules as a host or a configuration file gives them, before anything is checked.

import type { DeclaredEffect } from '../describe/effect.ts'

export type Answer = 'allow' | 'ask' | 'deny'

/** What a rule speaks of. A name or glob speaks of tools by name; in an object all keys must hold. */
export type RuleSubject =
  | string
  | readonly string[]
  | {
      readonly tool?: string | readonly string[]
      readonly source?: string | readonly string[]
      readonly effect?: DeclaredEffect | readonly DeclaredEffect[]
      /** `verb kind:glob`, e.g. `read file:**\/.env*`. Relative file globs count from the workspace root. */
      readonly resource?: string | readonly string[]
    }

/** Which callers a rule speaks of. All keys must hold; each takes a value, a glob in which `*` spans everything, or a list of them. */
export type RuleCallers = {
  readonly agent?: string | readonly string[]
  readonly user?: string | readonly string[]
  readonly role?: string | readonly string[]
  readonly tenant?: string | readonly string[]
  readonly task?: string | readonly string[]
}

/** A glob over the text of an argument. Numbers and booleans are compared by their JSON text. */
export type ArgumentGlob = string | number | boolean

/** Exactly one of `allow`, `ask`, `deny`; every other key narrows. */
export type RuleOptions = {
  readonly allow?: RuleSubject
  readonly ask?: RuleSubject
  readonly deny?: RuleSubject
  readonly for?: RuleCallers
  /** Argument name (`path`, or `author.name` for a nested one) → glob or list of globs over the canonical argument. */
  readonly where?: Readonly<Record<string, ArgumentGlob | readonly ArgumentGlob[]>>
  readonly because?: string
  /** Where the rule stands; filled in by whoever read the file. */
  readonly at?: { readonly file: string; readonly line: number; readonly column: number }
}

export type PolicyOptions = {
  readonly defaults?: Partial<Readonly<Record<DeclaredEffect, Answer>>>
  readonly rules?: readonly RuleOptions[]
}
