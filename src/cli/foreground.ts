// Whether this process has its terminal to itself. One that reads from a terminal while another job has it is stopped by the
// system, and a gateway that was sent to the background has to go on serving.

import { readFileSync } from 'node:fs'
import process from 'node:process'

/** True as well where there is no terminal, and where nobody can tell. */
export function isForeground(): boolean {
  try {
    const [group, foreground] = process.platform === 'linux' ? fromProc() : fromPs()
    // Without a terminal of its own the second is -1, or 0.
    return foreground === undefined || foreground <= 0 || foreground === group
  } catch {
    return true
  }
}

/** Behind the name of the program, which may hold anything: state, parent, group, session, terminal, foreground group. */
function fromProc(): readonly (number | undefined)[] {
  const text = readFileSync('/proc/self/stat', 'utf8')
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  return [fields[2], fields[5]]
}

function fromPs(): readonly number[] {
  // Loaded here, so that starting costs nothing where it is not asked for.
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  const args = ['-o', 'pgid=', '-o', 'tpgid=', '-p', String(process.pid)]
  const text = execFileSync('/bin/ps', args, { encoding: 'utf8', timeout: 1_000, stdio: ['ignore', 'pipe', 'ignore'] })
  return text.trim().split(/\s+/).map(Number)
}
