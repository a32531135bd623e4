// Has V8 favour a small heap over speed for a while. Loading the parts of a gateway leaves a nursery behind that an idle
// process never gives back; while they load, nothing needs to be fast.

import v8 from 'node:v8'

/** Favours memory until the answer is called. Meant for the start of a process that then lives long. */
export function favourMemory(): () => void {
  v8.setFlagsFromString('--optimize-for-size')
  return () => v8.setFlagsFromString('--no-optimize-for-size')
}
