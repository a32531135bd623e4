import { describe, expect, test } from 'vitest'
import type { Gate, SessionOptions } from '../gate-contract.ts'
import { CallerSessions } from './caller-sessions.ts'

const gate = { session: (caller: SessionOptions) => ({ caller }) } as unknown as Gate

describe('sessions behind credentials', () => {
  test('a credential keeps its session, and each conversation under it has one of its own', () => {
    const sessions = new CallerSessions(gate, 'mcp', { user: 'u' })
    const row = { id: 'tok_1', caller: { agent: 'a', step: 's', task: { name: 't' } } }
    const session = sessions.of(row)
    expect(session.caller).toEqual({ user: 'u', agent: 'a', step: 's', task: { name: 't' }, session: 'tok_1' })
    expect(sessions.of({ id: 'tok_1', caller: { agent: 'a', step: 's', task: { name: 't' } } })).toBe(session)
    expect(sessions.of(row, 'desk').caller.session).toBe('tok_1/desk')
  })

  test('a credential that was given another step or task is another caller at once', () => {
    const sessions = new CallerSessions(gate, 'mcp')
    const before = sessions.of({ id: 'tok_1', caller: { step: 'analyse' } })
    const after = sessions.of({ id: 'tok_1', caller: { step: 'publish' } })
    expect([before.caller.step, after.caller.step]).toEqual(['analyse', 'publish'])
    expect(sessions.of({ id: 'tok_1' }).caller.step).toBeUndefined()
  })
})
