// Goal: every `file` case of the attack corpus comes out right through a whole gate: what must be refused is refused before
// any side effect and brings nothing from outside; every look-alike works. Method: the fixture of the corpus on a real disk,
// one gate a platform, and a comparison of everything outside the workspace before and after.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtinTools, createGate, type Gate, type Outcome } from '../src/index.ts'
import { buildInput } from './corpus/build-input.ts'

type FileInput = {
  readonly op: string
  readonly path: unknown
  readonly platform?: string
  readonly assert?: string
} & Readonly<Record<string, unknown>>
type Case = {
  readonly id: string
  readonly tool_kind: string
  readonly expect: 'reject' | 'allow'
  readonly why: string
  readonly input: FileInput
}

const corpus = JSON.parse(
  fs.readFileSync(new URL('./corpus/attack-corpus.json', import.meta.url), 'utf8'),
) as readonly Case[]
const cases = corpus.filter(({ tool_kind }) => tool_kind === 'file')
const SECRET = 'outside-secret-value'
const gates = new Map<string, Gate>()
let base = ''
let workspace = ''
let configuration = ''

function put(path: string, text: string): void {
  fs.mkdirSync(dirname(path), { recursive: true })
  fs.writeFileSync(path, text)
}

beforeAll(async () => {
  base = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'lockgate-corpus-'))
  workspace = join(base, 'ws')
  configuration = join(workspace, 'lockgate.yaml')
  for (const folder of [
    'a/b',
    'a/..b',
    'd',
    '.git/hooks',
    'sub/.git/hooks',
    '.vscode',
    '.cursor',
    '.claude',
    'git/hooks',
    'src',
    'docs',
  ]) {
    fs.mkdirSync(join(workspace, folder), { recursive: true })
  }
  for (const { input } of cases.filter(({ expect: wanted }) => wanted === 'allow')) {
    if (typeof input.path !== 'string' || input.op === 'search' || input.path.includes('new.ts')) continue
    const path = input.path.replaceAll('${WS}', workspace)
    if (!path.startsWith('link-')) put(path.startsWith('/') ? path : join(workspace, path), 'hello\n')
  }
  put(join(workspace, 'd/f'), 'hello\n')
  put(join(base, 'outside/secret.txt'), SECRET)
  put(join(base, 'ws-evil/secret.txt'), SECRET)
  put(configuration, 'version: 1\n')
  const link = (target: string, name: string) => fs.symlinkSync(target, join(workspace, name))
  link(join(base, 'outside'), 'link-out')
  link(join(base, 'outside/secret.txt'), 'link-file-out')
  link('link-out', 'link-chain-out')
  link('src', 'link-in')
  link('link-in', 'link-chain-in')
  link(join(base, 'outside/absent.txt'), 'link-dangling-out')
  link('link-loop', 'link-loop')
  fs.linkSync(join(base, 'outside/secret.txt'), join(workspace, 'hard-out'))
  execFileSync('mkfifo', [join(workspace, 'pipe')])
  for (const platform of ['linux', 'darwin', 'win32'] as const) {
    const gate = await createGate({
      sources: [builtinTools(['files'], { platform })],
      workspace,
      ownFiles: [configuration],
      policy: { defaults: { write: 'allow', destructive: 'allow' } },
    })
    gates.set(platform, gate)
  }
})

afterAll(async () => {
  for (const gate of gates.values()) await gate.close()
  fs.rmSync(base, { recursive: true, force: true })
})

/** Everything beside the workspace, and the files in it that must never change. */
function outsideState(): string {
  const seen: string[] = []
  const visit = (path: string): void => {
    const stat = fs.lstatSync(path)
    if (stat.isDirectory()) for (const name of fs.readdirSync(path).sort()) visit(join(path, name))
    else if (stat.isFile()) seen.push(`${path} ${createHash('sha256').update(fs.readFileSync(path)).digest('hex')}`)
  }
  for (const name of ['outside', 'ws-evil']) visit(join(base, name))
  for (const name of ['.git', 'sub/.git', '.vscode', '.cursor', '.claude', 'lockgate.yaml'])
    visit(join(workspace, name))
  return seen.join('\n')
}

async function call({ input }: Case): Promise<Outcome> {
  const gate = gates.get(input.platform ?? 'linux')
  if (gate === undefined) throw new Error(`no gate for ${input.platform}`)
  const text = JSON.stringify(buildInput(input))
    .replaceAll('${WS}', workspace)
    .replaceAll('${GATEWAY_CONFIG}', configuration)
  const { op, path, content, old, new: replace, text: words, regex, glob } = JSON.parse(text) as Record<string, unknown>
  const session = gate.session()
  switch (op) {
    case 'read':
      return session.call({ name: 'read_file', arguments: { path } })
    case 'write':
      return session.call({ name: 'write_file', arguments: { path, content } })
    case 'edit':
      return session.call({ name: 'edit_file', arguments: { path, find: old, replace } })
    case 'search':
      if (words === undefined && regex === undefined)
        return session.call({ name: 'find_files', arguments: { path, glob } })
      return session.call({
        name: 'search_text',
        arguments: {
          path,
          ...(words === undefined ? { pattern: regex } : { text: words }),
          ...(glob === undefined ? {} : { glob }),
        },
      })
    default:
      throw new Error(`the corpus has an operation that is not run here: ${String(op)}`)
  }
}

describe('file cases of the attack corpus', () => {
  const right = { reject: 0, allow: 0 }

  test.each(cases.map((one) => [one.id, one.why, one] as const))('%s %s', async (_id, _why, one) => {
    put(join(workspace, 'src/a.ts'), 'hello\n')
    const before = outsideState()
    const outcome = await call(one)
    expect(outsideState()).toBe(before)
    expect(JSON.stringify(outcome)).not.toContain(SECRET)
    if (one.input.assert === 'refused_or_linear_time')
      expect(['ok', 'invalid_args', 'unsafe_args']).toContain(outcome.ok ? 'ok' : outcome.error.type)
    else expect(outcome.ok ? 'allow' : 'reject', JSON.stringify(outcome.content)).toBe(one.expect)
    if (!outcome.ok) expect(outcome.error.effect).toBe('none')
    right[one.expect] += 1
  })

  test('both counts', () => {
    const wanted = (expected: string) => cases.filter((one) => one.expect === expected).length
    console.log(`file: ${right.reject}/${wanted('reject')} rejected, ${right.allow}/${wanted('allow')} allowed`)
    expect(right).toEqual({ reject: wanted('reject'), allow: wanted('allow') })
  })
})
