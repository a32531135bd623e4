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

/** A host that has no other spelling: no capitals, no escapes, no port, no number in place of a name. */
const PLAIN_ADDRESS = /^[a-z][a-z0-9+.-]+:\/\/(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*(?:[/?#]|$)/

/**
 * An address with scheme and host in the one spelling that readers of URLs make of them: `HTTPS://A.Test.:443/x` is
 * `https://a.test/x`. The rest stays as it is. Undefined where they read no host at all.
 */
function settledAddress(text: string, side: Side): string | undefined {
  const scheme = SCHEME.exec(text)?.[1] ?? ''
  if (PLAIN_ADDRESS.test(text) || !text.startsWith('://', scheme.length)) return text
  const kind = scheme.toLowerCase()
  const [, host = '', rest = ''] = /^([^/?#]*)(.*)$/su.exec(text.slice(scheme.length + 3)) ?? []
  // Elsewhere the letter case of what stands for a host may count.
  if (!LENIENT.has(kind)) return `${kind}://${side === 'strict' ? host.toLowerCase() : host}${rest}`
  const bare = `${kind}://${host}/`
  return URL.canParse(bare) ? `${kind}://${new URL(bare).host.replace(/\.(?=:|$)/, '')}${rest}` : undefined
}

/** Every spelling of a text that may be an address; undefined where what it means cannot be told. */
export function addressSpellings(text: string): readonly string[] | undefined {
  if (isDoubtfulUrl(text)) return undefined
  const settled = settledAddress(text, 'strict')
  return settled === text ? [text] : inOrder(text, settled, 'strict')
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
  if (text.includes('://')) {
    const address = settledAddress(text, side)
    return address === text ? [text] : inOrder(text, address, side)
  }
  if (!LOOSE.test(text)) return [text]
  const [first = '', ...rest] = text.split('/')
  const tight = [...(first === '.' ? [] : [first]), ...rest.filter((part) => part !== '' && part !== '.')].join('/')
  const settled = tight === '' ? (text.startsWith('/') ? '/' : '.') : tight
  return inOrder(text, settled, side)
}

function inOrder(text: string, settled: string | undefined, side: Side): readonly string[] | undefined {
  if (settled === undefined) return undefined
  return side === 'strict' ? [text, settled] : [settled]
}
