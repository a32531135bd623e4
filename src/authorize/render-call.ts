// One call as a person reads it before answering: every argument, with what hides written out, and long values as their
// beginning and end. Each line of a value begins with `| `, so that no value can pass for a line of this text. It refuses to
// leave anything out unsaid: whatever is not shown is counted, and the digest is of the whole.

import { sha256 } from '../base/digest.ts'
import { canonicalJson, type JsonValue } from '../base/json-value.ts'
import { utf8Bytes } from '../base/text-cut.ts'
import type { CheckedInput } from '../describe/call.ts'
import type { Entry } from '../describe/entry.ts'
import { NO_REDACTION, type Redacted, type Redactor } from '../describe/redactor.ts'
import type { BoundText } from '../describe/tool.ts'
import { type VisibleText, visibleJson, visibleQuoted, visibleText } from './visible-text.ts'

/** Characters of all values together, and of one value at most and at least. */
const VALUES_MAX = 16_000
const VALUE_MAX = 4_000
const VALUE_MIN = 60
const INLINE_MAX = 200
const NAME_MAX = 120
/** Of more arguments the first and the last are shown. */
const ARGUMENTS_MAX = 256
const ARGUMENTS_LAST = 64
/** Texts besides the arguments. */
const BOUND_MAX = 16

/** `restsOn`: whether the decision looks at an argument; such a one is never hidden for its name alone. */
export type Cleaning = { readonly redactor?: Redactor; readonly restsOn?: (name: string) => boolean }

/** Tokens go, and what stands around them stays: a command without its password is the same command to whoever reads it. */
function withoutSecrets(
  input: CheckedInput,
  { redactor = NO_REDACTION, restsOn = () => false }: Cleaning,
): { readonly input: CheckedInput; readonly secrets: ReadonlySet<string> } {
  const secrets = new Set<string>()
  const clean = <Value>({ value, names }: Redacted<Value>): Value => {
    for (const name of names) secrets.add(name)
    return value
  }
  const args = Object.fromEntries(
    Object.entries(input.args).map(([name, value]): [string, JsonValue] => {
      const shown = restsOn(name) ? clean(redactor.json([value]))[0] : clean(redactor.json({ [name]: value }))[name]
      return [name, shown ?? value]
    }),
  )
  const binds = input.binds?.map(({ title, text }) => ({ title, text: clean(redactor.text(text)) }))
  if (secrets.size === 0) return { input, secrets }
  return { input: { ...input, args, ...(binds === undefined ? {} : { binds }) }, secrets }
}

/** The text that a person answers to. At most a few hundred kilobytes, usually a few lines. */
export function renderCall(entry: Entry, given: CheckedInput, cleaning: Cleaning = {}): string {
  const { input, secrets } = withoutSecrets(given, cleaning)
  const { tool, source } = entry
  const page = new Page()
  page.line(
    `${page.show(visibleText(tool.name))} ${page.show(visibleText(tool.version))}, source ${page.show(visibleText(source))}, effect ${input.effect}`,
  )
  const names = Object.keys(input.args)
  const each = Math.max(VALUE_MIN, Math.min(VALUE_MAX, Math.floor(VALUES_MAX / Math.max(1, names.length))))
  for (const name of names.length > ARGUMENTS_MAX ? names.slice(0, ARGUMENTS_MAX - ARGUMENTS_LAST) : names) {
    renderArgument(page, name, input.args[name] ?? null, each)
  }
  if (names.length > ARGUMENTS_MAX) {
    page.line(`… ${names.length - ARGUMENTS_MAX} of ${names.length} arguments are not shown …`)
    for (const name of names.slice(-ARGUMENTS_LAST)) renderArgument(page, name, input.args[name] ?? null, each)
  }
  page.line(`arguments: ${utf8Bytes(input.text)} bytes, sha256 ${sha256(input.text)}`)
  renderBound(page, input.binds ?? [])
  if (secrets.size > 0) page.line(`! secrets are not shown: ${[...secrets].join(', ')}; the digests are of the whole`)
  return page.text()
}

