// Judges the text of a path that a model wrote, before anything is looked at on disk. It changes nothing: no `~`, no percent
// or URI decoding, no trimming, no Unicode normalisation, so that what is checked is what is opened. A pure function of the
// text, the root and the platform; the links on the way are `rooted-canonical.ts`'s to follow.

export type Platform = 'linux' | 'darwin' | 'win32'

const PATH_BYTES_MAX = 4_096
const NAME_BYTES_MAX = 255

/**
 * `segments`: below the root, in order, without `.` and empty ones. A `..` stays where it stands, because behind a link it
 * means the parent of the link's target. `relative`: the same with `..` taken as text; '.' for the root.
 */
export type RootedPath =
  | { readonly kind: 'ok'; readonly segments: readonly string[]; readonly relative: string }
  | { readonly kind: 'refused'; readonly reason: string }

/** What a refusal says about every path that ends up elsewhere: never where. */
export const OUTSIDE = 'the path leaves the workspace; give one inside it, relative to its root'

const refused = (reason: string): RootedPath => ({ kind: 'refused', reason })

/**
 * @param spellings The root folder, absolute, in each spelling under which a caller may know it (the real path first).
 */
export function rootedPath(input: unknown, spellings: readonly string[], platform: Platform): RootedPath {
  if (typeof input !== 'string') return refused('a path is text')
  const problem = textProblem(input) ?? (platform === 'win32' ? win32Problem(input) : undefined)
  if (problem !== undefined) return refused(problem)
  const below = belowRoot(input, spellings, platform)
  if (below === undefined) return refused(OUTSIDE)
  const name = below.segments.map((segment) => nameProblem(segment, platform)).find((found) => found !== undefined)
  if (name !== undefined) return refused(name)
  // The canonical form is given again later, so what is refused at the front of a path is refused at the front of that form.
  const front = frontProblem(below.relative)
  return front === undefined ? { kind: 'ok', ...below } : refused(front)
}

function textProblem(text: string): string | undefined {
  if (text === '') return 'the path is empty; `.` names the root of the workspace'
  if (text.includes('\0')) return 'the path holds a NUL character'
  if (/\p{Surrogate}/u.test(text)) return 'the path holds half of a surrogate pair, which no file name can'
  if (Buffer.byteLength(text) > PATH_BYTES_MAX) return `the path is longer than ${PATH_BYTES_MAX} bytes`
  return frontProblem(text)
}

/** `file:name.txt` and `~notes.txt` are names; `file:/x`, `http://x`, `~/x` and `~user/x` ask for something else. */
function frontProblem(text: string): string | undefined {
  if (/^file:[/\\]/i.test(text) || /^[a-z][a-z0-9+.-]*:\/\//i.test(text))
    return 'the path is a URI; give a plain path relative to the root of the workspace'
  if (/^~($|[^/\\]*\/)/.test(text)) return '`~` is not expanded; give a path relative to the root of the workspace'
  return undefined
}

function win32Problem(text: string): string | undefined {
  if (/^[\\/]{2}/.test(text))
    return 'network and device paths are not accepted; give a path relative to the root of the workspace'
  if (/^[a-z]:(?![\\/])/i.test(text))
    return 'a drive without a root is not accepted; give a path relative to the root of the workspace'
  if (/^~[^/\\]*\\/.test(text)) return '`~` is not expanded; give a path relative to the root of the workspace'
  return undefined
}

const isAbsolute = (text: string, platform: Platform): boolean =>
  platform === 'win32' ? /^([a-z]:)?[\\/]/i.test(text) : text.startsWith('/')

const split = (text: string, platform: Platform): readonly string[] =>
  text.split(platform === 'win32' ? /[\\/]/ : '/').filter((segment) => segment !== '' && segment !== '.')

/**
 * The part of a path that lies below the root: everything after the last time that the path, read as text, comes into the
 * root from outside. A common prefix of letters is not enough (`/ws-evil` is not inside `/ws`), nor is `..` at the front of
 * a name (`..foo`).
 */
function belowRoot(text: string, spellings: readonly string[], platform: Platform) {
  const segments = split(text, platform)
  if (!isAbsolute(text, platform))
    return enter([...split(spellings[0] ?? '', platform)], segments, 0, [spellings[0] ?? ''], platform)
  return enter([], segments, undefined, spellings, platform)
}

function enter(
  stack: string[],
  segments: readonly string[],
  entered: number | undefined,
  spellings: readonly string[],
  platform: Platform,
): { readonly segments: readonly string[]; readonly relative: string } | undefined {
  const roots = spellings.map((root) => split(root, platform).map((name) => foldFor(name, platform)))
  let start = entered
  let depth = stack.length
  const check = (index: number): void => {
    const root = roots.find((names) => isBelow(stack, names, platform))
    if (root === undefined) start = undefined
    else {
      start ??= index
      depth = root.length
    }
  }
  check(0)
  segments.forEach((segment, index) => {
    if (segment === '..') stack.pop()
    else stack.push(segment)
    check(index + 1)
  })
  if (start === undefined) return undefined
  return { segments: segments.slice(start), relative: stack.slice(depth).join('/') || '.' }
}

const isBelow = (stack: readonly string[], root: readonly string[], platform: Platform): boolean =>
  stack.length >= root.length && root.every((name, index) => foldFor(stack[index] ?? '', platform) === name)

const foldFor = (name: string, platform: Platform): string =>
  platform === 'linux' ? name : name.normalize('NFC').toLowerCase()

function nameProblem(name: string, platform: Platform): string | undefined {
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) return `a name in the path is longer than ${NAME_BYTES_MAX} bytes`
  return platform === 'win32' && name !== '..' ? win32NameProblem(name) : undefined
}

const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)/i
const SHORT_NAME = /^[^.]{1,6}~\d+(\.[^.]{0,3})?$/

/** Names that Windows reads as something else than they are spelled. */
function win32NameProblem(name: string): string | undefined {
  if (/[<>:"|?*\u0000-\u001f]/.test(name))
    return 'a name in the path holds a character that Windows gives another meaning'
  if (DEVICE.test(name)) return 'a name in the path is reserved for a device'
  if (/[. ]$/.test(name)) return 'a name in the path ends in a dot or a blank, which Windows drops'
  if (SHORT_NAME.test(name)) return 'a name in the path looks like a short name; give the long one'
  return undefined
}
