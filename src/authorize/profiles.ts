// The named sets of defaults. A profile speaks only where no rule holds, and says how far the answer to a question may
// reach; it is data, so that what `explain profile` prints is what decides.

import type { Reach } from '../describe/decision.ts'
import { DECLARED_EFFECTS, type DeclaredEffect } from '../describe/effect.ts'
import type { Answer, ProfileName, RuleOptions } from './policy-options.ts'

export type Defaults = Readonly<Record<DeclaredEffect, Answer>>
export type Reaches = Readonly<Record<DeclaredEffect, Reach>>

export type Profile = {
  readonly defaults: Defaults
  /** Of questions about calls of an effect, whoever asks: a rule or a default. */
  readonly reach: Reaches
  /** A tool that is denied as a whole is not found, and a child is given nothing that is not named for it. */
  readonly denialsHidden: boolean
}

const ONCE: Reaches = Object.freeze({
  read: 'once',
  write: 'once',
  execute: 'once',
  external: 'once',
  destructive: 'once',
  undeclared: 'once',
})

export const PROFILE_OF: Readonly<Record<ProfileName, Profile>> = Object.freeze({
  coding: {
    defaults: Object.freeze({
      read: 'allow',
      write: 'ask',
      execute: 'ask',
      external: 'ask',
      destructive: 'deny',
      undeclared: 'ask',
    }),
    // A destructive call, and one of which nobody knows what it does, are answered one at a time.
    reach: Object.freeze({ ...ONCE, read: 'pattern', write: 'session' }),
    denialsHidden: false,
  },
  platform: {
    defaults: Object.freeze({
      read: 'deny',
      write: 'deny',
      execute: 'deny',
      external: 'deny',
      destructive: 'deny',
      undeclared: 'deny',
    }),
    reach: ONCE,
    denialsHidden: true,
  },
  strict: {
    defaults: Object.freeze({
      read: 'ask',
      write: 'ask',
      execute: 'ask',
      external: 'deny',
      destructive: 'deny',
      undeclared: 'deny',
    }),
    reach: ONCE,
    denialsHidden: false,
  },
})

/** One line of the table of defaults. `from`: whether the profile says so, or the policy's own `defaults`. */
export type DefaultRow = {
  readonly effect: DeclaredEffect
  readonly answer: Answer
  /** How far the answer to a question about such a call may reach. */
  readonly reach: Reach
  readonly from: 'profile' | 'defaults'
}

/** Defaults as plain rules, one for each answer, in the order of the effects. */
export function defaultsAsRules(defaults: Defaults): readonly RuleOptions[] {
  const answers: readonly Answer[] = ['allow', 'ask', 'deny']
  return answers.flatMap((answer) => {
    const effect = DECLARED_EFFECTS.filter((name) => defaults[name] === answer)
    return effect.length === 0 ? [] : [{ [answer]: { effect }, because: 'where no rule holds' }]
  })
}
