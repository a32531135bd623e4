// The profile for macOS, as text: nothing of a plan can become a part of the language, and what is stricter stands later,
// because there the last rule that fits decides.

import { describe, expect, test } from 'vitest'
import type { SandboxPlan } from './process-plan.ts'
import { seatbeltProfile } from './seatbelt-profile.ts'

const profile = (more: Partial<SandboxPlan> = {}): string =>
  seatbeltProfile({
    plan: { readable: [], writable: ['/ws'], frozen: [], masked: [], network: false, ...more },
    program: '/usr/bin/git',
    temporary: '/private/tmp/own',
  })

describe('the profile of sandbox-exec', () => {
  test('everything is denied that is not allowed by name', () => {
    const [first, second] = profile().split('\n')
    expect([first, second]).toEqual(['(version 1)', '(deny default)'])
    expect(profile()).not.toContain('(allow default)')
    expect(profile()).not.toMatch(/\(allow file-(read|write)\*\)/)
    expect(profile()).not.toContain('(subpath "/")')
  })

  test('no network unless it is granted', () => {
    expect(profile()).toContain('(deny network*)')
    expect(profile()).not.toContain('(allow network')
    expect(profile({ network: true })).toContain('(allow network*)')
  })

  test('only what is writable and the own temporary folder can be written', () => {
    const writes = profile({ readable: ['/lib/x'] })
      .split('\n')
      .filter((line) => line.startsWith('(allow file-write*'))
    expect(writes).toEqual(['(allow file-write* (subpath "/ws") (subpath "/private/tmp/own"))'])
  })

  test('frozen, pinned and masked paths are denied after their folder was allowed', () => {
    const text = profile({ frozen: ['/ws/a/.git/hooks'], masked: ['/ws/.env'], readable: ['/ws/vendor'] })
    const at = (part: string): number => {
      expect(text).toContain(part)
      return text.indexOf(part)
    }
    const allowed = at('(allow file-write* (subpath "/ws")')
    expect(at('(deny file-write* (subpath "/ws/a/.git/hooks"))')).toBeGreaterThan(allowed)
    expect(at('(deny file-write* (subpath "/ws/vendor"))')).toBeGreaterThan(allowed)
    expect(at('(deny file-write-unlink (literal "/ws/a/.git"))')).toBeGreaterThan(allowed)
    expect(at('(deny file-write-unlink (literal "/ws/a"))')).toBeGreaterThan(allowed)
    expect(at('(deny file-read* file-write* (subpath "/ws/.env"))')).toBeGreaterThan(allowed)
  })

  test('a path is always a text: quotes and brackets in it open nothing', () => {
    const text = profile({ writable: ['/ws")) (allow default) (x "', '/a\\b'] })
    expect(text).toContain('(subpath "/ws\\")) (allow default) (x \\"")')
    expect(text).toContain('(subpath "/a\\\\b")')
  })

  test('a path that cannot be a text is refused', () => {
    for (const path of ['relative', '/a\nb', '/a\0b']) expect(() => profile({ masked: [path] })).toThrow('profile')
  })
})
