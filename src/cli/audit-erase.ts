// `lockgate audit erase`: makes everything that is kept about a person unreadable, for good. Records stay, and their chains
// still verify; what was personal in them cannot be opened any more. There is no way back.

import { LOCAL_CALLER } from '../authorize/caller-identity.ts'
import type { ExitCode } from './cli-io.ts'
import type { CommandInput, RunCommand } from './command.ts'
import { atDesk, type Desk } from './open-desk.ts'
import { OPERATOR } from './operator.ts'

const NAME_MAX = 256

export const auditErase: RunCommand = async (input) => {
  const { line, terminal } = input
  const user = line.text('user')
  if (user === undefined) return terminal.fail('usage', '`--user` is missing: whose records to erase')
  const tenant = line.text('tenant') ?? LOCAL_CALLER.tenant
  for (const [name, value] of [
    ['user', user],
    ['tenant', tenant],
  ] as const)
    if (value === '' || value.length > NAME_MAX)
      return terminal.fail('usage', `\`--${name}\`: expected 1 to ${NAME_MAX} characters`)
  return atDesk(input, (desk) => erase(desk, { tenant, user }, input))
}

async function erase(
  desk: Pick<Desk, 'records'>,
  subject: { readonly tenant: string; readonly user: string },
  { terminal }: CommandInput,
): Promise<ExitCode> {
  const erased = await desk.records.erase(subject, OPERATOR)
  const { records, others, unsealed } = erased
  terminal.value({ ...subject, ...erased })
  terminal.line(
    ['green', 'erased '],
    `${subject.tenant}/${subject.user}: ${counted(records, 'record')} cannot be read any more, ${counted(others, 'other row')} deleted`,
  )
  if (unsealed === 0) return 0
  terminal.note(
    ['yellow', 'warning: '],
    `${counted(unsealed, 'record')} of this person ${unsealed === 1 ? 'was' : 'were'} written without being sealed (\`audit.seal: false\`, or by an older version) and can still be read`,
  )
  return 1
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
