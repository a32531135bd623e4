// Finds secrets in texts by the name beside them: `"password": "…"`, `API_KEY=…`, `Authorization: Bearer …`, `--token …`. Programs
// name variables so too: what reads as a reference, a type or a call is none, and stays.

import type { Finding } from './finding.ts'
import { isPlaceholder, isRepeated } from './placeholder.ts'
import type { SecretKeys } from './secret-keys.ts'

const KEY_MAX = 96
const VALUE_MAX = 8_192
const SPACES_MAX = 8
/** Line breaks and margins between two lines of YAML, too. */
const NAMED_SPACES_MAX = 40
const VALUE_KEY = /^value$/i

const [TAB, SPACE, QUOTE, DASH, APOSTROPHE, COMMA, COLON, LESS, EQUALS, GREATER, BACKSLASH, CLOSE_BRACKET, BACKTICK] = [
  9, 32, 34, 45, 39, 44, 58, 60, 61, 62, 92, 93, 96,
] as const

type Value = { readonly from: number; readonly to: number; readonly quoted: boolean }
type Key = { readonly from: number; readonly to: number; readonly quoted: boolean; readonly spaced: boolean }

export class KeyedSecrets {
  readonly #keys: SecretKeys

  constructor(keys: SecretKeys) {
    this.#keys = keys
  }

