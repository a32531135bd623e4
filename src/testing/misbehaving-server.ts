// Starts the misbehaving MCP server for a test, over stdio or Streamable HTTP. What its switches do stands at the top of
// `misbehaving-server.mjs`, which is a program of its own so that it can die without taking the test with it.

import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export type MisbehavingSwitches = {
  readonly startAfterMs?: number
  readonly muteInitialize?: boolean
  readonly exitOnProbe?: boolean
  readonly muteProbe?: boolean
  readonly dieDuringCall?: number
  readonly dieAfterCall?: number
  readonly garbage?: boolean
  readonly answerTwice?: boolean
  readonly stubborn?: boolean
  readonly complain?: number
  readonly tools?: readonly unknown[]
  readonly onlyTools?: readonly unknown[]
  readonly toolCount?: number
  readonly endlessCursor?: boolean
  readonly repeatCursor?: boolean
  readonly changeAtCall?: number
  readonly changeAtRestart?: string
  readonly removeAtCall?: number
  readonly announce?: number
  readonly mediaType?: string
  readonly status?: number
  readonly forgetSessionAtCall?: number
  readonly answerOnStream?: boolean
}

const SCRIPT = fileURLToPath(new URL('./misbehaving-server.mjs', import.meta.url))

/** How to launch it over stdio, as `mcpSource` takes it. */
export const misbehavingServer = (
  switches: MisbehavingSwitches = {},
): { readonly command: string; readonly args: readonly string[] } => ({
  command: process.execPath,
  args: [SCRIPT, JSON.stringify(switches)],
})

/** Starts it over Streamable HTTP on a free port of the loopback; resolves once it listens. */
export async function serveMisbehaving(
  switches: MisbehavingSwitches = {},
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify({ ...switches, http: true })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await firstUrl(child)
  return { url, close: () => end(child) }
}

function firstUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('the misbehaving server ended before it listened')))
    if (child.stdout === null) return reject(new Error('the misbehaving server has no output'))
    createInterface({ input: child.stdout }).once('line', (line) => {
      const told: unknown = JSON.parse(line)
      if (typeof told === 'object' && told !== null && 'url' in told && typeof told.url === 'string') resolve(told.url)
      else reject(new Error('the misbehaving server did not say where it listens'))
    })
  })
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
}
