// What no file tool changes, whatever the policy says: names that other programs act on by themselves, and new names that
// hide what they are. A name counts as it is spelled and as the file that it leads to.

import type { Refusal } from '../../../describe/tool.ts'
import { protectedName } from '../../../machine/protected-names.ts'
import { hiddenIn } from '../../../machine/visible-name.ts'
import { type Located, refusal } from './file-place.ts'

export function writeRefusal(located: Located): Refusal | undefined {
  if (located.relative === '.') return refusal('the root of the workspace itself cannot be changed; name a file in it')
  const names = located.relative.split('/')
  const reached = protectedName(names) ?? protectedName(located.spelled)
  if (reached !== undefined)
    return refusal(
      `\`${reached}\` is protected: other programs of this machine act on it by themselves; a person has to change it`,
    )
  // The file system joins a name that is spelled with `..` or through a link, so what is new is looked at where it will stand.
  const hidden = located.missing.map(hiddenIn).find((found) => found !== undefined)
  return hidden === undefined ? undefined : refusal(`the new name holds ${hidden}; use visible characters only`)
}

/** The same for a name under which something is put: what it would stand in the way of, and what it would become. */
export function placeRefusal(located: Located): Refusal | undefined {
  const refused = writeRefusal(located)
  if (refused !== undefined) return refused
  const { folder, relative } = located
  if (folder.holdsOwn(relative))
    return refusal('this name is on the way to files of the gate itself, or holds them, and is left to it')
  if (!folder.completesRepository(relative)) return undefined
  return refusal(
    'this name would make its folder a bare git repository, whose settings git acts on by itself; choose another name',
  )
}

/** Text that would not come out of the file as it went in. */
export function textRefusal(field: string, text: string): Refusal | undefined {
  return /\p{Surrogate}/u.test(text)
    ? refusal(`\`${field}\` holds half of a surrogate pair, which no text file can`, 'invalid_args')
    : undefined
}

/** Moving and deleting act on a name itself, so a link would be taken for what it stands for. */
export function linkRefusal({ isLink }: Located): Refusal | undefined {
  return isLink ? refusal('this name is a link; name the file that it stands for') : undefined
}
