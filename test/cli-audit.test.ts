// The records on the command line: they verify as they were written, and not with one byte of one row changed.

import { createHash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
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
    ['of a body', "UPDATE records SET body = replace(body, 'read_file', 'read_fole') WHERE kind = 'end'"],
    [
      'of a sealed part',
      "UPDATE records SET body = substr(body, 1, length(body) - 9) || CASE substr(body, length(body) - 8, 1) WHEN 'A' THEN 'B' ELSE 'A' END || substr(body, length(body) - 7) WHERE kind = 'end'",
    ],
    [
      'of a hash',
      "UPDATE records SET hash = CASE substr(hash, 1, 1) WHEN '0' THEN '1' ELSE '0' END || substr(hash, 2) WHERE kind = 'end'",
    ],
    ['of a time', "UPDATE records SET at = at + 1 WHERE kind = 'end'"],
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

  it('`query` finds what fits all filters, a page at a time, and goes on where a page ended', async () => {
    for (const name of ['hello.txt', 'none.txt', 'hello.txt'])
      await project.run(['call', 'read_file', JSON.stringify({ path: name }), '--user', 'ana'])
    const query = async (...argv: readonly string[]): Promise<{ records: { body: unknown }[]; next?: number }> =>
      (await project.json(['audit', 'query', '--kind', 'end', ...argv])).value as never
    expect((await query('--user', 'bo')).records).toEqual([])
    expect((await query('--user', 'ana', '--failed')).records).toMatchObject([
      { body: { error: { code: 'file_not_found' } } },
    ])
    const first = await query('--tool', 'read_file', '-n', '2')
    expect(first.records).toHaveLength(2)
    const last = await query('--tool', 'read_file', '-n', '2', '--after', String(first.next))
    expect(last.records).toHaveLength(1)
    expect(last.next).toBeUndefined()
    expect((await query('--newest', '-n', '1')).records).toEqual(last.records)
    expect((await project.run(['audit', 'query', '--since', '1h', '--ok'])).stdout).toMatch(
      /read_file .*ana\/agent {2}done/,
    )
  })

  it('`tail -f` goes on with what other processes write, until it is ended', async () => {
    await project.run(['call', 'read_file', '{"path":"hello.txt"}'])
    const end = new AbortController()
    let seen = 0
    const following = project.run(['audit', 'tail', '-f', '--tool', 'read_file', '-n', '1'], {
      signal: end.signal,
      onStdout: (text) => {
        const lines = text.trim().split('\n').length
        if (lines === 1 && seen === 0) void project.run(['call', 'read_file', '{"path":"none.txt"}'])
        if (lines === 2) end.abort()
        seen = lines
      },
    })
    const { code, stdout } = await following
    expect(code).toBe(0)
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => /done|tool_error/.exec(line)?.[0]),
    ).toEqual(['done', 'tool_error'])
  })

  it('`export` prints a line for each record, opened or as stored, or log records of OpenTelemetry', async () => {
    await project.run(['call', 'read_file', '{"path":"hello.txt"}', '--user', 'ana'])
    const lines = async (...argv: readonly string[]): Promise<{ bodyDigest: string; body: unknown }[]> =>
      (await project.run(['audit', 'export', ...argv])).stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    expect(await lines('--kind', 'end')).toMatchObject([{ kind: 'end', body: { user: 'ana', tool: 'read_file' } }])
    const [stored] = await lines('--kind', 'end', '--stored')
    expect(createHash('sha256').update(String(stored?.body)).digest('hex')).toBe(stored?.bodyDigest)
    expect(String(stored?.body)).not.toContain('ana')
    const [logs] = (await lines('--kind', 'end', '--format', 'otel')) as unknown[]
    expect(logs).toMatchObject({ resourceLogs: [{ scopeLogs: [{ logRecords: [expect.any(Object)] }] }] })
    expect((await project.run(['audit', 'export', '--user', 'nobody'])).stdout).toBe('')
  })

  it('`erase` makes a person unreadable, leaves everybody else, and the records still hold', async () => {
    for (const user of ['ana', 'bo']) await project.run(['call', 'read_file', '{"path":"hello.txt"}', '--user', user])
    expect((await project.run(['audit', 'erase'])).code).toBe(2)
    const { code, value } = await project.json(['audit', 'erase', '--user', 'ana'])
    expect({ code, value }).toMatchObject({ code: 0, value: { tenant: 'local', user: 'ana', unsealed: 0 } })
    expect((value as { records: number }).records).toBeGreaterThan(0)
    const left = await project.json(['audit', 'tail', '-n', '100'])
    expect(JSON.stringify(left.value)).not.toContain('"ana"')
    expect(JSON.stringify(left.value)).toContain('"bo"')
    expect((await project.json(['audit', 'verify'])).value).toMatchObject({ kind: 'ok' })
  })

  it('`verify` finds an end that was cut against a checkpoint kept elsewhere, and not without one', async () => {
    await project.run(['call', 'read_file', '{"path":"hello.txt"}'])
    const { stdout: note } = await project.run(['audit', 'checkpoint'])
    expect(note).toMatch(/^lockgate\/[0-9a-f]+\n/)
    project.write('copy', note)
    project.write('public.pem', (await project.run(['audit', 'key'])).stdout)
    const against = ['audit', 'verify', '--against', 'copy', '--key', 'public.pem']
    expect(await project.json(against)).toMatchObject({ code: 0, value: { kind: 'ok', against: [{ checkpoints: 1 }] } })
    project.write('empty', 'no checkpoint\n')
    expect((await project.run(['audit', 'verify', '--against', 'empty'])).code).toBe(2)
    expect((await project.run(['audit', 'verify', '--against', 'nowhere'])).code).toBe(2)
    expect((await project.run(['audit', 'verify', '--key', 'copy'])).code).toBe(2)
    const [folder] = readdirSync(project.path('state')).filter((name) => !name.includes('.'))
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(join(project.path('state'), folder ?? '', `lockgate.db${suffix}`), { force: true })
    await project.run(['call', 'read_file', '{"path":"hello.txt"}'])
    expect((await project.json(['audit', 'verify'])).code).toBe(0)
    expect(await project.json(against)).toMatchObject({ code: 1, value: { kind: 'broken' } })
  })

  it('`replay` shows a recorded conversation beside the answers of today', async () => {
    await project.run(['call', 'read_file', '{"path":"hello.txt"}', '--session', 's1'])
    expect((await project.run(['replay'])).code).toBe(2)
    expect((await project.run(['replay', 'other'])).code).toBe(1)
    const same = await project.run(['replay', 's1'])
    expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining('0 would get another answer today') })
    project.write(
      'lockgate.yaml',
      `${project.read('lockgate.yaml')}policy: { rules: [{ deny: read_file, because: not today }] }\n`,
    )
    const { stdout } = await project.run(['replay', 's1', '--differing'])
    expect(stdout).toMatch(/allow, done → deny {3}read_file/)
    expect(stdout).toContain('1 would get another answer today')
  })

  it('usage errors are exit code 2', async () => {
    for (const argv of [
      ['audit'],
      ['audit', 'tial'],
      ['audit', 'query', '--kind', 'things'],
      ['audit', 'query', '--ok', '--failed'],
      ['audit', 'query', '--since', 'soon'],
      ['audit', 'query', '--format', 'jsonl'],
      ['audit', 'verify', '--user', 'ana'],
      ['audit', 'export', '--format', 'xml'],
      ['audit', 'export', '--json'],
      ['audit', 'export', '--stored', '--format', 'otel'],
      ['audit', 'tail', '-f', '--json'],
      ['audit', 'erase', '--user', 'ana', '--tool', 'x'],
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
