// Goal: an identity that is not exactly what it claims is none. Method: one fault at a time; then what passes, and what it
// is filled up with.

import { describe, expect, test } from 'vitest'
import { LOCAL_CALLER, readCaller } from './caller-identity.ts'

const bad = (value: unknown): string => {
  const read = readCaller(value)
  return read.kind === 'bad' ? read.reason : `accepted ${JSON.stringify(read.caller)}`
}

describe('closed: an identity that does not hold is refused with a reason', () => {
  test.each<[what: string, value: unknown, reason: string]>([
    ['nothing', undefined, 'not nothing'],
    ['null', null, 'not null'],
    ['a text', 'ana', 'not a text'],
    ['a list', [], 'not a list'],
    ['a map', new Map([['user', 'ana']]), 'must be an object'],
    ['an object that inherits its user', Object.create({ user: 'root' }), 'must be an object'],
    ['an unknown key', { user: 'ana', scope: 'admin' }, 'unknown key `scope`'],
    ['a key of a prototype', JSON.parse('{"__proto__":{"user":"root"}}'), 'unknown key `__proto__`'],
    ['a key that hides', { 'us\u202eer': 'ana' }, 'unknown key'],
    ['an empty user', { user: '' }, '`user` is empty'],
    ['a blank user', { user: ' \t' }, '`user` is empty'],
    ['a number as user', { user: 7 }, 'not a number'],
    ['null as user', { user: null }, '`user` must be a text, not null'],
    ['an object that turns into a text', { user: { toString: () => 'root' } }, 'must be a text'],
    ['a long agent', { agent: 'a'.repeat(257) }, 'longer than 256'],
    ['a line break in the tenant', { tenant: 'a\nb' }, 'a control character'],
    ['a null character', { user: 'ana\0' }, 'a control character'],
    ['a direction mark', { user: 'a\u202en' }, 'reading direction'],
    ['a zero-width blank', { user: 'a\u200bna' }, 'invisible'],
    ['half a character', { user: 'a\ud800' }, 'half a character'],
    ['an escape sequence in the session', { session: 's\u001b[31m' }, 'a control character'],
    ['roles that are a text', { roles: 'admin' }, '`roles` must be a list'],
    ['roles that are null', { roles: null }, '`roles` must be a list'],
    ['too many roles', { roles: Array.from({ length: 65 }, (_, index) => `r${index}`) }, 'more than 64'],
    ['a role of a wrong type', { roles: ['dev', 1] }, '`roles` must be a text'],
    ['a hole in the roles', { roles: new Array(1) }, '`roles` must be a text'],
    ['an empty role', { roles: [''] }, '`roles` is empty'],
    ['a task that is a text', { task: 'triage' }, '`task` must be an object'],
    ['a task that is null', { task: null }, '`task` must be an object'],
    ['a task without a name', { task: {} }, '`task.name` must be a text'],
    ['a task with an unknown key', { task: { name: 't', allows: ['*'] } }, 'unknown key `allows` in a task'],
    ['L14: a task list that is null', { task: { name: 't', allow: null } }, '`task.allow` must be a list'],
    ['L14: a task list that is undefined', { task: { name: 't', allow: undefined } }, '`task.allow` must be a list'],
    ['a task list that is a text', { task: { name: 't', allow: '*' } }, '`task.allow` must be a list'],
    ['a task list with a bad glob', { task: { name: 't', allow: ['read_['] } }, 'is no glob'],
    ['a task list with a number', { task: { name: 't', allow: [1] } }, '`task.allow` must be a text'],
  ])('%s', (_what, value, reason) => {
    expect(bad(value)).toContain(reason)
  })

  test('defaults are checked as well', () => {
    expect(readCaller({}, { user: 'a\nb' }).kind).toBe('bad')
    expect(readCaller({}, { roles: 'admin' as unknown as [] }).kind).toBe('bad')
  })
})

describe('what is left out', () => {
  test('is the local user without roles and task', () => {
    expect(readCaller({})).toEqual({ kind: 'ok', caller: LOCAL_CALLER })
    expect(LOCAL_CALLER).toEqual({ tenant: 'local', user: 'local', agent: 'agent', roles: [], session: 'default' })
  })

  test('comes from the defaults, and what is given outranks them', () => {
    const defaults = { user: 'op', roles: ['dev'], task: { name: 't', allow: [] } }
    expect(readCaller({ user: 'ana', agent: undefined }, defaults)).toEqual({
      kind: 'ok',
      caller: {
        tenant: 'local',
        user: 'ana',
        agent: 'agent',
        roles: ['dev'],
        session: 'default',
        task: { name: 't', allow: [] },
      },
    })
    expect(readCaller({ roles: [] }, defaults)).toMatchObject({ caller: { user: 'op', roles: [] } })
  })
})

describe('a caller that holds', () => {
  const value = {
    tenant: 'acme',
    user: 'auth0|Ana María',
    agent: 'a'.repeat(256),
    roles: Array.from({ length: 64 }, (_, index) => `r${index}`),
    session: 's',
    task: { name: 'triage', allow: ['read_*', 'gone'] },
  }

  test('is the same, and frozen to the bottom', () => {
    const read = readCaller(value)
    expect(read).toEqual({ kind: 'ok', caller: value })
    if (read.kind === 'bad') return
    const { roles, task } = read.caller
    for (const part of [read.caller, roles, task, task?.allow]) expect(Object.isFrozen(part)).toBe(true)
  })

  test('is a copy: what the host does to its object later changes nothing', () => {
    const roles = ['dev']
    const allow = ['read_*']
    const read = readCaller({ roles, task: { name: 't', allow } })
    roles.push('admin')
    allow.push('*')
    expect(read).toMatchObject({ caller: { roles: ['dev'], task: { allow: ['read_*'] } } })
  })

  test('may come without a prototype', () => {
    expect(readCaller(Object.assign(Object.create(null), { user: 'ana' }))).toMatchObject({ caller: { user: 'ana' } })
  })
})
