// What every benchmark shares: medians, the CPU of one thread, and a row that stands beside its target.

import { readFileSync } from 'node:fs'

export const median = (values) => {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[sorted.length >> 1]
}

/** Nanoseconds that the calling thread has spent on a processor, or undefined where the system does not tell. */
export function threadCpuNs() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0])
  } catch {
    return undefined
  }
}

/** Microseconds of processor time of the whole process, all threads. */
export const processCpuUs = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Prints one measured figure beside its target. Never fails: a benchmark informs, it does not judge. */
export function row(name, value, unit, target) {
  const shown =
    value === undefined ? 'not measured here' : `${value < 10 ? value.toFixed(2) : value.toFixed(1)} ${unit}`
  const bound =
    target === undefined
      ? ''
      : `target <= ${target} ${unit}  ${value === undefined ? '' : value <= target ? 'met' : 'MISSED'}`
  console.log(`${name.padEnd(62)} ${shown.padStart(16)}   ${bound}`)
}

/** The same call, `count` times, one after the other; microseconds of wall time per call. */
export async function wallUsPerCall(count, call) {
  const start = process.hrtime.bigint()
  for (let index = 0; index < count; index++) await call()
  return Number(process.hrtime.bigint() - start) / 1_000 / count
}
