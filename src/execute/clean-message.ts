// What the message of a failure may say to a model. Authors pass on what they caught: stacks, paths of the machine, statements,
// addresses, texts of drivers. Those stay with the operator; what the call itself named, and what lies in the workspace, stays.

export type Cleaned = { readonly message: string; readonly isWhole: boolean }

export type Shown = {
  /** Folders whose paths may be named. */
  readonly roots: readonly string[]
  /** What the caller has written itself. */
  readonly argumentsText: string
}

const MESSAGE_MAX = 16_384
/** Most messages have nothing of the kind. */
const SUSPECT =
  /[/\\:]|\bE[A-Z]{4}|[A-Z]{4,}_|\b(?:select|insert|update|delete|create|drop|alter|relation|constraint|table|column)\b/i
const STACK = /\n\s{1,8}at [^\n]{0,512}/
const PATH =
  /(?<![\w.:/@-])(?:file:\/\/)?(?:\/(?:[\w.@+~-]+\/)+[\w.@+~-]*|\/(?:etc|root|home|tmp|var|usr|opt|proc|dev)\b|[A-Za-z]:\\[\w.@+~\\ -]{1,512})(?::\d+(?::\d+)?)?/g
const SYSTEM =
  /\b(?:connect|read|write|open|spawn|bind|listen|getaddrinfo|query\w{0,5})? ?\bE(?:CONN\w{1,12}|NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUNREACH|NETUNREACH|PIPE|ADDR\w{1,12})\b(?: [\w.:[\]-]{1,256})?/g
const ADDRESS =
  /\b(?!file:)[a-z][a-z0-9+.-]{1,15}:\/\/[^\s"'`<>)]{1,1024}|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b|\b(?:[a-z0-9-]{1,63}\.){1,8}[a-z][a-z0-9-]{1,62}:\d{2,5}\b|\blocalhost:\d{2,5}\b|\[[0-9a-f:]{2,45}\]:\d{2,5}/gi
const STATEMENT =
  /\b(?:SELECT\b[^\n]{1,2048}?\bFROM\b|INSERT\s+INTO\b|UPDATE\s+\S{1,128}\s+SET\b|DELETE\s+FROM\b|(?:CREATE|DROP|ALTER)\s+(?:TABLE|INDEX|VIEW|DATABASE|SCHEMA)\b|WITH\s+\w{1,64}\s+AS\s*\()[^\n]*/gi
const DRIVER =
  /\b(?:SQLITE_[A-Z_]{2,32}|ER_[A-Z_]{3,40}|ORA-\d{4,5}|SQLSTATE\W{0,2}\w{5})\b[^\n;]*|\b(?:no such (?:table|column)|UNIQUE constraint failed|FOREIGN KEY constraint failed|NOT NULL constraint failed|duplicate key value violates|(?:relation|column|table) "[^"\n]{1,128}" (?:does not exist|already exists))[^\n;]*/gi

export function cleanMessage(message: string, shown: Shown): Cleaned {
  if (!SUSPECT.test(message)) return { message, isWhole: true }
  const seen = message.slice(0, MESSAGE_MAX)
  const stack = STACK.exec(seen)
  const known = (text: string): boolean => isKnown(text, shown)
  const cleaned = (stack === null ? seen : seen.slice(0, stack.index))
    .replaceAll(STATEMENT, (text) => (known(text) ? text : '[statement]'))
    .replaceAll(DRIVER, (text) => (known(text) ? text : '[database error]'))
    .replaceAll(SYSTEM, '[connection error]')
    .replaceAll(ADDRESS, (text) => (known(text) ? text : '[address]'))
    .replaceAll(PATH, (text) => (known(text) ? text : '[path]'))
  return { message: cleaned, isWhole: cleaned === message }
}

/** What the caller has named itself, and what lies in its workspace. */
function isKnown(text: string, { roots, argumentsText }: Shown): boolean {
  const path = text.replace(/^file:\/\//, '').replace(/(?::\d+){1,2}$/, '')
  if (roots.some((root) => path === root || path.startsWith(`${root}/`))) return true
  return path.length > 1 && argumentsText.includes(JSON.stringify(path).slice(1, -1))
}
