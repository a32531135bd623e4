// Reads what a record says. The one way to it for everybody: members that were sealed stand beside the open ones again
// where they can be opened, and are absent where nobody can any more. It believes nothing: what is no object is empty.

import type { JsonObject } from '../base/json-value.ts'
import { mergeMembers } from '../base/merge-members.ts'
import { objectOf } from '../base/object-of.ts'
import type { RecordRow } from './store.ts'

type Readable = Pick<RecordRow, 'body' | 'personal'>

/** All members of a record; of one that is shut, the open ones and `subject`. `error`, `decision`, `result` and `truncated` are whole again where both halves have a part. */
export function bodyOf({ body, personal }: Readable): JsonObject {
  const { sealed: _, ...open } = objectOf(body)
  if (personal === undefined) return open
  // Whose key it was sealed with is of interest only where nobody can tell any more who that was.
  const { subject: __, ...rest } = open
  return mergeMembers(rest, objectOf(personal))
}

/** Whether the row has personal members that cannot be read: the person's key was destroyed, or is not known here. */
export const isShut = ({ body, personal }: Readable): boolean =>
  personal === undefined && Object.hasOwn(objectOf(body), 'sealed')
