// Links that open the page of a running gate in a browser: 256 random bits, good once and for ten minutes. Whoever comes
// with one gets a cookie that shows the page and nothing else; no call and no answer can be made with it.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { sha256 } from '../base/digest.ts'

export const COOKIE = 'lockgate_page'
const LINK_MS = 600_000
const COOKIE_MS = 12 * 3_600_000
/** Links that wait and cookies that hold; the oldest goes first. */
const KEPT_MAX = 100

export class OpeningLinks {
  readonly #clock: Clock
  // Only digests are kept, by the time at which each ends.
  readonly #links = new Map<string, number>()
  readonly #cookies = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The secret of a new link. */
  make(): string {
    return this.#add(this.#links, LINK_MS)
  }

  /** The cookie that a link is good for; undefined for one that is used, too old or unknown. */
  redeem(secret: string): string | undefined {
    const digest = sha256(secret)
    const endsAtMs = this.#links.get(digest)
    this.#links.delete(digest)
    if (endsAtMs === undefined || endsAtMs <= this.#clock.monotonic()) return undefined
    return this.#add(this.#cookies, COOKIE_MS)
  }

  /** True for the value of a `Cookie` header that holds a cookie of ours. */
  admits(header: string | undefined): boolean {
    const given = (header ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${COOKIE}=`))
    return given.some(
      (pair) => (this.#cookies.get(sha256(pair.slice(COOKIE.length + 1))) ?? 0) > this.#clock.monotonic(),
    )
  }

  #add(kept: Map<string, number>, lifeMs: number): string {
    const secret = randomBytes(32).toString('base64url')
    kept.set(sha256(secret), this.#clock.monotonic() + lifeMs)
    const [oldest] = kept.keys()
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest)
    return secret
  }
}

/** What the browser keeps: for this site only, for no script, and never sent from another site. */
export const setCookie = (cookie: string): string =>
  `${COOKIE}=${cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${COOKIE_MS / 1000}`
