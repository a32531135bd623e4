// Where the code of the store's worker thread lies. Built, it is a file of its own beside or below the chunk that starts it.
// From TypeScript sources it is started as it is where Node strips types by itself, and bundled once where it does not.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Chunks may be put above or beside the folder that the worker is built into. */
const PLACES = ['./sqlite-worker', './stores/sqlite-worker', '../stores/sqlite-worker']
const ENDINGS = ['.js', '.mjs']

/** Undefined where the worker is not to be found. */
export async function workerFile(): Promise<URL | undefined> {
  const here = import.meta.url
  if (here.endsWith('.ts')) return sourceWorker(new URL('./sqlite-worker.ts', here))
  const candidates = PLACES.flatMap((place) => ENDINGS.map((ending) => new URL(place + ending, here)))
  return candidates.find((candidate) => existsSync(candidate))
}

let bundling: Promise<URL> | undefined

function sourceWorker(source: URL): URL | Promise<URL> {
  if ('typescript' in process.features && process.features.typescript) return source
  bundling ??= bundled(source)
  return bundling
}

type Bundler = { build(options: object): Promise<{ readonly output: readonly [{ readonly code: string }] }> }

/** A development tool: looked up by hand, so that no build takes it along. */
async function bundled(source: URL): Promise<URL> {
  const place = createRequire(source).resolve('rolldown')
  const bundler = (await import(pathToFileURL(place).href)) as Bundler
  const { output } = await bundler.build({
    input: fileURLToPath(source),
    platform: 'node',
    external: [/^node:/, 'libsql'],
    output: { format: 'esm', codeSplitting: false },
    write: false,
  })
  const { code } = output[0]
  // Below node_modules, so that the bundle finds `libsql`; named by its content, so that processes do not disturb each other.
  const folder = new URL('../../node_modules/.cache/lockgate/', source)
  const file = new URL(`sqlite-worker-${createHash('sha256').update(code).digest('hex').slice(0, 16)}.mjs`, folder)
  if (existsSync(file)) return file
  mkdirSync(folder, { recursive: true })
  const draft = new URL(`${process.pid}-${Math.random().toString(36).slice(2)}.tmp`, folder)
  writeFileSync(draft, code)
  renameSync(draft, file)
  return file
}
