// A process of its own for the tests of what happens to commands when their host leaves: runs one command, says `ready`, and
// then leaves in the way that it is told, or waits to be told by a signal. Usage: conformance-host FOLDER SCRIPT PLACE WAY

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { machineAbilities } from './probe-machine.ts'
import { runProcess } from './run-process.ts'

const [, , folder = '', script = '', place = '', way = ''] = process.argv

if (way === 'handled') process.once('SIGTERM', () => void systemClock.after(50, () => process.exit(5)))

const sandbox = { readable: [], writable: [folder], frozen: [join(folder, '.vscode')], masked: [], network: false }
const abilities = await machineAbilities()
void runProcess(
  {
    program: '/bin/sh',
    args: ['-c', script],
    cwd: folder,
    env: { PATH: '/usr/bin:/bin' },
    signal: new AbortController().signal,
    limits: { outputBytes: 1_000, processes: 50 },
    ...(place === 'sandbox' && { sandbox }),
  },
  { clock: systemClock, abilities: place === 'ungrouped' ? { ...abilities, groups: [] } : abilities },
)

const look = (): void => {
  if (!existsSync(join(folder, 'started'))) {
    systemClock.after(20, look)
    return
  }
  process.stdout.write('ready\n')
  if (way === 'exit') process.exit(3)
  if (way === 'throw') throw new Error('nobody catches this')
}
look()
