// How a text may be read that no tool has put into a canonical form: as a path with loose parts, as an address that readers
// understand in more than one way. It looks nothing up, and says so where it cannot tell.

/** `strict`: of a deny or ask, which one value is enough for. `wide`: of an allow, which every value has to meet. */
export type Side = 'strict' | 'wide'

const SCHEME = /^([a-z][a-z0-9+.-]+):/i
/** Schemes of which readers of URLs make a host out of nearly anything: one slash, none, or turned ones. */
const LENIENT = new Set(['http', 'https', 'ws', 'wss', 'ftp', 'file'])
/** Readers of URLs drop these, so they can hide what stands behind them. */
const DROPPED = /[\u0000-\u001f\u007f]/g
const OUTSIDE_HOST = /[#?\\@\s]/u

/**
 * Whether a reader of URLs might see another host, or another path, than the slashes show: `https://a.test#.b.test/x` goes
 * to `a.test`.
 */
function isDoubtfulUrl(text: string): boolean {
  if (!text.includes(':')) return false
  const bare = text.replace(DROPPED, '').trimStart()
  const scheme = SCHEME.exec(bare)?.[1]
  if (scheme === undefined) return false
  const rest = bare.slice(scheme.length + 1)
  const lenient = LENIENT.has(scheme.toLowerCase())
  if (!rest.startsWith('//')) return lenient
  const end = rest.indexOf('/', 2)
  const host = end < 0 ? rest.slice(2) : rest.slice(2, end)
  if (bare !== text || OUTSIDE_HOST.test(host)) return true
  if (!lenient) return false
  if (host === '' && scheme.toLowerCase() !== 'file') return true
  const [path = ''] = rest.slice(2 + host.length).split(/[?#]/u)
  return path.includes('\\') || /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/iu.test(path)
}

const STEPS_UP = /(?:^|\/)\.\.(?:\/|$)/
const LOOSE = /(?:^|\/)\.(?:\/|$)|\/\/|.\/$/

/**
 * How a text may be read that no tool has put into a canonical form. Undefined where it cannot be told without looking:
 * a step up leads elsewhere once a folder on the way is a link.
 */
export function readingsOf(text: string, side: Side): readonly string[] | undefined {
  if (isDoubtfulUrl(text)) return undefined
  if (!text.includes('/') && text !== '..') return [text]
  if (STEPS_UP.test(text)) return undefined
  if (!LOOSE.test(text) || text.includes('://')) return [text]
  const [first = '', ...rest] = text.split('/')
  const tight = [...(first === '.' ? [] : [first]), ...rest.filter((part) => part !== '' && part !== '.')].join('/')
  const settled = tight === '' ? (text.startsWith('/') ? '/' : '.') : tight
  return side === 'strict' ? [text, settled] : [settled]
}
