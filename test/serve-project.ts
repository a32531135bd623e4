// `lockgate serve` in this process, over HTTP: what a test of a serving gate needs to know of it.

import type { CliProject } from './cli-project.ts'
import type { Run } from './run-lockgate.ts'

export type Announced = {
  readonly mcp: string
  readonly api: string
  readonly callToken: string
  readonly selfCheck: readonly { readonly name: string; readonly held: boolean }[]
}

type Answer = { readonly ok: boolean; readonly error?: { readonly type: string } }

export type Served = {
  readonly announced: Announced
  /** A call through the admin API. */
  call(name: string, args?: object): Promise<Answer>
  /** As SIGHUP does. */
  hangUp(): void
  /** Polls, with a bound. */
  until(holds: () => Promise<boolean>): Promise<void>
  /** Until stderr has said so. */
  untilSaid(text: RegExp): Promise<void>
  stop(): Promise<void>
}

const TRIES_MAX = 1_000

export async function serve(project: CliProject, options: { readonly found?: boolean } = {}): Promise<Served> {
  const end = new AbortController()
  let run: Promise<Run> | undefined
  let again = (): void => {}
  let said = ''
  const announced = await new Promise<Announced>((resolve, reject) => {
    const given = {
      signal: end.signal,
      onStdout: (text: string) => resolve(JSON.parse(text) as Announced),
      onStderr: (text: string) => {
        said = text
      },
      onReload: (action: () => void) => {
        again = action
        return () => {}
      },
    }
    const argv = ['serve', '--json']
    run = options.found === true ? project.bare(argv, given) : project.run(argv, given)
    run.then(({ stderr }) => reject(new Error(stderr)), reject)
  })
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    for (let tries = 0; !(await holds()); tries++) {
      if (tries > TRIES_MAX) throw new Error(`it did not come to be in time; stderr: ${said}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  return {
    announced,
    call: async (name, args = {}) => {
      const response = await fetch(`${announced.api}/calls`, {
        method: 'POST',
        headers: { authorization: `Bearer ${announced.callToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name, arguments: args }),
      })
      return (await response.json()) as Answer
    },
    hangUp: () => again(),
    until,
    untilSaid: (text) => until(async () => text.test(said)),
    stop: async () => {
      end.abort()
      await run
    },
  }
}
