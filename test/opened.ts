// What tests of whole gates open: gates and folders of their own, closed and removed after each test of the file that uses this.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { createGate, type Gate, type GateOptions } from '../src/index.ts'

const gates: Gate[] = []
const folders: string[] = []

afterEach(async () => {
  for (const gate of gates.splice(0)) await gate.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A gate whose sources are ready or have failed. */
export async function openGate(options: GateOptions): Promise<Gate> {
  const gate = await createGate(options)
  gates.push(gate)
  await gate.settled()
  return gate
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lockgate-test-'))
  folders.push(folder)
  return folder
}
