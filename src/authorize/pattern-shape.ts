// What a pattern over files must look like so that it can match at all. A rule that can never hold is an error when it is
// loaded, not a surprise when it is needed.

import { compileGlob } from '../base/glob.ts'
import { type FileGlob, isSettled } from './file-scope.ts'

/** Compiles a glob over files; a text is the reason why not. */
export function readFileGlob(text: string): FileGlob | string {
  if (text.startsWith('!')) return 'a `!` at the start negates nothing; quote it as `\\!` where a name begins so'
  if (!isSettled(text))
    return 'no path has an empty, `.` or `..` segment or a slash at its end; `folder/**` is a folder and all below it'
  if (/^\{[^}]*(?<=[{,])\//.test(text)) return 'absolute and relative alternatives in one pattern; write two patterns'
  return readAnyGlob(text)
}

/** Compiles a glob over a text that may be a path or not. */
export function readAnyGlob(text: string): FileGlob | string {
  const glob = compileGlob(text)
  return glob.kind === 'bad' ? glob.reason : { glob, absolute: text.startsWith('/') }
}