/** What the answer is for besides the arguments: a script that the call runs, from both ends where it is long. */
function renderBound(page: Page, binds: readonly BoundText[]): void {
  const each = Math.max(VALUE_MIN, Math.min(VALUE_MAX, Math.floor(VALUES_MAX / Math.max(1, binds.length))))
  for (const { title, text } of binds.slice(0, BOUND_MAX)) {
    const name = title.slice(0, boundary(title, NAME_MAX))
    page.line(`and ${page.show(visibleText(name))}${name === title ? '' : '…'}, as it is now:`)
    renderText(page, 'text', text, each)
  }
  if (binds.length > BOUND_MAX) page.line(`… ${binds.length - BOUND_MAX} of ${binds.length} such texts are not shown …`)
  if (binds.length > 0) {
    const whole = JSON.stringify(binds.map(({ title, text }) => [title, text]))
    page.line(`these too are what the answer is for: ${utf8Bytes(whole)} bytes, sha256 ${sha256(whole)}`)
  }
}

function renderText(page: Page, label: string, text: string, max: number): void {
  if (text.length <= max) {
    page.line(`${label} (${text.length} characters):`)
    showLines(page, text)
    return
  }
  renderCut(page, label, text, { max, what: 'text', lines: showLines })
}

/** Lines, and how much of them was written out. */
class Page {
  readonly #lines: string[] = []
  #hidden = 0

  line(text: string): void {
    this.#lines.push(text)
  }

  show({ text, hidden }: VisibleText): string {
    this.#hidden += hidden
    return text
  }

  text(): string {
    const flag = `! ${this.#hidden} hidden or misleading ${this.#hidden === 1 ? 'character is' : 'characters are'} written out as \\u{…}`
    return [...(this.#hidden > 0 ? [flag] : []), ...this.#lines].join('\n')
  }
}

function renderArgument(page: Page, name: string, value: JsonValue, max: number): void {
  const label = labelOf(page, name)
  const text = typeof value === 'string' ? value : canonicalJson(value)
  if (text.length <= Math.min(INLINE_MAX, max) && !text.includes('\n')) {
    page.line(`${label}: ${page.show(typeof value === 'string' ? visibleQuoted(value) : visibleJson(text))}`)
    return
  }
  const lines = typeof value === 'string' ? showLines : showJson
  if (text.length <= max) {
    page.line(`${label} (${typeof value === 'string' ? 'text' : 'JSON'}, ${text.length} characters):`)
    lines(page, text)
    return
  }
  renderCut(page, label, text, { max, what: typeof value === 'string' ? 'text' : 'JSON', lines })
}

type Cut = { readonly max: number; readonly what: string; readonly lines: (page: Page, text: string) => void }

/** The beginning and the end of a text that is longer than `max`. */
function renderCut(page: Page, label: string, text: string, { max, what, lines }: Cut): void {
  const head = boundary(text, max - Math.floor(max / 3))
  const tail = boundary(text, text.length - Math.floor(max / 3))
  page.line(`${label} (${what}, ${text.length} characters, sha256 ${sha256(text)}):`)
  lines(page, text.slice(0, head))
  page.line(`… ${tail - head} of ${text.length} characters are not shown …`)
  lines(page, text.slice(tail))
}

function labelOf(page: Page, name: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name
  const shown = page.show(visibleQuoted(name.slice(0, boundary(name, NAME_MAX))))
  return name.length > NAME_MAX ? `${shown}… (a name of ${name.length} characters)` : shown
}

/** Line breaks and tabs are what they are; everything else that has no shape is written out. */
function showLines(page: Page, text: string): void {
  for (const line of text.split('\n')) {
    const parts = line.split('\t').map((part) => page.show(visibleText(part)))
    page.line(`| ${parts.join('\t')}`)
  }
}

const showJson = (page: Page, text: string): void => page.line(`| ${page.show(visibleJson(text))}`)

/** A place to cut that does not split a character in two. */
function boundary(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}
