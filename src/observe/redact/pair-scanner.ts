// One look at each two neighbouring characters of a text, in a table: whatever is looked for has two characters by which it is
// noticed. Nearly every pair of a text is nobody's, so that a megabyte takes milliseconds however much is looked for.

import type { Finding } from './finding.ts'

/** Noticed by the characters at `offset - 1` and `offset` of what begins with `anchor`. */
export type Candidate = {
  /** At least two characters of ASCII. */
  readonly anchor: string
  /** At the first character of the anchor. */
  readonly tryAt: (text: string, at: number) => Finding | undefined
  /** Where the pair ends that is noticed; absent: the rarest one of the anchor. */
  readonly offset?: number
  /** Is looked for inside of other findings too: it may go on behind them. */
  readonly always?: true
}

/** Told of each `:`, `=`, `>` or `-` behind a character that may end a name. */
export type AtSeparator = {
  readonly mayStandBefore: (before: number, code: number) => boolean
  readonly at: (text: string, at: number, into: Finding[]) => void
}

const SIZE = 128
const SEPARATOR = 255
const SEPARATORS = [45, 58, 61, 62]
const LISTS_MAX = 254

type Noticed = Required<Omit<Candidate, 'always'>> & { readonly always: boolean }

type Found = { readonly finding: Finding; readonly always: boolean }

export class PairScanner {
  readonly #table = new Uint8Array(SIZE * SIZE)
  readonly #lists: Noticed[][] = [[]]
  readonly #separator: AtSeparator

  constructor(candidates: readonly Candidate[], separator: AtSeparator) {
    this.#separator = separator
    const both = new Map<number, Noticed[]>()
    for (const { anchor, tryAt, offset = rarestPair(anchor), always = false } of candidates) {
      const pair = (anchor.charCodeAt(offset - 1) << 7) | anchor.charCodeAt(offset)
      both.set(pair, [...(both.get(pair) ?? []), { anchor, offset, tryAt, always }])
    }
    for (const [pair, noticed] of both) this.#put(pair, noticed)
    for (const code of SEPARATORS)
      for (let before = 0; before < SIZE; before += 1)
        if (separator.mayStandBefore(before, code) && this.#table[(before << 7) | code] === 0)
          this.#table[(before << 7) | code] = SEPARATOR
  }

  /** Of more pairs than a table has room for, some share a list: each still looks for its own anchor. */
  #put(pair: number, noticed: readonly Noticed[]): void {
    const index = this.#lists.length < LISTS_MAX ? this.#lists.length : 1 + (pair % (LISTS_MAX - 1))
    this.#lists[index] = [...(this.#lists[index] ?? []), ...noticed]
    this.#table[pair] = index
  }

  find(text: string, into: Finding[], keyed: Finding[]): void {
    const table = this.#table
    const { length } = text
    let before = 0
    /** Where what was found so far ends. */
    let until = -1
    for (let at = 0; at < length; at += 1) {
      // What is not ASCII shares a row with a character that no text has.
      const unit = text.charCodeAt(at)
      const code = unit < SIZE ? unit : 0
      const index = table[(before << 7) | code] ?? 0
      before = code
      if (index === 0) continue
      const isInside = at <= until
      if (!isInside && (index === SEPARATOR || isSeparator(code))) this.#separator.at(text, at, keyed)
      if (index === SEPARATOR) continue
      const noticed = this.#tried(text, at, index, isInside)
      if (noticed === undefined) continue
      const { finding, always } = noticed
      into.push(finding)
      until = Math.max(until, finding.to)
      if (!always || finding.to <= at) continue
      at = finding.to - 1
      before = 0
    }
  }

  #tried(text: string, at: number, index: number, isInside: boolean): Found | undefined {
    for (const { anchor, offset, tryAt, always } of this.#lists[index] ?? []) {
      if ((isInside && !always) || !text.startsWith(anchor, at - offset)) continue
      const finding = tryAt(text, at - offset)
      if (finding !== undefined) return { finding, always }
    }
    return undefined
  }
}

const isSeparator = (code: number): boolean => code === 58 || code === 61 || code === 62 || code === 45

/** Letters that are frequent in texts, the most frequent last. */
const FREQUENT = 'zqxjkvbpygfwmculdrhsnioate'

function rarestPair(anchor: string): number {
  let [best, most] = [1, Number.NEGATIVE_INFINITY]
  for (let offset = 1; offset < anchor.length; offset += 1) {
    const score = rarity(anchor.charAt(offset - 1)) + rarity(anchor.charAt(offset))
    if (score > most) [best, most] = [offset, score]
  }
  return best
}

function rarity(character: string): number {
  const at = FREQUENT.indexOf(character)
  if (at >= 0) return -at
  return /[A-Z0-9]/.test(character) ? 20 : 10
}
