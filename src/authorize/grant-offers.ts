// How far a person may let an answer reach, and in which words. It offers nothing that the rules do not let reach so far,
// nothing wider than once for what cannot be taken back or what nobody vouches for, and no pattern that it cannot put into
// words: what is shown is never narrower than what a grant matches.

import type { JsonObject } from '../base/json-value.ts'
import type { Reach } from '../describe/decision.ts'
import {
  type AskingCall,
  bindsText,
  exactly,
  type Granted,
  grantCovers,
  literal,
  mayReachFurther,
  reachesTo,
  touchesOneFile,
  type Where,
} from './grant.ts'
import { visibleQuoted, visibleText } from './visible-text.ts'

export type Offer = {
  readonly reach: Reach
  readonly shown: string
  readonly where?: Where
  readonly onlyNamed?: true
}

/** Values of more arguments, or longer ones, are no pattern that anybody would read. */
const VALUES_MAX = 8
const VALUE_CHARACTERS_MAX = 200
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** The first is always `once`. `grantMs`: how long a grant would hold. */
export function offersFor(call: AskingCall, grantMs: number): readonly Offer[] {
  const { caller, entry, input, decision } = call
  const offers: Offer[] = [{ reach: 'once', shown: 'this one call' }]
  if (decision.kind !== 'ask' || !mayReachFurther(input.effect) || bindsText(input)) return offers
  const name = (text: string): string => visibleText(text).text
  const calls = `of \`${name(entry.tool.name)}\` with effect ${input.effect}`
  const who = `${name(caller.agent)} for ${name(caller.user)}`
  const until = `for ${duration(grantMs)} after the answer`
  if (reachesTo(decision, 'session'))
    offers.push({ reach: 'session', shown: `every call ${calls} by ${who} in this session, ${until}` })
  const pattern = reachesTo(decision, 'pattern') ? patternOf(call) : undefined
  if (pattern === undefined) return offers
  const { words, ...matched } = pattern
  const shown = `calls ${calls} by ${who} in any session, ${words}, ${until}`
  const offer: Offer = { reach: 'pattern', shown, ...matched }
  // A pattern that would not even cover the call that it was made from is none.
  return grantCovers(grantOf(call, offer), call) ? [...offers, offer] : offers
}

type Pattern = Pick<Offer, 'onlyNamed'> & { readonly where: Where; readonly words: string }

/** The folder of the one file that is touched; else exactly the values that stand there. */
function patternOf({ entry, input }: AskingCall): Pattern | undefined {
  const { path } = input.args
  if (typeof path === 'string' && entry.tool.resolve !== undefined && touchesOneFile(input))
    return folderPattern(path, input.args.root, touchesFolder(input))
  return exactPattern(input.args)
}

/** The call is about a folder and all below it, and not about one file in it. */
const touchesFolder = ({ touches }: AskingCall['input']): boolean =>
  touches.kind === 'known' && touches.resources.some(({ key }) => key.endsWith('/*'))

function folderPattern(path: string, root: unknown, isFolder: boolean): Pattern | undefined {
  // Where there are several roots, the same path names another file below each.
  if (root !== undefined && typeof root !== 'string') return undefined
  const folder = isFolder && path !== '.' ? path : path.slice(0, Math.max(0, path.lastIndexOf('/')))
  const inRoot = root === undefined ? '' : ` in the root ${visibleQuoted(root).text}`
  const others = 'whatever the other arguments are'
  const rooted = root === undefined ? {} : { root: [literal(root)] }
  if (folder === '')
    return {
      where: { path: [literal(path)], ...rooted },
      words: `where \`path\` is exactly ${visibleQuoted(path).text}${inRoot}, ${others}`,
    }
  return {
    where: { path: [...(isFolder ? [literal(folder)] : []), `${literal(folder)}/**`], ...rooted },
    words: `where \`path\` is ${visibleQuoted(folder).text} or anything below it, however deep${inRoot}, ${others}`,
  }
}

function exactPattern(args: JsonObject): Pattern | undefined {
  const entries = Object.entries(args)
  if (entries.length === 0 || entries.length > VALUES_MAX) return undefined
  const where: Record<string, readonly string[]> = Object.create(null)
  const words: string[] = []
  for (const [name, value] of entries) {
    if (!isPlain(name) || (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean'))
      return undefined
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const exact = exactly(value)
    if (text === '' || text.length > VALUE_CHARACTERS_MAX || exact === undefined) return undefined
    where[name] = [exact]
    words.push(`\`${name}\` is exactly ${typeof value === 'string' ? visibleQuoted(value).text : text}`)
  }
  return {
    where: { ...where },
    onlyNamed: true,
    words: `where ${words.join(' and ')} and there are no other arguments`,
  }
}

/** A name that means itself: a dot would lead to a nested argument. */
const isPlain = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name) && name !== '__proto__'

function grantOf({ caller, workspace, entry, input, decision, askedBy }: AskingCall, offer: Offer): Granted {
  const { tenant, user, agent, task } = caller
  return {
    ...{ reach: offer.reach, tenant, user, agent, workspace },
    ...(task === undefined ? {} : { task: task.name }),
    ...{ tool: entry.tool.name, fingerprint: entry.fingerprint, effect: input.effect },
    ...(offer.where === undefined ? {} : { where: offer.where }),
    ...(offer.onlyNamed === undefined ? {} : { onlyNamed: offer.onlyNamed }),
    policyVersion: decision.policyVersion,
    askedBy,
  }
}

function duration(milliseconds: number): string {
  if (milliseconds % HOUR_MS === 0) return `${milliseconds / HOUR_MS} h`
  if (milliseconds % MINUTE_MS === 0) return `${milliseconds / MINUTE_MS} min`
  return `${milliseconds / 1_000} s`
}
