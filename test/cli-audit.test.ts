// The records on the command line: they verify as they were written, and not with one byte of one row changed.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findDriver } from '../src/stores/sqlite-driver.ts'
import { CliProject } from './cli-project.ts'

let project: CliProject
beforeEach(() => {
  project = new CliProject('version: 1\nworkspace: ws\ntools: { files: true }\n')
})
afterEach(() => project.remove())

async function changeRow(sql: string): Promise<void> {
  const found = await findDriver()
  if (found.kind === 'failed') throw new Error(found.reason)
  const [folder] = readdirSync(project.path('state')).filter((name) => !name.includes('.'))
  const database = found.driver.open(join(project.path('state'), folder ?? '', 'lockgate.db'))
  expect(database.prepare(sql).run([])).toBe(1)
  database.close()
}

describe('lockgate audit', () => {
  it('verifies nothing that is not there, and everything that is', async () => {
    expect(await project.json(['audit', 'verify'])).toMatchObject({ code: 0, value: { kind: 'ok', rows: 0 } })
    await project.run(['call', 'read_file', '{"path":"hello.txt"}'])
    await project.run(['call', 'read_file', '{"path":"../outside/secret.txt"}'])
    expect(await project.json(['audit', 'verify'])).toMatchObject({ code: 0, value: { kind: 'ok', chains: 2 } })
    const { value } = await project.json(['audit', 'tail', '-n', '1'])
    expect(value).toMatchObject([
      { kind: 'end', body: { tool: 'read_file', entrance: 'cli', error: { type: 'unsafe_args' } } },
    ])
  })

  it.each([
    ['of a body', "UPDATE records SET body = replace(body, 'hello.txt', 'hallo.txt') WHERE body LIKE '%hello.txt%'"],
    [
      'of a hash',
      "UPDATE records SET hash = CASE substr(hash, 1, 1) WHEN '0' THEN '1' ELSE '0' END || substr(hash, 2) WHERE body LIKE '%hello.txt%'",
    ],
    ['of a time', "UPDATE records SET at = at + 1 WHERE body LIKE '%hello.txt%'"],
  ])('one changed byte %s is found, with exit code 1', async (_what, sql) => {
    await project.run(['call', 'read_file', '{"path":"hello.txt"}'])
    await changeRow(sql)
    expect(await project.json(['audit', 'verify'])).toMatchObject({ code: 1, value: { kind: 'broken' } })
  })

  it('`tail` names what every row is about, answers and stops included, and what it says to type names the configuration', async () => {
    const call = ['call', 'write_file', '{"path":"a.txt","content":"x"}']
    const asked = await project.run(call)
    expect(asked.stderr).toMatch(/`lockgate --config lockgate\.yaml approvals approve apr_\w+`/)
    const id = /apr_\w+/.exec(asked.stderr)?.[0] ?? ''
    expect((await project.run(['approvals', 'decline', id])).code).toBe(0)
    const { stdout } = await project.run(['audit', 'tail', '-n', '1'])
    expect(stdout).toMatch(/approval +write_file .*decline by operator/)
    const stopped = await project.run(['stop', '--source', 'builtin'])
    const stop = /stop_[\w-]+/.exec(`${stopped.stdout}${stopped.stderr}`)?.[0] ?? ''
    await project.run(['stop', '--lift', stop])
    const stopping = (await project.run(['audit', 'tail', '-n', '2'])).stdout
    expect(stopping).toMatch(/stop +builtin +stopped by operator/)
    expect(stopping).toMatch(new RegExp(`stop +${stop} +lifted by operator`))
    const bare = await project.bare(call, { variables: { ...project.variables, LOCKGATE_CONFIG: 'lockgate.yaml' } })
    expect(bare.stderr).not.toContain('--config')
  })

  it('usage errors are exit code 2', async () => {
    for (const argv of [
      ['audit'],
      ['audit', 'tial'],
      ['audit', 'tail', '-n', '0'],
      ['audit', 'tail', '-n', 'x'],
      ['audit', 'tail', '-n', '99999'],
    ]) {
      expect((await project.run(argv)).code, argv.join(' ')).toBe(2)
    }
  })

  it('records in memory have no later reader, and the commands say so', async () => {
    project.write('lockgate.yaml', 'version: 1\nstore: memory\n')
    expect(await project.run(['audit', 'verify'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('in memory'),
    })
    expect(await project.run(['approvals', 'list'])).toMatchObject({ code: 2 })
  })
})
