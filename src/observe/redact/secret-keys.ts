// Which names say that what stands beside them is a secret: `password`, `clientSecret`, `X-Api-Key`, `STRIPE_SECRET_KEY`. A name
// is judged by its whole words and by its last ones: `token_count`, `secretary`, `nextPageToken` and `public_key` name none.

/** Of each: the last words of the name, and the name that a marker gives to what was there. */
const NOUNS: readonly (readonly [words: string, name: string])[] = [
  ...['password', 'passwd', 'pwd', 'passphrase', 'passcode'].map((word) => [word, 'password'] as const),
  ['password confirmation', 'password'],
  ['secret', 'secret'],
  ['secret key base', 'secret'],
  ['token', 'token'],
  ['bearer', 'token'],
  ['authorization', 'authorization'],
  ['cookie', 'cookie'],
  ['credential', 'credential'],
  ['credentials', 'credential'],
  ['connection string', 'connection-string'],
  ['auth string', 'secret'],
]

/** `key` alone is no secret; with one of these before it, it is. */
const KEYS =
  'api access account admin app application auth client consumer deploy encryption function hmac license master private secret server service session shared signing ssh storage subscription webhook write'

/** `pass` alone is a result of tests as often as a password. */
const PASSES = 'admin database db email ftp ldap mail mongo mysql pg postgres proxy rabbitmq redis root smtp sudo user'

/** Tokens of a text, of a page, of a limit. */
const HARMLESS_TOKENS =
  'bos cancel cancellation change class cls comment continuation count current cursor delimiter delta end eos expected expired invalid keyword lexer marker mask max min missing next pad page pagination per prev previous progress punctuation resume sep skip special start stop string sync syntax unexpected unk'

/** What is said about a secret is none: `has_password`. */
const ABOUT = 'allow forgot has hide is max min need needs no require required requires show use'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))
const harmlessTokens = words(HARMLESS_TOKENS)
const about = words(ABOUT)

const KEY_CHARACTERS_MAX = 128
const KNOWN_MAX = 4_096

/** Names by which secrets are called, and those of the operator besides. */
export class SecretKeys {
  readonly #nouns = new Map<string, string>(NOUNS)
  /** Also written as one: `apikey`. */
  readonly #known = new Map<string, string | undefined>()
  /** Last words of all names, by their last three letters: most names of a text end otherwise. */
  readonly #endings = new Map<number, string[]>()
  readonly #lastLetters = new Uint8Array(128)

  constructor(more: readonly string[] = []) {
    for (const word of KEYS.split(' ')) this.#add(`${word} key`, `${word}-key`)
    for (const word of PASSES.split(' ')) this.#add(`${word} pass`, 'password')
    for (const word of 'access api auth bearer id refresh session'.split(' ')) this.#nouns.set(`${word}token`, 'token')
    this.#nouns.set('clientsecret', 'secret')
    for (const key of more) {
      const said = wordsOf(key)
      if (said.length > 0) this.#add(said.join(' '), said.join('-').slice(0, 40))
    }
    for (const noun of this.#nouns.keys()) this.#addEnding(noun.split(' ').at(-1) ?? noun)
    // Of which another member says what it is.
    this.#addEnding('value')
  }

  #addEnding(word: string): void {
    const ending = endingOf(word, word.length)
    const words = this.#endings.get(ending) ?? []
    if (!words.includes(word)) this.#endings.set(ending, [...words, word])
    const last = word.charCodeAt(word.length - 1)
    this.#lastLetters[last & 127] = 1
    this.#lastLetters[last & 95] = 1
    for (let digit = 48; digit < 58; digit += 1) this.#lastLetters[digit] = 1
  }

  #add(noun: string, name: string): void {
    this.#nouns.set(noun, name)
    this.#nouns.set(noun.replaceAll(' ', ''), name)
  }

  /** Whether a name may be one at all, by its last character: digits may follow any. */
  mayEnd(code: number): boolean {
    return code < 128 && this.#lastLetters[code] === 1
  }

  /** Whether a name that ends at `to` may be one, by its last word. */
  mayEndAt(text: string, to: number): boolean {
    let end = to
    while (end > 0 && isDigitOrDash(text.charCodeAt(end - 1))) end -= 1
    const words = this.#endings.get(endingOf(text, end))
    return words?.some((word) => text.slice(end - word.length, end).toLowerCase() === word) ?? false
  }

  /** What to call the secret that stands under this name; undefined: it is none. */
  nameOf(key: string): string | undefined {
    if (key.length < 3 || key.length > KEY_CHARACTERS_MAX) return undefined
    const known = this.#known.get(key)
    if (known !== undefined || this.#known.has(key)) return known
    const name = this.#judge(key)
    if (this.#known.size >= KNOWN_MAX) this.#known.clear()
    this.#known.set(key, name)
    return name
  }

  #judge(key: string): string | undefined {
    const said = wordsOf(key)
    // `password_2` and `token1` are others of the same kind.
    while (said.length > 1 && /^\d+$/.test(said.at(-1) ?? '')) said.pop()
    const last = (said.at(-1) ?? '').replace(/\d+$/, '')
    const before = said.at(-2) ?? ''
    const first = said[0] ?? ''
    if (said.length > 1 && about.has(first)) return undefined
    for (let count = Math.min(said.length, 4); count > 1; count -= 1) {
      const name = this.#nouns.get([...said.slice(-count, -1), last].join(' '))
      if (name !== undefined) return name
    }
    if (last === 'token' && harmlessTokens.has(before)) return undefined
    return this.#nouns.get(last) ?? (isCompound(last) ? 'password' : undefined)
  }
}

/** `PGPASSWORD`, `dbpassword`; `resetpassword` is what is done with one. */
const isCompound = (word: string): boolean => {
  const before = /^([a-z0-9]{2,16})passw(?:or)?d$/.exec(word)?.[1]
  return before !== undefined && !about.has(before) && !/^(?:change|invalid|one|reset|update|wrong)$/.test(before)
}

/** Words of `camelCase`, `SNAKE_CASE`, `kebab-case`, `HTTPToken` and `dotted.names`, in lower case. */
const wordsOf = (key: string): string[] =>
  key
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')

/** The three characters before `to`, in lower case, as one number. */
const endingOf = (text: string, to: number): number =>
  ((text.charCodeAt(to - 3) | 32) << 16) | ((text.charCodeAt(to - 2) | 32) << 8) | (text.charCodeAt(to - 1) | 32)

/** `password_2` */
const isDigitOrDash = (code: number): boolean => (code >= 48 && code <= 57) || code === 95 || code === 45
