// The arguments of the sandbox as they are written down: what must never be among them, and in which order the rest stands.

import { describe, expect, test } from 'vitest'
import type { SandboxPlan } from './process-plan.ts'
import { type PathKind, type SandboxRequest, sandboxArguments } from './sandbox-arguments.ts'

const plan = (more: Partial<SandboxPlan> = {}): SandboxPlan => ({
  ...{ readable: [], writable: ['/ws'], frozen: [], masked: [], network: false },
  ...more,
})

/** A disk with these files (`/a`), folders (`/a/`) and links (`/a>target`). */
function disk(...names: readonly string[]): (path: string) => PathKind {
  const known = new Map<string, PathKind>([
    ['/usr', 'folder'],
    ['/bin', { linkTo: 'usr/bin' }],
    ['/lib', 'folder'],
    ['/ws', 'folder'],
  ])
  for (const name of names) {
    const [path = '', linkTo] = name.split('>')
    if (linkTo !== undefined) known.set(path, { linkTo })
    else known.set(path.replace(/\/$/, ''), path.endsWith('/') ? 'folder' : 'file')
  }
  return (path) => known.get(path) ?? 'absent'
}

const request = (more: Partial<SandboxRequest> = {}): SandboxRequest => ({
  ...{ plan: plan(), cwd: '/ws', env: {}, program: '/usr/bin/git', kindOf: disk(), empty: '/tmp/empty' },
  ...more,
})

function made(more: Partial<SandboxRequest> = {}) {
  const answer = sandboxArguments(request(more))
  if (answer.kind === 'refused') throw new Error(answer.reason)
  return { ...answer, text: ` ${answer.args.join(' ')} ` }
}

const refusal = (more: Partial<SandboxRequest>): string => {
  const answer = sandboxArguments(request(more))
  return answer.kind === 'refused' ? answer.reason : 'it was not refused'
}

