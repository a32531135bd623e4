// `audit` with its files: where they lie, and what of it holds together. A key or a copy inside a workspace would be in reach
// of programs that tools start, and is refused.

import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { vainAudit } from '../../gate/observing-options.ts'
import type { AuditOptions, CheckpointPlace } from '../../gate-contract.ts'
import { quoted } from './config-node.ts'
import type { LockgateConfig } from './lockgate-config.ts'
import type { WrittenAudit } from './observe-shape.ts'
import { absolutePath, type References } from './read-references.ts'
import type { Located } from './source-shape.ts'

export type AuditParts = {
  readonly references: References
  readonly store: LockgateConfig['store'] | undefined
  /** Root folders, without links. */
  readonly roots: readonly string[]
  /** Told of each file that no tool may reach. */
  readonly own: (file: string) => void
  /** Whether it has another use already: configurations, rules, the database, another file of `audit`. */
  readonly isOwn: (file: string) => boolean
}

export function readAudit(written: WrittenAudit, parts: AuditParts): AuditOptions {
  const { checkpointEvery, checkpointAfter, checkpointTo, onFailure, keep, seal, key } = written
  const file = written.signingKey === undefined ? undefined : ownFile(written.signingKey, parts)
  const places = checkpointTo?.value.flatMap((place) => placeOf(place, parts) ?? [])
  const options: AuditOptions = {
    ...(checkpointEvery === undefined ? {} : { checkpointEvery: checkpointEvery.value }),
    ...(checkpointAfter === undefined ? {} : { checkpointMs: checkpointAfter.value }),
    ...(places === undefined ? {} : { checkpointTo: places }),
    ...(file === undefined ? {} : { signingKey: { file } }),
    ...(onFailure === undefined ? {} : { onFailure: onFailure.value }),
    ...(keep === undefined ? {} : { keepMs: keep }),
    ...(seal === undefined ? {} : { seal: seal.value }),
    ...(key === undefined ? {} : { key: key.value }),
  }
  reportVain(written, options, parts)
  return options
}

function reportVain(written: WrittenAudit, options: AuditOptions, { store, references }: AuditParts): void {
  if (store === undefined) return
  for (const { key, message } of vainAudit(options, store.kind === 'memory' ? 'memory' : 'database')) {
    const place = written[key === 'checkpointMs' ? 'checkpointAfter' : key]
    if (place !== undefined) references.report({ at: place.at, key: place.key, message })
  }
}

function placeOf(written: Located<string>, parts: AuditParts): CheckpointPlace | undefined {
  if (written.value === 'stderr') return 'stderr'
  // A bare word is more likely a place that this version does not know than a file without an extension.
  if (!/[./]/.test(written.value) || written.value.includes('://'))
    return refuse(
      written,
      parts,
      `expected \`stderr\` or a path such as \`/var/log/lockgate/checkpoints\`, got ${quoted(written.value)}`,
    )
  const file = ownFile(written, parts)
  return file === undefined ? undefined : { file }
}

/** A file of the gate's own: it need not be there, but its folder must, and it lies outside of every workspace. */
function ownFile(written: Located<string>, parts: AuditParts): string | undefined {
  const absolute = absolutePath(written, parts.references)
  if (absolute === undefined) return undefined
  if (statSync(absolute, { throwIfNoEntry: false })?.isFile() === false)
    return refuse(written, parts, `expected the path of a file, got ${quoted(written.value)}, which is something else`)
  if (!existsSync(dirname(absolute)))
    return refuse(written, parts, `the folder of ${quoted(written.value)} does not exist`)
  const real = existsSync(absolute) ? realpathSync(absolute) : join(realpathSync(dirname(absolute)), basename(absolute))
  const around = parts.roots.find(
    (root) => root !== '' && (real.startsWith(root + sep) || absolute.startsWith(root + sep)),
  )
  if (around !== undefined)
    return refuse(written, parts, `${quoted(written.value)} lies inside the workspace; name a file outside of it`)
  if ([absolute, real].some(parts.isOwn))
    return refuse(written, parts, `${quoted(written.value)} is a file of Lockgate's own already; name another one`)
  for (const name of new Set([absolute, real])) parts.own(name)
  return absolute
}

function refuse({ at, key }: Located<unknown>, { references }: AuditParts, message: string): undefined {
  references.report({ at, key, message })
  return undefined
}
