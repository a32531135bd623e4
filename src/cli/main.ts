#!/usr/bin/env node
// The program `lockgate`: gives the process to a command, and turns signals into a wish to end. The second signal ends at once.

import process from 'node:process'
import { isForeground } from './foreground.ts'
import { runCli } from './run-cli.ts'

const EXIT_MS = 2_000
const INTERRUPTED = 130

const ending = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    if (ending.signal.aborted) process.exit(INTERRUPTED)
    ending.abort()
  })
}

// A reader that has gone, as with `| head`, is no fault of ours; there is nobody left to tell. A terminal that was closed is
// a wish to end: whatever is open is closed in order.
for (const stream of [process.stdin, process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EIO') ending.abort()
    else if (error.code !== 'EPIPE') throw error
  })
}

const { argv, env, stdin, stdout, stderr } = process
process.exitCode = await runCli({
  argv: argv.slice(2),
  stdin,
  stdout,
  stderr,
  variables: env,
  cwd: process.cwd(),
  signal: ending.signal,
  isForeground,
  onReload: (again) => {
    process.on('SIGHUP', again)
    return () => void process.off('SIGHUP', again)
  },
})
// Where writing to a pipe does not block, as on Windows, a slow reader still gets everything before the end is hurried.
await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))))
// Everything was closed by now; whatever still keeps the process alive does not keep it for long.
setTimeout(() => process.exit(), EXIT_MS).unref()
