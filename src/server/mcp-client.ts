// Whoever is at the other end of an MCP connection, as the entrance knows it: by its credential, and by nothing that it says
// of itself.

import type { Session } from '../gate-contract.ts'

export type McpClient = {
  /** The id of its credential; the same over restarts. */
  readonly id: string
  /** As records name it, such as `token laptop`. */
  readonly name: string
  /** The operator has marked it: a person at the client may answer questions about its calls there. */
  readonly mayAnswer: boolean
  /** The session of one conversation of this client; without a name, the client's own. */
  readonly session: (conversation: string | undefined) => Session
  /** The same client as its credential stands now; undefined once that has ended. */
  readonly now: () => Promise<McpClient | undefined>
}
