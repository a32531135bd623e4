// The code of the workspace that a command runs, as text: what an approval of it is for besides its arguments. A script of a
// package with what runs before and after it; otherwise the files that the arguments name.

import { sha256 } from '../../../base/digest.ts'
import type { BoundText } from '../../../describe/tool.ts'
import { packageScript } from './package-script.ts'
import { type Operand, rootOf, type SettledCommand } from './settled-command.ts'

const TEXT_BYTES_MAX = 16_384
const FILE_BYTES_MAX = 10_485_760

export async function boundTexts(command: SettledCommand): Promise<readonly BoundText[]> {
  const { cwd, operands, runsWorkspaceCode, script } = command
  if (!runsWorkspaceCode) return []
  if (script === undefined) return (await Promise.all(operands.map(fileText))).filter((one) => one !== undefined)
  const found = packageScript(script, cwd.absolute, rootOf(cwd))
  return found.kind === 'found' ? [{ title: `package script ${script}`, text: found.text }] : []
}

/** Short texts whole, so that a person can read them; of long ones and of other bytes the digest. */
async function fileText({ settled: { folder, relative } }: Operand): Promise<BoundText | undefined> {
  const looked = folder.look(relative)
  if (looked.kind !== 'ok' || !looked.stat.isFile()) return undefined
  const read = await folder.read(relative, FILE_BYTES_MAX)
  if (read.kind !== 'ok') return { title: relative, text: `cannot be read: ${read.kind}` }
  const text = read.bytes.length <= TEXT_BYTES_MAX ? Buffer.from(read.bytes).toString('utf8') : undefined
  const isText = text !== undefined && !text.includes('\ufffd') && !text.includes('\0')
  return { title: relative, text: isText ? text : `SHA-256 ${sha256(read.bytes)}` }
}
