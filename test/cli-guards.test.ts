// `lockgate explain guards`: prints the very list that calls go through, whole and for one tool.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { CliProject } from './cli-project.ts'

const CONFIG = `version: 1
workspace: ws
tools: { files: true }
sources: { own: { module: ./tools.mjs } }
`
const TOOLS = `import { defineTool } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}
export const tools = [defineTool({
  name: 'look', version: '1.0.0', description: 'Looks.', input: { type: 'object' }, effect: 'read',
  retry: { times: 2, backoffMs: 5 }, attemptMs: 500, run: () => 1,
})]
`

let project: CliProject
beforeAll(() => {
  project = new CliProject(CONFIG)
  project.write('tools.mjs', TOOLS)
})
afterAll(() => project.remove())

it('all guards, outermost first, each with the tools that it stands before', async () => {
  const { code, value } = await project.json(['explain', 'guards'])
  expect(code).toBe(0)
  const rows = value as readonly { name: string; bounds: string; tools: unknown }[]
  expect(rows.map(({ name }) => name)).toEqual([
    ...['deadline', 'twin', 'lane', 'cache', 'breaker', 'retry', 'attempt', 'place', 'settle'],
  ])
  expect(rows.find(({ name }) => name === 'retry')?.tools).toEqual(['look'])
  expect(rows.every(({ bounds }) => bounds !== '')).toBe(true)
  const { stdout } = await project.run(['explain', 'guards'])
  expect(stdout).toMatch(/^deadline .*\n +before every tool$/m)
})

it('those of one tool with its own figures; of a tool that is not there none, and exit code 1', async () => {
  const { code, stdout } = await project.run(['explain', 'guards', 'look'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^retry +tries up to 2 more times/m)
  expect(stdout).toMatch(/^attempt .* 500 ms$/m)
  expect(stdout).not.toMatch(/^(twin|breaker)/m)
  expect(await project.json(['explain', 'guards', 'absent'])).toMatchObject({ code: 1, value: [] })
})
