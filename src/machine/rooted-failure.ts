// Why a file operation below a root did not happen. Values, because each of them is expected; they carry no path, so that
// whoever words the message decides what may be said.

/** What stands under a name. `other`: a pipe, socket or device. */
export type EntryKind = 'file' | 'directory' | 'link' | 'other'

/**
 * `swapped`: something on the way is no longer what it was when the path was judged. `shared`: the file has other names
 * (hard links), which a write would change as well. `own`: it belongs to the gate, or stands in the way of what does.
 * `repository`: it would make a bare git repository out of a folder. `denied`: the operating system refused,
 * with its error code. In every case nothing was changed.
 */
export type RootedFailure =
  | { readonly kind: 'missing' }
  | { readonly kind: 'not-a-file'; readonly what: EntryKind }
  | { readonly kind: 'not-a-directory' }
  | { readonly kind: 'too-large'; readonly bytes: number; readonly bytesMax: number }
  | { readonly kind: 'swapped' }
  | { readonly kind: 'stale' }
  | { readonly kind: 'exists' }
  | { readonly kind: 'shared' }
  | { readonly kind: 'own' }
  | { readonly kind: 'repository' }
  | { readonly kind: 'denied'; readonly code: string }

const KINDS: ReadonlyMap<string, RootedFailure> = new Map<string, RootedFailure>([
  ['ENOENT', { kind: 'missing' }],
  ['ELOOP', { kind: 'swapped' }],
  ['ENOTDIR', { kind: 'not-a-directory' }],
  ['EISDIR', { kind: 'not-a-file', what: 'directory' }],
  ['ENXIO', { kind: 'not-a-file', what: 'other' }],
  ['EEXIST', { kind: 'exists' }],
  ['ENOTEMPTY', { kind: 'exists' }],
])

/** The failure behind an error of the file system. Anything else is a bug and is thrown on. */
export function failureOf(error: unknown): RootedFailure {
  const code = codeOf(error)
  if (code === undefined) throw error
  return KINDS.get(code) ?? { kind: 'denied', code }
}

/** The error code of the operating system; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** The value of an action on files, or why it did not happen. */
export function attempt<Value>(action: () => Value): Value | RootedFailure {
  try {
    return action()
  } catch (error) {
    return failureOf(error)
  }
}
