// The failure of a command that has ended and left behind what no tool may make or change. It undoes nothing: that is for a
// person to look at.

import { type ToolFailure, toolFailure } from '../../../describe/tool-failure.ts'
import { shownArgument } from './shown-argument.ts'

const SHOWN_MAX = 10

/**
 * Undefined where nothing was found and everything was looked at.
 *
 * @param paths Each relative to its root.
 * @param cut Why the look did not come to its end.
 */
export function protectedFailure(
  program: string,
  paths: readonly string[],
  cut: string | undefined,
): ToolFailure | undefined {
  if (paths.length === 0 && cut === undefined) return undefined
  const shown = paths.slice(0, SHOWN_MAX).map(shownArgument).join(', ')
  const more = paths.length > SHOWN_MAX ? ` and ${paths.length - SHOWN_MAX} more` : ''
  const message =
    paths.length > 0
      ? `while \`${program}\` ran, what no tool may change was made or changed: ${shown}${more}; a person has to look at that`
      : `\`${program}\` has run, and it cannot be told whether it made or changed what no tool may: ${cut}; a person has to look at that`
  return toolFailure({ type: 'permission_denied', code: 'protected_changed', effect: 'done', message })
}