  /** Whether a name, or what closes one, may end so. */
  mayStandBefore(before: number, code: number): boolean {
    if (code === DASH) return before === DASH
    if (this.#keys.mayEnd(before)) return true
    const closes = before === QUOTE || before === APOSTROPHE || before === BACKTICK || before === CLOSE_BRACKET
    return code !== GREATER && (isBlank(before) || closes)
  }

  /** At a `:`, `=`, `>` or `-`. */
  at(text: string, at: number, into: Finding[]): void {
    const code = text.charCodeAt(at)
    if (code === COLON || code === EQUALS) this.#beside(text, at, code, into)
    else if (code === GREATER) this.#inElement(text, at, into)
    else if (text.charCodeAt(at - 1) === DASH) this.#afterFlag(text, at, into)
  }

  /** Whether some member of a JSON text has such a name, or says what another one is. */
  mayHold(text: string): boolean {
    for (let at = text.indexOf('":'); at >= 0; at = text.indexOf('":', at + 2)) {
      if (!this.#keys.mayEndAt(text, at)) continue
      const from = text.lastIndexOf('"', at - 1) + 1
      if (this.#keys.nameOf(text.slice(from, at)) !== undefined) return true
    }
    return text.includes('"--') || text.includes('"value":')
  }

  #beside(text: string, at: number, code: number, into: Finding[]): void {
    const key = this.#keyBefore(text, at)
    if (key === undefined) return
    const next = text.charCodeAt(at + 1)
    const arrow = code === EQUALS && next === GREATER
    // `==` compares, `::` names.
    if (next === EQUALS && code === EQUALS) return
    if (next === COLON && code === COLON) return
    const said = text.slice(key.from, key.to)
    const isValue = said.length === 5 && VALUE_KEY.test(said)
    const name = isValue ? this.#namedBefore(text, key.from) : this.#keys.nameOf(said)
    if (name === undefined || isInResourceName(text, key, code)) return
    const start = next === EQUALS || arrow ? at + 2 : at + 1
    const value = valueAt(text, start)
    if (value === undefined || isRepeated(said, text.slice(value.from, value.to), name, key.quoted)) return
    const found =
      headerOf(text, name, key, code, value) ??
      (value.quoted
        ? isSecretText(text.slice(value.from, value.to), name, key.quoted)
        : !arrow && isBareSecret(text, key, value, { spaced: value.from > start, code, name })) ??
      false
    if (found === false) return
    const finding = found === true ? { ...value, name } : { ...found, name }
    into.push({ from: finding.from, to: finding.to, name })
  }

  /** The name that ends before `at`, where it may be that of a secret. */
  #keyBefore(text: string, at: number): Key | undefined {
    let to = at
    while (to > 0 && at - to < SPACES_MAX && isBlank(text.charCodeAt(to - 1))) to -= 1
    const spaced = to < at
    let last = text.charCodeAt(to - 1)
    if (last === CLOSE_BRACKET) last = text.charCodeAt(--to - 1)
    const quoted = last === QUOTE || last === APOSTROPHE || last === BACKTICK
    if (quoted) last = text.charCodeAt(--to - 1)
    if (quoted && last === BACKSLASH) last = text.charCodeAt(--to - 1)
    if (!this.#keys.mayEnd(last) || !this.#keys.mayEndAt(text, to)) return undefined
    let from = to
    while (from > 0 && to - from < KEY_MAX && isKeyCode(text.charCodeAt(from - 1))) from -= 1
    // In JSON within JSON: `\n"key"`, and in a query: `&key=`.
    if (text.charCodeAt(from - 1) === BACKSLASH && /[nrt]/.test(text.charAt(from))) from += 1
    return to - from < 3 ? undefined : { from, to, quoted, spaced }
  }

  /** `"name": "API_TOKEN", "value": …`: of lists of variables and headers, what `name` or `key` said just before. */
  #namedBefore(text: string, at: number): string | undefined {
    let to = at
    while (to > 0 && at - to < NAMED_SPACES_MAX && isBetween(text.charCodeAt(to - 1))) to -= 1
    if (to === at || !this.#keys.mayEndAt(text, to)) return undefined
    let from = to
    while (from > 0 && to - from < KEY_MAX && isKeyCode(text.charCodeAt(from - 1))) from -= 1
    const name = this.#keys.nameOf(text.slice(from, to))
    return name !== undefined &&
      /(?:name|key)\\?["']?\s{0,8}[:=]\s{0,8}\\?["']?$/i.test(text.slice(Math.max(0, from - 32), from))
      ? name
      : undefined
  }

  /** `<password>…</password>` */
  #inElement(text: string, at: number, into: Finding[]): void {
    if (!this.#keys.mayEndAt(text, at)) return
    let from = at
    while (from > 0 && at - from < KEY_MAX && isKeyCode(text.charCodeAt(from - 1))) from -= 1
    if (text.charCodeAt(from - 1) !== LESS) return
    const name = this.#keys.nameOf(text.slice(from, at))
    if (name === undefined) return
    const to = text.indexOf('<', at + 1)
    if (to < 0 || to - at > VALUE_MAX || text.charAt(to + 1) !== '/') return
    const value = text.slice(at + 1, to)
    if (isSecretText(value, name, true)) into.push({ from: at + 1, to, name })
  }

  /** `--password …`: at the second dash. */
  #afterFlag(text: string, at: number, into: Finding[]): void {
    let to = at + 1
    while (to - at < KEY_MAX && isKeyCode(text.charCodeAt(to))) to += 1
    if (!isBlank(text.charCodeAt(to)) || !this.#keys.mayEnd(text.charCodeAt(to - 1))) return
    const name = this.#keys.nameOf(text.slice(at + 1, to))
    const value = name === undefined ? undefined : valueAt(text, to)
    if (name === undefined || value === undefined || text.charCodeAt(value.from) === DASH) return
    const key: Key = { from: at + 1, to, quoted: false, spaced: false }
    const holds = value.quoted
      ? isSecretText(text.slice(value.from, value.to), name, false)
      : isBareSecret(text, key, value, { spaced: false, code: EQUALS, name })
    if (holds) into.push({ from: value.from, to: value.to, name })
  }
}

/** `arn:…:secret:prod/db` says where one is. */
const isInResourceName = (text: string, key: Key, code: number): boolean =>
  code === COLON &&
  text.charCodeAt(key.from - 1) === COLON &&
  /\b(?:arn|urn):[^\s"'`]{0,200}$/.test(text.slice(Math.max(0, key.from - 200), key.from))

const isBlank = (code: number): boolean => code === SPACE || code === TAB

const isBetween = (code: number): boolean =>
  code <= SPACE || code === QUOTE || code === APOSTROPHE || code === COMMA || code === BACKSLASH

const isKeyCode = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  (code >= 48 && code <= 57) ||
  code === 95 ||
  code === DASH ||
  code === 46

/** What stands after a name: in quotes of any kind, or up to what ends a word. */
function valueAt(text: string, start: number): Value | undefined {
  let from = start
  while (from - start < SPACES_MAX && isBlank(text.charCodeAt(from))) from += 1
  const prefix = /^[frbuFRBU]{1,2}(?=["'])/.exec(text.slice(from, from + 3))
  const opens = from + (prefix?.[0].length ?? 0)
  const escaped = text.charCodeAt(opens) === BACKSLASH
  const quote = text.charAt(escaped ? opens + 1 : opens)
  if (quote === '"' || quote === "'" || quote === '`') {
    const inside = opens + (escaped ? 2 : 1)
    const to = closing(text, inside, quote, escaped)
    if (to !== undefined) return to === inside ? undefined : { from: inside, to, quoted: true }
  }
  // Only so far: a long text without a word's end is not walked to its end from each name in it.
  const length = text.slice(from, from + VALUE_MAX + 1).search(/[\s,;)}\]&"'<>|`\\]/)
  const to = length < 0 ? text.length : from + length
  return to === from || to - from > VALUE_MAX ? undefined : { from, to, quoted: false }
}

function closing(text: string, inside: number, quote: string, escaped: boolean): number | undefined {
  const end = Math.min(text.length, inside + VALUE_MAX)
  for (let at = inside; at < end; at += 1) {
    const character = text.charAt(at)
    if (character === '\n' && quote !== '`') return undefined
    if (character === '\\') {
      if (escaped && text.charAt(at + 1) === quote) return at
      at += 1
    } else if (character === quote && !escaped) return at
  }
  return undefined
}

/** `Authorization` and `Cookie` are followed by more than one word. Undefined: it is no header. */
function headerOf(text: string, name: string, key: Key, code: number, value: Value): Finding | false | undefined {
  if (code !== COLON || (name !== 'authorization' && name !== 'cookie') || (value.quoted && key.quoted))
    return undefined
  const line = /[^\r\n"'`\\]{1,8192}/y
  line.lastIndex = value.from
  const said = line.exec(text)?.[0] ?? ''
  const to = value.from + said.trimEnd().length
  if (name === 'cookie')
    return /^[^\s=;,]{1,128}=[^\s;,]/.test(said) && !isPlaceholder(said) ? { from: value.from, to, name } : false
  const [scheme] = /^[A-Za-z][A-Za-z0-9-]{1,24} {1,4}(?=\S)/.exec(said) ?? ['']
  const from = value.from + scheme.length
  const secret = text.slice(from, to)
  const known = /^(?:bearer|basic|token|digest|apikey|negotiate|ntlm|key|hmac|aws4-hmac-sha256)\s/i.test(scheme)
  if (isPlaceholder(secret) || secret.length < 4 || /^https?:\/\//.test(secret)) return false
  return known
    ? /\d|[A-Z].*[a-z]|=/.test(secret) && { from, to, name }
    : scheme === '' && /\d/.test(secret) && { from, to, name }
}

/** What stands in quotes beside such a name. Labels of forms repeat the name. */
function isSecretText(text: string, name: string, isData: boolean): boolean {
  if (text.length < 3 || isPlaceholder(text)) return false
  if (name === 'authorization' && /^https?:\/\//.test(text)) return false
  const plain = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '')
  if (plain === name.replaceAll('-', '')) return false
  const said = text.trim()
  if (/\s/.test(said) && !/\d/.test(said) && new RegExp(`\\b${name.split('-')[0]}`, 'i').test(said)) return false
  // In programs a word beside `token` is a kind of token more often than one.
  return isData || name === 'password' || /[\d\W_]/.test(said) || said.length > 12
}

type Around = { readonly spaced: boolean; readonly code: number; readonly name: string }

function isBareSecret(text: string, key: Key, value: Value, { spaced, code, name }: Around): boolean {
  const said = text.slice(value.from, value.to)
  if (isPlaceholder(said) || /[([{$]|^[@/.~&*!]|^[a-z][a-z0-9+.-]*:\/\//i.test(said) || isReference(said)) return false
  const next = text.charAt(value.to)
  const isSetting = code === EQUALS && !key.spaced && !spaced
  if (/^\d+(?:\.\d+)?[a-z]{0,2}$/i.test(said)) return name === 'password' && isSetting && said.length >= 4
  const upper = /^[A-Z0-9_.-]+$/.test(text.slice(key.from, key.to))
  if (isSetting && upper) return said.length >= 4
  if (!/[\d!@#%^*+/~=]/.test(said) || said.length < 6) return false
  if (isSetting) return true
  // `password = token1;` is a statement, `{ password: old2 }` a member of a program's object.
  if (code === EQUALS) return !/^[A-Za-z_$][\w$]{0,18}$/.test(said) || next === '' || /[\s\\"]/.test(next)
  return !(/^[A-Za-z_$]+\d{0,2}$/.test(said) && /[,})]/.test(next))
}

/** `this.options.token`, `request.headers`: words joined by dots, without a number of several digits. */
const isReference = (text: string): boolean =>
  /^[A-Za-z_$][A-Za-z_$]*\d{0,2}(?:\??\.[A-Za-z_$][A-Za-z_$]*\d{0,2})+$/.test(text)
