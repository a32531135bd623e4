// What stands where a secret would stand, and is none: `<redacted>`, `${TOKEN}`, `xxxx`, `your-key-here`. Documentation, templates
// and what was redacted before are full of these; they are never replaced.

const WORDS = new Set(
  'none null nil undefined true false yes no on off empty blank required optional hidden masked redacted removed filtered omitted string text number boolean object any unknown unset tbd todo default include omit same-origin invalid missing expired valid disabled enabled n/a ok'.split(
    ' ',
  ),
)

const FORMS: readonly RegExp[] = [
  // In brackets of any kind: `<token>`, `[redacted:jwt]`, `{{ token }}`, `(none)`.
  /^(?:<[^<>]*>|\[[^[\]]*\]|\{\{?[^{}]*\}\}?|\([^()]*\)|%[A-Za-z_][\w.]*%|__\w+__)$/,
  // A reference to where it is: `$TOKEN`, `prefix-${TOKEN}`, `$(command)`, `%(name)s`, `process.env.TOKEN`, `vault://…`.
  /^\$[A-Za-z_]\w*$|\$\{|\{\{|\$\(|%\(/,
  /^(?:process\.env|os\.environ|os\.getenv|env|secrets?|vars|config|settings|self|this)[.[]/,
  /^(?:env|secret|vault|op|ssm|sm|file|ref|arn|keyring|gcp-secret|azure-keyvault):/,
  // Masked.
  /^[xX*.•…_#?-]+$|^[*•xX.]{3,}.{0,4}$|^.{0,8}(?:\*{3,}|•{3,}|\.{3}|…).{0,4}$|x{6,}|X{6,}/,
  /^(.)\1*$/,
  /\[redacted:/,
  // Said in words.
  /^(?:your|insert|enter|replace|change|put)(?:[-_ ]\w|(?:your|my|this|it|me|with|api|access|client|auth|pass(?:word|wd|phrase)?|secret|token|key|value|here){1,6}\W*$)|[-_ ]here$/i,
  /example|placeholder|changeme|redacted|dummy/i,
  // Put in later: `%s`, `Bearer ` before what a program adds.
  /^%[sv]$|^(?:bearer|basic|token)$/i,
  // Which versions of a package: `^0.7.1`, `>= 1.2`.
  /^(?:[~^=<>]{1,2} ?\d{1,6}(?:\.[\dx*]{1,6}){0,2}|v?\d{1,6}\.\d{1,6}\.\d{1,6})(?:-[a-z]{2,8}[.\d]{0,8})?$/,
]

/** `PWD` is where a shell is, too. */
export const isWorkingDirectory = (key: string, text: string): boolean =>
  /^(?:OLD)?PWD$/i.test(key) && /^(?:\/|[A-Za-z]:\\)/.test(text)

/** `RESET_PASSWORD = "reset_password"`, `key: "RsaPrivateKey"`: labels and types have the name that they stand under. */
export function isRepeated(key: string, value: string, name: string, isData: boolean): boolean {
  if (isWorkingDirectory(key, value)) return true
  if (value.length > 2 * key.length + 64) return false
  const [label, said] = [plainOf(key), plainOf(value)]
  if (said.length >= 8 && label.endsWith(said)) return true
  return !isData && name !== 'password' && label.length >= 5 && said.endsWith(label) && !/\d{3}/.test(said)
}

const plainOf = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '')

/** The scheme of `Authorization` says nothing. */
export const SCHEME = /^(?:Bearer|Basic|Digest|Token) +(?=\S)/i

export function isPlaceholder(text: string): boolean {
  const trimmed = text.trim().replace(SCHEME, '')
  if (trimmed === '' || WORDS.has(trimmed.toLowerCase())) return true
  // A long text is looked at as far as a placeholder would go.
  const seen = trimmed.length > 256 ? trimmed.slice(0, 256) : trimmed
  return FORMS.some((form) => form.test(seen))
}