describe('the arguments of bubblewrap', () => {
  test('every namespace, no capability, an empty environment and the end of its parent, whatever the plan', () => {
    for (const network of [true, false]) {
      const { text } = made({ plan: plan({ network }) })
      for (const fixed of ['--unshare-all', '--die-with-parent', '--new-session', '--clearenv', '--cap-drop ALL'])
        expect(text).toContain(` ${fixed} `)
      expect(text.includes('--share-net')).toBe(network)
    }
  })

  test('the whole disk is never shown, nor what stands in a home or in /etc', () => {
    const { args, text } = made({
      plan: plan({ network: true }),
      kindOf: disk('/etc/ssl/', '/etc/passwd', '/root/', '/home/'),
    })
    expect(text).not.toMatch(/ (--ro-bind|--bind|--dev-bind)(-try)? \/ /)
    for (const path of ['/etc', '/etc/passwd', '/root', '/home', '/run', '/var']) expect(args).not.toContain(path)
    expect(text).toContain('--ro-bind-try /etc/ssl /etc/ssl')
  })

  test('folders of the system are links where they are links', () => {
    const { text } = made()
    expect(text).toContain('--ro-bind /usr /usr --symlink usr/bin /bin --ro-bind /lib /lib')
    expect(text).not.toContain('/lib64')
  })

  test('the root is made unchangeable after everything else was put into it', () => {
    const { args } = made({ plan: plan({ masked: ['/ws/.env'] }), kindOf: disk('/ws/.env') })
    expect(args.lastIndexOf('--remount-ro')).toBeGreaterThan(args.lastIndexOf('--ro-bind'))
    expect(args[args.lastIndexOf('--remount-ro') + 1]).toBe('/')
  })

  test('a folder is put in place before what lies below it, however names sort', () => {
    const { text } = made({
      plan: plan({
        readable: ['/ws/a/vendor', '/ws/a-b'],
        writable: ['/ws', '/ws/a/vendor/cache'],
        masked: ['/ws/a/vendor/key'],
      }),
      kindOf: disk('/ws/a/vendor/key'),
    })
    const at = (part: string): number => text.indexOf(part)
    expect(at('--bind /ws /ws')).toBeLessThan(at('--ro-bind /ws/a/vendor /ws/a/vendor'))
    expect(at('--ro-bind /ws/a/vendor /ws/a/vendor')).toBeLessThan(at('--bind /ws/a/vendor/cache'))
    expect(at('--ro-bind /ws/a/vendor /ws/a/vendor')).toBeLessThan(at('--ro-bind /tmp/empty /ws/a/vendor/key'))
  })

  test('the stricter word holds where a path is named twice', () => {
    const { text } = made({ plan: plan({ readable: ['/ws'] }) })
    expect(text).toContain(' --ro-bind /ws /ws ')
    expect(text).not.toContain(' --bind /ws /ws ')
  })

  test('what stands above a frozen path becomes a mount too', () => {
    const { text, placeholders } = made({
      plan: plan({ frozen: ['/ws/a/.git/hooks'] }),
      kindOf: disk('/ws/a/', '/ws/a/.git/', '/ws/a/.git/hooks/'),
    })
    expect(text).toContain(
      ' --bind /ws /ws --bind /ws/a /ws/a --bind /ws/a/.git /ws/a/.git --ro-bind /ws/a/.git/hooks /ws/a/.git/hooks ',
    )
    expect(placeholders).toEqual([])
  })

  test('an absent frozen path is held at the first name that is absent, by an empty folder', () => {
    const held = (path: string) => {
      const { text, placeholders } = made({ plan: plan({ frozen: [path] }), kindOf: disk('/ws/.git/') })
      expect(text).toContain(`--perms 0555 --tmpfs ${placeholders[0]} `)
      return placeholders
    }
    expect(held('/ws/.vscode/settings.json')).toEqual(['/ws/.vscode'])
    expect(held('/ws/.npmrc')).toEqual(['/ws/.npmrc'])
    expect(held('/ws/.git/hooks/')).toEqual(['/ws/.git/hooks'])
  })

  test('what is hidden is hidden last, and nothing is shown inside of it', () => {
    const { text } = made({
      plan: plan({ readable: ['/ws/private/docs'], masked: ['/ws/private', '/ws/private/key', '/ws/private.txt'] }),
      kindOf: disk('/ws/private/', '/ws/private/key', '/ws/private.txt'),
    })
    expect(text.indexOf('--tmpfs /ws/private ')).toBeGreaterThan(text.indexOf('--ro-bind /ws/private/docs'))
    expect(text).not.toContain('/ws/private/key')
    expect(text).toContain('--ro-bind /tmp/empty /ws/private.txt')
  })

  test('a frozen path that nothing makes writable needs nothing', () => {
    const frozen = plan({
      readable: ['/lib/x', '/ws/vendor'],
      frozen: ['/lib/x/.git', '/elsewhere/.git', '/ws/vendor/.npmrc'],
    })
    expect(made({ plan: frozen }).placeholders).toEqual([])
    expect(made({ plan: frozen }).text).not.toContain('.git')
  })

  test('a link in the way of a frozen path is refused', () => {
    const frozen = plan({ frozen: ['/ws/.git/config'] })
    expect(refusal({ plan: frozen, kindOf: disk('/ws/.git>/elsewhere') })).toContain('symbolic link')
  })

  test('no folder above a masked path can be renamed, and none of them opens what is frozen', () => {
    const names = ['/ws/a/', '/ws/a/b/', '/ws/a/b/key', '/ws/.vscode/', '/ws/.vscode/c/', '/ws/.vscode/c/key']
    const masked = ['/ws/a/b/key', '/ws/.vscode/c/key', '/ws/none/key']
    const { text } = made({ plan: plan({ masked, frozen: ['/ws/.vscode'] }), kindOf: disk(...names) })
    expect(text).toContain(' --bind /ws/a /ws/a --bind /ws/a/b /ws/a/b ')
    expect(text).not.toMatch(/ --bind \/ws\/(\.vscode|none)/)
    const { text: unwritten } = made({
      plan: plan({ readable: ['/ws'], writable: [], masked }),
      kindOf: disk(...names),
    })
    expect(unwritten).not.toContain(' --bind ')
  })

  test('an absent path is not masked, so that no name of it appears', () => {
    const { text } = made({ plan: plan({ masked: ['/ws/.env', '/ws/keys'] }), kindOf: disk('/ws/keys/') })
    expect(text).not.toContain('/ws/.env')
    expect(text).toContain('--perms 0555 --tmpfs /ws/keys ')
  })

  test('values of the environment stand alone, whatever they look like', () => {
    const { args } = made({ env: { A: '--bind', B: '/ /' } })
    const at = args.indexOf('--setenv')
    expect(args.slice(at)).toEqual(['--setenv', 'A', '--bind', '--setenv', 'B', '/ /'])
  })

  test('a plan that is no plan is refused: relative paths, a NUL, more than a sandbox takes', () => {
    expect(refusal({ plan: plan({ writable: ['ws'] }) })).toContain('absolute')
    expect(refusal({ plan: plan({ masked: ['../x'] }) })).toContain('absolute')
    expect(refusal({ cwd: '--bind' })).toContain('absolute')
    expect(refusal({ plan: plan({ readable: ['/ws\0--bind'] }) })).toContain('absolute')
    expect(refusal({ env: { A: 'b\0--bind' } })).toContain('NUL')
    const many = Array.from({ length: 4_000 }, (_, index) => `/ws/${index}`)
    expect(refusal({ plan: plan({ masked: many }), kindOf: disk(...many) })).toContain('more paths')
  })

  test('a program that nothing shows is shown alone; one of another name gets a link of that name', () => {
    expect(made({ program: '/opt/tool/bin/tool' }).text).toContain(' --ro-bind /opt/tool/bin/tool /opt/tool/bin/tool ')
    expect(made({ program: '/usr/bin/tool' }).text).not.toContain('/usr/bin/tool')
    expect(made({ program: '/ws/tool' }).text).not.toContain('/ws/tool')
    const named = made({ program: '/usr/bin/busybox', name: 'ls' })
    expect(named.program).toBe('/run/lockgate/ls')
    expect(named.text).toContain(' --symlink /usr/bin/busybox /run/lockgate/ls ')
    expect(made({ program: '/usr/bin/busybox', name: '../../x/ls' }).program).toBe('/run/lockgate/ls')
  })
})
