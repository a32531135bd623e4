// Where a walk by glob has to begin and what it has to match. The leading names of a glob that hold no wildcard are a path
// like any other, and are judged as one, so that no glob leads out of the workspace or through a link out of it.

import { compileGlob } from '../../../base/glob.ts'

export type GlobScope = {
  readonly kind: 'ok'
  /** The leading names without wildcards, `/` between them; '.' where there are none. */
  readonly prefix: string
  /** The glob below the prefix, which means the same when it is given again. */
  readonly rest: string
  /** Names that the glob spells out anywhere: asking for `node_modules` by name searches it. */
  readonly names: ReadonlySet<string>
  /** Whether a path below the prefix, relative to it, matches. */
  matches(relativeToPrefix: string): boolean
}

export type GlobScopeResult =
  | GlobScope
  | { readonly kind: 'bad'; readonly code: 'invalid_args' | 'unsafe_args'; readonly reason: string }

/** A glob without `/` matches names at any depth. */
export function globScope(glob: string): GlobScopeResult {
  const unsafe = (reason: string): GlobScopeResult => ({ kind: 'bad', code: 'unsafe_args', reason })
  if (/^([a-z]:)?[\\/]/i.test(glob) || /^(file:|[a-z][a-z0-9+.-]*:\/\/)/i.test(glob))
    return unsafe('a glob is relative to the folder that is searched; leave out the leading `/`')
  if (/^~($|[^/]*\/)/.test(glob))
    return unsafe('`~` is not expanded; a glob is relative to the folder that is searched')
  const compiled = compileGlob(glob)
  if (compiled.kind === 'bad') return { kind: 'bad', code: 'invalid_args', reason: compiled.reason }
  if (glob.split(/[/{},]/).includes('..'))
    return unsafe('a glob cannot go up with `..`; search from a folder further up instead')
  const segments = glob.includes('/')
    ? glob.split('/').filter((segment) => segment !== '' && segment !== '.')
    : ['**', glob]
  const plain = segments.findIndex((segment) => /[*?[\]{}!\\]/.test(segment))
  const count = Math.min(plain < 0 ? segments.length : plain, segments.length - 1)
  const below = segments.slice(count).join('/')
  const rest = compileGlob(below)
  if (rest.kind === 'bad') return { kind: 'bad', code: 'invalid_args', reason: rest.reason }
  return {
    kind: 'ok',
    prefix: segments.slice(0, count).join('/') || '.',
    rest: below.includes('/') ? below : `./${below}`,
    names: new Set(segments.filter((segment) => !/[*?]/.test(segment)).flatMap((segment) => segment.split(/[{},]/))),
    matches: (relative) => rest.matches(relative),
  }
}
