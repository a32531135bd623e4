// The text of a package script: what really runs when a call says `npm run test`. An approval is for this text, and it is read
// again before anything starts.

import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { takeJsonText } from '../../../base/json-text.ts'
import { isJsonObject, type JsonObject } from '../../../base/json-value.ts'

export type PackageScript =
  | { readonly kind: 'found'; readonly text: string; readonly folder: string }
  | { readonly kind: 'missing'; readonly reason: string }

const BYTES_MAX = 1_048_576
const BOUNDS = { depthMax: 64, keysMax: 50_000, bytesMax: BYTES_MAX } as const

/** @param folder Where the command runs. @param root No folder above it is looked into; npm would. */
export function packageScript(name: string, folder: string, root: string): PackageScript {
  const home = packageFolder(folder, root)
  if (home === undefined) return missing('there is no package.json here or above it in the workspace')
  const scripts = scriptsOf(join(home, 'package.json'))
  if (scripts === undefined) return missing('the package.json here cannot be read')
  if (typeof ownText(scripts, name) !== 'string') return missing(`the package.json here has no script \`${name}\``)
  const lines = [`pre${name}`, name, `post${name}`].flatMap((one) => {
    const text = ownText(scripts, one)
    return text === undefined ? [] : [`${one}: ${text}`]
  })
  return { kind: 'found', text: lines.join('\n'), folder: home }
}

const missing = (reason: string): PackageScript => ({ kind: 'missing', reason })

/** As npm finds it: the nearest folder that holds a package or its modules. */
function packageFolder(folder: string, root: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (exists(join(at, 'package.json'))) return at
    if (exists(join(at, 'node_modules')) || at === root || dirname(at) === at) return undefined
  }
}

function scriptsOf(file: string): JsonObject | undefined {
  try {
    // A link would be another file than the one that stands here, and may lead out.
    if (!fs.lstatSync(file).isFile() || fs.statSync(file).size > BYTES_MAX) return undefined
    const taken = takeJsonText(fs.readFileSync(file, 'utf8').replace(/^\ufeff/, ''), BOUNDS)
    if (taken.kind !== 'ok' || !isJsonObject(taken.value)) return undefined
    const { scripts = {} } = taken.value
    return isJsonObject(scripts) ? scripts : undefined
  } catch {
    return undefined
  }
}

function ownText(scripts: JsonObject, name: string): string | undefined {
  const text = Object.hasOwn(scripts, name) ? scripts[name] : undefined
  return typeof text === 'string' ? text : undefined
}

const exists = (path: string): boolean => fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined

const DIRECT = new Map([
  ['test', 'test'],
  ['t', 'test'],
  ['tst', 'test'],
  ['start', 'start'],
  ['stop', 'stop'],
  ['restart', 'restart'],
])

/** The script that a package manager is asked to run; undefined where it is another program, or asked for something else. */
export function scriptOf(program: string, args: readonly string[]): string | undefined {
  if (!['npm', 'pnpm', 'yarn'].includes(program)) return undefined
  const [verb = '', name] = args.filter((arg) => !arg.startsWith('-'))
  if (['run', 'run-script', 'rum', 'urn'].includes(verb)) return name
  return DIRECT.get(verb)
}
