// Turns through whole gates. Goal: what touches the same keeps the order of its turn, the rest runs side by side, and every call
// ends exactly once, in its place. Method: tools that end when the test says so.

import { describe, expect, test } from 'vitest'
import { calm, Doors, ofChange, ofLook, openDoors, read, typeOf, until, write } from './doors.ts'

describe('a turn', () => {
  test('L57: a read behind a write of the same file sees what it wrote, and nobody has to say so', async () => {
    const doors = new Doors()
    const gate = await openDoors([read(doors), write(doors)])
    const turn = gate.session().turn([ofChange('f', 'write f'), ofLook('f', 'read f'), ofLook('g', 'read g')])
    await until(() => doors.running().length === 2)
    await calm()
    expect(doors.running()).toEqual(['read g', 'write f'])
    await doors.open('write f')
    await doors.open('read f')
    await doors.open('read g')
    expect((await turn).map(typeOf)).toEqual(['ok', 'ok', 'ok'])
    expect(doors.log.indexOf('write f ends')).toBeLessThan(doors.log.indexOf('read f starts'))
  })

  test('L57: two identical edits run one after the other, and both run', async () => {
    const doors = new Doors()
    const gate = await openDoors([write(doors)])
    const turn = gate.session().turn([ofChange('f'), ofChange('f')])
    await until(() => doors.running().length === 1)
    await calm()
    expect(doors.log).toEqual(['f starts'])
    await doors.open('f')
    await doors.open('f')
    expect((await turn).map(typeOf)).toEqual(['ok', 'ok'])
    expect(doors.log).toEqual(['f starts', 'f ends', 'f starts', 'f ends'])
  })

  test('L58: outcomes stand in call order, also where one is refused at once', async () => {
    const doors = new Doors()
    const gate = await openDoors([read(doors)])
    const turn = gate.session().turn([
      { ...ofLook('a'), id: 'A' },
      { name: 'unknown_tool', id: 'B' },
      { ...ofLook('c'), id: 'C' },
    ])
    await doors.open('c')
    await doors.open('a')
    const outcomes = await turn
    expect(outcomes.map((outcome) => [outcome.meta.id, outcome.meta.position, typeOf(outcome)])).toEqual([
      ['A', 0, 'ok'],
      ['B', 1, 'not_found'],
      ['C', 2, 'ok'],
    ])
  })

  test('L59: a call that runs alone does not move to the front, in the schedule or in the answer', async () => {
    const doors = new Doors()
    const gate = await openDoors([read(doors), doors.tool('topic', { effect: 'external' })])
    const turn = gate.session().turn([ofLook('a'), { name: 'topic', arguments: {} }, ofLook('b')])
    await until(() => doors.running().length === 1)
    await calm()
    expect(doors.running()).toEqual(['a'])
    await doors.open('a')
    await until(() => doors.running().length === 1)
    await calm()
    expect(doors.running()).toEqual(['topic'])
    await doors.open('topic')
    await doors.open('b')
    expect((await turn).map(({ meta }) => meta.tool)).toEqual(['look', 'topic', 'look'])
  })

  test('L53: one of 27 fails, and the other 26 are no worse for it', async () => {
    const doors = new Doors()
    const failing = doors.tool('search', {
      touches: () => ['read file:/ws/*'],
      run: ({ n }: never) => {
        if (n === 13) throw new Error('exit 1')
        return n
      },
    })
    const gate = await openDoors([failing])
    const outcomes = await gate
      .session()
      .turn(Array.from({ length: 27 }, (_, n) => ({ name: 'search', arguments: { n } })))
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(26)
    expect(outcomes.map(typeOf)[13]).toBe('tool_crashed')
    expect(outcomes.map((outcome) => (outcome.ok ? outcome.value : 13))).toEqual(outcomes.map((_, n) => n))
  })

  test('L54: a turn that is cancelled still gives every call one outcome: those that ran, those that waited, those that were refused', async () => {
    const doors = new Doors()
    const gate = await openDoors([read(doors), write(doors)], { limits: { parallel: 2 } })
    const leave = new AbortController()
    const turn = gate
      .session()
      .turn(
        [
          ofLook('done'),
          ofChange('a', 'runs'),
          ofLook('a', 'waits'),
          { name: 'unknown_tool' },
          ofLook('b', 'runs too'),
          ofLook('c', 'no slot'),
        ],
        { signal: leave.signal },
      )
    await doors.open('done')
    await until(() => doors.running().length === 2)
    leave.abort()
    const outcomes = await turn
    expect(outcomes.map(typeOf)).toEqual(['ok', 'cancelled', 'cancelled', 'not_found', 'cancelled', 'cancelled'])
    expect(outcomes.map((outcome) => (outcome.ok ? '' : outcome.error.effect))).toEqual([
      '',
      'unknown',
      'none',
      'none',
      'none',
      'none',
    ])
    expect(doors.log.filter((line) => line.endsWith('starts'))).toEqual([
      'done starts',
      'runs starts',
      'runs too starts',
    ])
    await gate.records.flush()
    const ends = await gate.records.query({ kind: 'end', limit: 100 } as never)
    expect(ends.filter(({ kind }) => kind === 'end')).toHaveLength(6)
  })

  test('a turn that was cancelled before it began runs nothing and answers everything', async () => {
    const doors = new Doors()
    const gate = await openDoors([read(doors)])
    const outcomes = await gate.session().turn([ofLook('a'), ofLook('b')], { signal: AbortSignal.abort() })
    expect(outcomes.map(typeOf)).toEqual(['cancelled', 'cancelled'])
    expect(doors.log).toEqual([])
  })

  test('the signal of one call ends that one, and those behind it go on', async () => {
    const doors = new Doors()
    const gate = await openDoors([read(doors), write(doors)])
    const [one, whole] = [new AbortController(), new AbortController()]
    const turn = gate
      .session()
      .turn([ofLook('a', 'first'), { ...ofChange('a', 'second'), signal: one.signal }, ofLook('a', 'third')], {
        signal: whole.signal,
      })
    await until(() => doors.running().length === 1)
    await calm()
    expect(doors.running()).toEqual(['first'])
    one.abort()
    await until(() => doors.running().length === 2)
    await doors.open('first')
    await doors.open('third')
    expect((await turn).map(typeOf)).toEqual(['ok', 'cancelled', 'ok'])
  })

  test('calls that share an id are told apart by their position', async () => {
    const doors = new Doors()
    const gate = await openDoors([read(doors)])
    const turn = gate.session().turn([
      { ...ofLook('a'), id: 'same' },
      { ...ofLook('b'), id: 'same' },
    ])
    await doors.open('b')
    await doors.open('a')
    const outcomes = await turn
    expect(outcomes.map(({ meta }) => [meta.id, meta.position])).toEqual([
      ['same', 0],
      ['same', 1],
    ])
    expect(outcomes.map((outcome) => outcome.ok && outcome.value)).toEqual(['a', 'b'])
    expect(new Set(outcomes.map(({ meta }) => meta.callId)).size).toBe(2)
  })

  test('a call that stands alone has no position', async () => {
    const doors = new Doors()
    const gate = await openDoors([read(doors)])
    const call = gate.session().call(ofLook('a'))
    await doors.open('a')
    expect((await call).meta.position).toBeUndefined()
  })

  test.each([1, 3])('limits.parallel: %i calls of a turn run at once and no more', async (parallel) => {
    const doors = new Doors()
    const gate = await openDoors([read(doors)], { limits: { parallel } })
    const turn = gate.session().turn(['a', 'b', 'c', 'd', 'e'].map((path) => ofLook(path)))
    let most = 0
    for (const path of ['a', 'b', 'c', 'd', 'e']) {
      await until(() => doors.waiting.has(path))
      await calm()
      most = Math.max(most, doors.running().length)
      await doors.open(path)
    }
    await turn
    expect(most).toBe(parallel)
  })

  test('twenty calls of independent files are eight at once where nothing else is said', async () => {
    const doors = new Doors()
    const gate = await openDoors([read(doors)])
    const paths = Array.from({ length: 20 }, (_, index) => `${index}`)
    const turn = gate.session().turn(paths.map((path) => ofLook(path)))
    await until(() => doors.running().length === 8)
    await calm()
    expect(doors.running()).toHaveLength(8)
    for (const path of paths) await doors.open(path)
    expect((await turn).every(({ ok }) => ok)).toBe(true)
  })

  test('touches that fail make a call run alone, and its trail says why in the record', async () => {
    const doors = new Doors()
    const broken = doors.tool('broken', {
      effect: 'write',
      touches: () => {
        throw new Error('no idea')
      },
    })
    const gate = await openDoors([read(doors), broken])
    const turn = gate.session().turn([ofLook('a'), { name: 'broken', arguments: {} }, ofLook('b')])
    await until(() => doors.running().length === 1)
    await calm()
    expect(doors.running()).toEqual(['a'])
    await doors.open('a')
    await doors.open('broken')
    await doors.open('b')
    expect((await turn).map(typeOf)).toEqual(['ok', 'ok', 'ok'])
    await gate.records.flush()
    const ends = (await gate.records.query({ limit: 100 })).filter(({ kind }) => kind === 'end')
    const bodies = ends.map((row) => JSON.stringify(row))
    expect(bodies.filter((body) => body.includes('no idea'))).toHaveLength(1)
    expect(bodies.filter((body) => body.includes('laneWaitMs')).length).toBeGreaterThanOrEqual(2)
  })
})
