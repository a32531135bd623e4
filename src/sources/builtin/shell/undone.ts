// Failures of commands that were not started.

import { type ToolFailure, toolFailure } from '../../../describe/tool-failure.ts'

/** INVARIANT last-check: what was decided and approved is what runs, or nothing does. */
export const stale = (): ToolFailure =>
  toolFailure({
    ...{ code: 'stale', effect: 'none', retry: 'later' },
    message: 'what this command would run or look at has changed since it was decided; look at it and call again',
  })

export const noSuchScript = (script: string): ToolFailure =>
  toolFailure({
    ...{ code: 'no_such_script', effect: 'none', retry: 'fix_args' },
    message: `there is no package.json with a script \`${script}\` here`,
  })

export const notPermitted = (message: string): ToolFailure =>
  toolFailure({ type: 'permission_denied', code: 'not_permitted', effect: 'none', message })
