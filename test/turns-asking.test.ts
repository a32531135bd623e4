// Turns in which a person is asked, and turns of the built-in file tools. Goal: they come out as if their calls had been made one
// by one.

import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { builtinTools, type GateOptions } from '../src/index.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { ALLOWED, calm, Doors, ofLook, read, typeOf, until } from './doors.ts'
import { newFolder, openGate } from './opened.ts'

describe('a turn in which a person is asked', () => {
  const question = () => {
    let answer = (): void => {}
    const asked: string[] = []
    const onRequest: NonNullable<NonNullable<GateOptions['approvals']>['onRequest']> = ({ shown }) => {
      asked.push(shown)
      return new Promise((resolve) => {
        answer = () => resolve({ decision: 'approve', by: 'ana' })
      })
    }
    return { asked, onRequest, answer: () => answer() }
  }

  test('one question comes after the other, and two equal calls are two questions', async () => {
    const { asked, onRequest, answer } = question()
    const ran: number[] = []
    const step = new Doors().tool('step', {
      effect: 'write',
      touches: () => ['write file:/ws/f'],
      run: () => ran.push(1),
    })
    const gate = await openGate({ tools: [step], approvals: { onRequest } })
    const call = { name: 'step', arguments: {} }
    const turn = gate.session().turn([call, call])
    await until(() => asked.length === 1)
    await calm()
    expect(asked).toHaveLength(1)
    answer()
    await until(() => asked.length === 2)
    expect(ran).toHaveLength(1)
    answer()
    expect((await turn).map(typeOf)).toEqual(['ok', 'ok'])
    expect(ran).toHaveLength(2)
  })

  test('`ask` of the turn puts the questions to somebody else; what fails there is no answer', async () => {
    const ran: number[] = []
    const doors = new Doors()
    const step = doors.tool('step', { effect: 'write', touches: () => ['write file:/ws/f'], run: () => ran.push(1) })
    const gate = await openGate({ tools: [step] })
    const call = { name: 'step', arguments: {} }
    const heard: string[] = []
    const turn = (ask: (id: string) => Promise<boolean>) => gate.session().turn([call, call], { ask })
    const answering = async (id: string): Promise<boolean> => {
      heard.push(id)
      return (await gate.approvals.decide(id, { decision: 'approve', by: 'ana' })).kind === 'answered'
    }
    expect((await turn(answering)).map(typeOf)).toEqual(['ok', 'ok'])
    expect(new Set(heard).size).toBe(2)
    const failing = () => Promise.reject(new Error('nobody is there'))
    expect((await turn(failing)).map(typeOf)).toEqual(['approval_required', 'approval_required'])
    // Saying that there is an answer gives none.
    expect((await turn(async () => true)).map(typeOf)).toEqual(['approval_required', 'approval_required'])
    expect(ran).toHaveLength(2)
  })

  test('how long the answer takes is no part of the time of those behind', async () => {
    const { asked, onRequest, answer } = question()
    const clock = new FakeClock()
    const doors = new Doors()
    const step = doors.tool('step', { effect: 'write', touches: () => ['write file:/ws/f'], run: () => 'stepped' })
    const gate = await openGate({ tools: [step, read(doors)], approvals: { onRequest }, clock })
    const turn = gate.session().turn([{ name: 'step', arguments: {} }, ofLook('f', 'behind')])
    await until(() => asked.length === 1)
    await clock.advance(600_000)
    answer()
    await doors.open('behind')
    expect((await turn).map(typeOf)).toEqual(['ok', 'ok'])
  })

  test('a turn that is cancelled while a person is asked ends every call', async () => {
    const { asked, onRequest } = question()
    const step = new Doors().tool('step', {
      effect: 'write',
      touches: () => ['write file:/ws/f'],
      run: () => 'stepped',
    })
    const gate = await openGate({ tools: [step], approvals: { onRequest } })
    const leave = new AbortController()
    const call = { name: 'step', arguments: {} }
    const turn = gate.session().turn([call, call, call], { signal: leave.signal })
    await until(() => asked.length === 1)
    leave.abort()
    expect((await turn).map(typeOf)).toEqual(['approval_required', 'cancelled', 'cancelled'])
  })
})

describe('built-in file tools', () => {
  test('a turn of changes of one file, by whatever name it is reached, leaves what the calls one by one would leave', async () => {
    const workspace = newFolder()
    mkdirSync(join(workspace, 'src'))
    symlinkSync('src', join(workspace, 'link'))
    const gate = await openGate({ workspace, sources: [builtinTools(['files'])], policy: ALLOWED })
    const outcomes = await gate.session().turn([
      { name: 'write_file', arguments: { path: 'src/a.txt', content: 'one' } },
      { name: 'edit_file', arguments: { path: 'link/a.txt', find: 'one', replace: 'two' } },
      { name: 'read_file', arguments: { path: './src/../link/a.txt' } },
      { name: 'edit_file', arguments: { path: 'src/a.txt', find: 'two', replace: 'three' } },
      { name: 'search_text', arguments: { text: 'three' } },
      { name: 'move_file', arguments: { from: 'link/a.txt', to: 'b.txt' } },
      { name: 'read_file', arguments: { path: 'src/a.txt' } },
      { name: 'list_dir', arguments: {} },
    ])
    expect(outcomes.map(typeOf)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'tool_error', 'ok'])
    const texts = outcomes.map(({ content }) => JSON.stringify(content))
    expect(texts[2]).toContain('two')
    expect(texts[4]).toContain('a.txt')
    expect(texts[7]).toContain('b.txt')
    expect(readFileSync(join(workspace, 'b.txt'), 'utf8')).toBe('three')
  })
})
