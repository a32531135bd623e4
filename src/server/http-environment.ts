// What stands beside each request on its way through the routes.

import type { HttpBindings } from '@hono/node-server'
import type { TokenRow } from './token-rows.ts'

export type HttpEnvironment = {
  readonly Bindings: Partial<HttpBindings>
  readonly Variables: { credential: TokenRow }
}
