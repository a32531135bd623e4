// Answers that we write in a server's place, because what it sent cannot be passed on. They travel as errors of the
// protocol and carry a mark that no server can know.

import { randomBytes } from 'node:crypto'

export type UpstreamFault = 'oversized' | 'malformed' | 'cut-off'

const MARK = randomBytes(16).toString('hex')
const FAULTS: readonly UpstreamFault[] = ['oversized', 'malformed', 'cut-off']

export type FaultAnswer = {
  readonly jsonrpc: '2.0'
  readonly id: string | number
  readonly error: { readonly code: number; readonly message: string; readonly data: string }
}

export const faultAnswer = (id: string | number, fault: UpstreamFault, message: string): FaultAnswer => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32000, message, data: `${MARK}:${fault}` },
})

/** Which fault an error stands for; undefined for an error of the server's own. */
export const faultOf = (data: unknown): UpstreamFault | undefined =>
  typeof data === 'string' && data.startsWith(`${MARK}:`)
    ? FAULTS.find((fault) => data === `${MARK}:${fault}`)
    : undefined

/** Whose answer a line was, from its first and last bytes: implementations write the id at one of the two ends. */
export function idAtEdges(head: string, tail: string): number | undefined {
  const found =
    /^\{(?:"jsonrpc":"2\.0",)?\s*"id":\s*(\d{1,15})[,}]/.exec(head) ??
    /^\{\s*"jsonrpc":\s*"2\.0",\s*"id":\s*(\d{1,15})[,}]/.exec(head) ??
    /"id":\s*(\d{1,15})\s*\}\s*$/.exec(tail)
  return found === null ? undefined : Number(found[1])
}
