// Makes a clone ready to run: installs what package-lock.json names if that has not happened yet, and builds dist/ if the
// sources are not those that it was built from. Needs nothing but Node and npm, and is quick when there is nothing to do.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const lock = join(tmpdir(), `lockgate-prepare-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`)
const stamp = join(root, 'dist', '.built-from')
const WAIT_MS = 200
const WAITS_MAX = 3_000

/** What the build depends on: a changed, new or missing file changes the digest. */
function sourcesDigest() {
  const hash = createHash('sha256')
  const files = ['package.json', 'tsconfig.json', 'tsdown.config.ts', ...filesBelow('src')]
  for (const file of files.sort()) {
    const { size, mtimeMs } = statSync(join(root, file))
    hash.update(`${file} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

function filesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() && !path.endsWith('.test.ts') ? [path] : []
  })
}

const modified = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

function mustInstall() {
  // npm writes this file at the end of every installation.
  return modified(join(root, 'node_modules', '.package-lock.json')) < modified(join(root, 'package-lock.json'))
}

const builtFrom = () => (existsSync(stamp) ? readFileSync(stamp, 'utf8') : '')
const mustBuild = () => !existsSync(join(root, 'dist', 'cli', 'main.js')) || builtFrom() !== sourcesDigest()

/** Runs a program with everything that it prints on stderr; ends this one where it fails. */
function run(what, program, args) {
  process.stderr.write(`${what}: ${args.join(' ')}\n`)
  const { status, error } = spawnSync(program, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, NODE_ENV: 'development' },
  })
  if (status === 0) return
  process.stderr.write(`${what} failed${error === undefined ? '' : `: ${error.message}`}\n`)
  rmSync(lock, { recursive: true, force: true })
  process.exit(1)
}

function install() {
  const npm = process.env.npm_execpath
  const args = ['ci', '--include=dev', '--no-fund', '--no-audit']
  if (npm?.endsWith('.js')) run('install', process.execPath, [npm, ...args])
  else run('install', process.platform === 'win32' ? 'npm.cmd' : 'npm', args)
}

function build() {
  // Read before the build: a file that changes meanwhile is built once more next time.
  const digest = sourcesDigest()
  run('build', process.execPath, [join(root, 'node_modules', 'tsdown', 'dist', 'run.mjs'), '--log-level', 'error'])
  writeFileSync(stamp, digest)
}

/** One at a time: `npm start` and `npm test` may be started together on a fresh clone. */
function takeLock() {
  for (let waits = 0; waits < WAITS_MAX; waits++) {
    try {
      mkdirSync(lock)
      writeFileSync(join(lock, 'pid'), String(process.pid))
      return
    } catch {
      if (!ownerLives()) rmSync(lock, { recursive: true, force: true })
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS)
    }
  }
  process.stderr.write(`another preparation of this folder does not end; remove ${lock} if there is none\n`)
  process.exit(1)
}

function ownerLives() {
  // The owner may not have written its number yet; it gets a moment for that.
  if (!existsSync(join(lock, 'pid'))) return Date.now() - modified(lock) < 5_000
  try {
    process.kill(Number(readFileSync(join(lock, 'pid'), 'utf8')), 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

if (mustInstall() || mustBuild()) {
  takeLock()
  if (mustInstall()) install()
  if (mustBuild()) build()
  rmSync(lock, { recursive: true, force: true })
}
