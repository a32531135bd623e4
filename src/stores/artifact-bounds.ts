// What every store asks of a content before it is kept or handed out: whether it can fit at all, and whose it is. Pure, so
// that every database answers alike.

import type { ArtifactBounds, ArtifactRow } from '../observe/store.ts'

type Owner = ArtifactRow['principal']

/** Why a content can never be kept within these bounds, in words for a model. */
export function inVain({ bytes }: Pick<ArtifactRow, 'bytes'>, bounds: ArtifactBounds): string | undefined {
  const most = Math.min(bounds.bytesMax, bounds.principalBytesMax)
  return bytes <= most ? undefined : `it has ${bytes} bytes, and at most ${most} are kept`
}

export const heldBy = ({ principal }: Pick<ArtifactRow, 'principal'>, { tenant, user, agent }: Owner): boolean =>
  principal.tenant === tenant && principal.user === user && principal.agent === agent
