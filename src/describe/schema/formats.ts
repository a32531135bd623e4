// The formats of JSON Schema that are checked, each in time linear in the text. Formats that are not listed, such as
// `int32`, are annotations, as the standard says. Nothing is resolved, fetched or opened.

import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

type Format = (text: string) => boolean

const matching =
  (pattern: RegExp): Format =>
  (text) =>
    pattern.test(text)

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number)
  if (year === undefined || month === undefined || day === undefined) return false
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && isLeapYear ? 29 : (DAYS[month - 1] ?? 0)
  return day >= 1 && day <= days
}

function isTime(text: string): boolean {
  const found = TIME.exec(text)
  if (found === null) return false
  const [hour = 0, minute = 0, second = 0] = found.slice(1, 4).map(Number)
  const [offsetHour, offsetMinute] = [Number(found[5] ?? 0), Number(found[6] ?? 0)]
  if (hour > 23 || minute > 59 || offsetHour > 23 || offsetMinute > 59) return false
  if (second < 60) return true
  // A leap second ends a day of UTC.
  const offset = (found[4] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute)
  return second === 60 && (hour * 60 + minute - offset + 1440) % 1440 === 1439
}

function isDateTime(text: string): boolean {
  return /^.{10}t/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11))
}

/** RFC 3339, appendix A: units follow each other without a gap, and weeks stand alone. */
const DURATION_TIME = 'T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)'
const DURATION_DATE = '(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)'
const DURATION = new RegExp(`^P(?:${DURATION_DATE}(?:${DURATION_TIME})?|${DURATION_TIME}|\\d+W)$`)

const HOST_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

const isHostname: Format = (text) => text.length <= 253 && text.split('.').every((label) => HOST_LABEL.test(label))

function isInternationalHostname(text: string): boolean {
  if (text.length > 253 || /[\s/?#@:\\%]/.test(text)) return false
  return isHostname(domainToASCII(text))
}

const DOT_ATOM = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i
const QUOTED = /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at < 1 || text.length > 320) return false
  const local = text.slice(0, at)
  const domain = text.slice(at + 1)
  if (!DOT_ATOM.test(local) && !QUOTED.test(local)) return false
  if (!domain.startsWith('[')) return isHostname(domain)
  const literal = domain.slice(1, -1)
  return domain.endsWith(']') && (isIPv4(literal) || (/^ipv6:/i.test(literal) && isIPv6Text(literal.slice(5))))
}

function isInternationalEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at < 1 || text.length > 320 || /[\s\p{Cc}]/u.test(text)) return false
  return isInternationalHostname(text.slice(at + 1)) && !text.slice(0, at).includes('@')
}

const isIPv6Text: Format = (text) => isIPv6(text) && !text.includes('%')

/** RFC 3986, appendix B: each part ends where a character begins that it cannot hold, so this never backtracks far. */
const URI_PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s
const SCHEME = /^[a-z][a-z0-9+.-]*$/i
const PORT = /^(?::\d*)?$/
const IP_FUTURE = /^v[0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+$/i

/** `others` is the inside of a class of characters beyond ASCII that may stand unescaped. */
function uriFormat(others: string, isAbsolute: boolean): Format {
  const characters = (extra: string): RegExp =>
    new RegExp(`^(?:[a-z0-9\\-._~!$&'()*+,;=${extra}${others}]|%[0-9a-f]{2})*$`, 'iu')
  const name = characters('')
  const userInfo = characters(':')
  const path = characters(':@/')
  const queryOrFragment = characters(':@/?')
  const isAuthority = (authority: string): boolean => {
    const at = authority.lastIndexOf('@')
    if (at >= 0 && !userInfo.test(authority.slice(0, at))) return false
    const host = authority.slice(at + 1)
    if (host.startsWith('[')) {
      const end = host.indexOf(']')
      const literal = host.slice(1, end)
      return end > 0 && (isIPv6Text(literal) || IP_FUTURE.test(literal)) && PORT.test(host.slice(end + 1))
    }
    const colon = host.indexOf(':')
    return colon < 0 ? name.test(host) : name.test(host.slice(0, colon)) && PORT.test(host.slice(colon))
  }
  return (text) => {
    const [, scheme, authority, rest = '', query = '', fragment = ''] = URI_PARTS.exec(text) ?? []
    if (scheme === undefined ? isAbsolute : !SCHEME.test(scheme)) return false
    if (authority !== undefined && !isAuthority(authority)) return false
    return path.test(rest) && queryOrFragment.test(query) && queryOrFragment.test(fragment)
  }
}

const BEYOND_ASCII = '\\u{a0}-\\u{d7ff}\\u{e000}-\\u{fdcf}\\u{fdf0}-\\u{ffef}\\u{10000}-\\u{effff}'

/** RFC 6570 with its erratum: an apostrophe may stand in a literal. */
const TEMPLATE_NAME = '(?:\\w|%[0-9a-f]{2})(?:\\.?(?:\\w|%[0-9a-f]{2}))*(?::[1-9]\\d{0,3}|\\*)?'
const TEMPLATE_LITERAL = '[^\\x00-\\x20\\x7f"<>%\\\\^`{|}]|%[0-9a-f]{2}'
const URI_TEMPLATE = new RegExp(
  `^(?:${TEMPLATE_LITERAL}|\\{[+#./;?&=,!@|]?${TEMPLATE_NAME}(?:,${TEMPLATE_NAME})*\\})*$`,
  'i',
)

const REGULAR_EXPRESSION_MAX = 10_000

function isRegularExpression(text: string): boolean {
  if (text.length > REGULAR_EXPRESSION_MAX) return false
  try {
    new RegExp(text, 'u')
    return true
  } catch {
    return false
  }
}

/** Steps that a check pays for each character of a text in this format; the engine takes its time to read a pattern. */
export const stepsPerCharacter = (format: string): number => (format === 'regex' ? 8 : 2)

export const FORMATS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['date', isDate],
  ['time', isTime],
  ['date-time', isDateTime],
  ['duration', matching(DURATION)],
  ['email', isEmail],
  ['idn-email', isInternationalEmail],
  ['hostname', isHostname],
  ['idn-hostname', isInternationalHostname],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6Text],
  ['uri', uriFormat('', true)],
  ['uri-reference', uriFormat('', false)],
  ['iri', uriFormat(BEYOND_ASCII, true)],
  ['iri-reference', uriFormat(BEYOND_ASCII, false)],
  ['uri-template', matching(URI_TEMPLATE)],
  ['uuid', matching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i)],
  ['json-pointer', matching(/^(?:\/(?:[^~/]|~0|~1)*)*$/)],
  ['relative-json-pointer', matching(/^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~0|~1)*)*)$/)],
  ['regex', isRegularExpression],
])
