// Bounds of programs, as an operator writes them: of a command, and of a server that lives as long as the gate.

import type { ProcessLimit } from '../../machine/abilities.ts'
import type { CommandLimits } from '../../sources/builtin/shell/shell-options.ts'
import { duration, refined, type Shape, size, whole } from './shape.ts'
import { type FieldsValue, fields, optional } from './shape-object.ts'

const DAY_MS = 86_400_000
/** Bytes of a terabyte. */
const LARGEST = 2 ** 40

const lasting = {
  memory: optional(
    size({ min: 16_777_216, max: LARGEST }),
    'Of all its processes together where the machine can tell, else of each.',
  ),
  processes: optional(whole(1, 100_000), 'Processes and threads at the same time.'),
  file: optional(size({ min: 1_024, max: LARGEST }), 'Of one file that it writes.'),
  openFiles: optional(whole(16, 1_048_576), 'Files that one process holds open.'),
}

type Lasting = FieldsValue<typeof lasting>
type LastingLimits = Partial<Readonly<Record<Exclude<ProcessLimit, 'cpuMs'>, number>>>

const lastingOf = ({ memory, processes, file, openFiles }: Lasting): LastingLimits => ({
  ...(memory === undefined ? {} : { memoryBytes: memory }),
  ...(processes === undefined ? {} : { processes }),
  ...(file === undefined ? {} : { fileBytes: file }),
  ...(openFiles === undefined ? {} : { openFiles }),
})

/** `limits` of a server. Of processor time there is none: it lives as long as the gate. */
export const serverLimits: Shape<LastingLimits> = refined(fields(lasting), lastingOf)

/** `limits` of a command. */
export const commandLimits: Shape<CommandLimits> = refined(
  fields({
    ...lasting,
    cpu: optional(duration({ min: 100, max: DAY_MS }), 'Time of the processor that each process may use.'),
    output: optional(
      size({ min: 1_024, max: 8 * 1_048_576 }),
      'Of each output that is kept: its beginning and its end. Default: 1MB.',
    ),
  }),
  ({ cpu, output, ...rest }) => ({
    ...lastingOf(rest),
    ...(cpu === undefined ? {} : { cpuMs: cpu }),
    ...(output === undefined ? {} : { outputBytes: output }),
  }),
)
