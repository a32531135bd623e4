// Tools that end when a test says so, and what went on behind their doors: for tests of who runs beside whom.

import { type AnyTool, defineTool, type Gate, type GateOptions, type Outcome } from '../src/index.ts'
import { openGate } from './opened.ts'

type Door = {
  readonly args: Readonly<Record<string, unknown>>
  readonly open: (answer?: unknown) => void
  signal: AbortSignal
}

/** Tools that wait behind a door, and what went on behind the doors. */
export class Doors {
  readonly log: string[] = []
  readonly waiting = new Map<string, Door>()

  tool(name: string, contract: object = {}): AnyTool {
    const { waiting, log } = this
    return defineTool({
      name,
      version: '1.0.0',
      description: `Does ${name}.`,
      input: { type: 'object' },
      effect: 'read',
      run: (args: Readonly<Record<string, unknown>>, { signal }: { readonly signal: AbortSignal }) => {
        const id = String(args.id ?? args.path ?? name)
        log.push(`${id} starts`)
        return new Promise((resolve) => {
          const open = (answer: unknown = id): void => {
            waiting.delete(id)
            log.push(`${id} ends`)
            resolve(answer)
          }
          waiting.set(id, { args, open, signal })
        })
      },
      ...contract,
    } as never) as AnyTool
  }

  /** Lets a tool end once it has come to its door. */
  async open(id: string, answer?: unknown): Promise<void> {
    await until(() => this.waiting.has(id))
    this.waiting.get(id)?.open(answer)
  }

  running(): readonly string[] {
    return [...this.waiting.keys()].sort()
  }
}

const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export async function until(holds: () => boolean): Promise<void> {
  for (let rounds = 0; !holds(); rounds++) {
    if (rounds > 2_000) throw new Error('it never came to that')
    await turnOfLoop()
  }
}

/** `opened` resolves when somebody lets it. */
export function door() {
  let openIt = (): void => {}
  const opened = new Promise<void>((resolve) => {
    openIt = resolve
  })
  return { opened, open: () => openIt() }
}

/** Long enough for everything to happen that happens by itself. */
export async function calm(): Promise<void> {
  for (let rounds = 0; rounds < 30; rounds++) await turnOfLoop()
}

export const read = (doors: Doors): AnyTool =>
  doors.tool('look', { touches: ({ path }: never) => [`read file:/ws/${path}`] })
export const write = (doors: Doors, contract = {}): AnyTool =>
  doors.tool('change', { effect: 'write', touches: ({ path }: never) => [`write file:/ws/${path}`], ...contract })

export const ALLOWED = {
  defaults: { write: 'allow', execute: 'allow', external: 'allow', destructive: 'allow', undeclared: 'allow' },
} as const

export async function openDoors(tools: readonly AnyTool[], options: GateOptions = {}): Promise<Gate> {
  return openGate({ tools, policy: ALLOWED, ...options })
}

export const ofLook = (path: string, id = path) => ({ name: 'look', arguments: { path, id } })
export const ofChange = (path: string, id = path) => ({ name: 'change', arguments: { path, id } })
export const typeOf = (outcome: Outcome | undefined): string =>
  outcome === undefined ? 'none' : outcome.ok ? 'ok' : outcome.error.type
