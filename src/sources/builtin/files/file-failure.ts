// Words what went wrong with a file for the model: which file, what is the matter, what to do next. No other tool is named,
// for the caller may not see it. Codes belong to the file tools and are part of their contract. All of these left the file as it was.

import { type ToolFailure, toolFailure } from '../../../describe/tool-failure.ts'
import type { RootedFailure } from '../../../machine/rooted-failure.ts'

export type FileCode =
  | 'file_not_found'
  | 'not_a_file'
  | 'not_a_folder'
  | 'binary'
  | 'too_large'
  | 'stale'
  | 'ambiguous'
  | 'no_match'
  | 'exists'
  | 'linked_elsewhere'
  | 'not_permitted'
  | 'no_such_change'
  | 'not_kept'

/** A failure with nothing changed. */
export const fileFailure = (
  code: FileCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): ToolFailure => toolFailure({ code, message, effect: 'none', retry: RETRY[code] ?? 'fix_args', details })

const RETRY: Partial<Record<FileCode, 'never' | 'later'>> = {
  linked_elsewhere: 'never',
  not_permitted: 'never',
  no_such_change: 'never',
  not_kept: 'later',
}

/** What a failure of the machine means for the file `path`, a canonical path inside the workspace. */
export function failureFor(failure: RootedFailure, path: string): ToolFailure {
  const name = `\`${path}\``
  switch (failure.kind) {
    case 'missing':
      return fileFailure(
        'file_not_found',
        `${name} does not exist; list its folder or look for it by a part of its name`,
      )
    case 'not-a-file':
      return failure.what === 'directory'
        ? fileFailure('not_a_file', `${name} is a folder; name a file in it`)
        : fileFailure('not_a_file', `${name} is no regular file; only regular files can be read or changed`)
    case 'not-a-directory':
      return fileFailure('not_a_folder', `a name on the way to ${name} is a file, not a folder`)
    case 'too-large':
      return fileFailure(
        'too_large',
        `${name} has ${failure.bytes} bytes; at most ${failure.bytesMax} can be handled`,
        { bytes: failure.bytes, bytesMax: failure.bytesMax },
      )
    case 'swapped':
      return fileFailure('stale', `${name} was replaced by a link while the call was on its way; look at it again`)
    case 'stale':
      return fileFailure('stale', `${name} changed meanwhile; read it again and repeat the change on what it holds now`)
    case 'exists':
      return fileFailure(
        'exists',
        `${name} exists already and nothing is put over it; choose another name or move it away first`,
      )
    case 'shared':
      return fileFailure(
        'linked_elsewhere',
        `${name} has a second name (a hard link), so that changing it would change a file elsewhere; a person has to do it`,
      )
    case 'own':
      return toolFailure({
        code: 'not_permitted',
        type: 'unsafe_args',
        effect: 'none',
        retry: 'fix_args',
        message: 'this file belongs to the gate itself and is out of reach of every tool',
      })
    case 'repository':
      return toolFailure({
        code: 'not_permitted',
        type: 'unsafe_args',
        effect: 'none',
        retry: 'fix_args',
        message: `${name} would make its folder a bare git repository, whose settings git acts on by itself; choose another name`,
      })
    case 'denied':
      return fileFailure(
        'not_permitted',
        `the operating system does not let this happen to ${name} (${failure.code})`,
        { systemCode: failure.code },
      )
  }
}
