// Goal: an answer is given again only where the tool would have given it too, and to nobody who could have got another one.
// Method: the guard by itself, calls that the test starts and ends in any order, and a clock that the test moves.

import { describe, expect, test } from 'vitest'
import type { Ending } from '../describe/call.ts'
import { ANA, cachedTool, entryOf, failure, openCache, value } from './cache-guard.fixture.ts'
import { writesOn } from './cache-guard.ts'

/** An ending that the test gives when it likes. */
function pending() {
  let give: (ending: Ending) => void = () => {}
  const ending = new Promise<Ending>((resolve) => {
    give = resolve
  })
  return { ending, give }
}

const ENTRY = entryOf(cachedTool())
const READ = { entry: ENTRY, touches: ['read item:1'] } as const
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('an answer is given again', () => {
  test('to an equal call, which says whose it was and starts nothing', async () => {
    const { make } = openCache()
    const first = make(READ, () => value({ n: 1 }))
    expect(await first.ending).toEqual(value({ n: 1 }))
    const again = make(READ, () => value({ n: 2 }))
    expect(await again.ending).toEqual(value({ n: 1 }))
    expect(again.call.trail).toMatchObject({ cachedFrom: first.call.id, attempts: 0 })
    expect(first.cachedFrom()).toBeUndefined()
  })

  test('as a copy that nobody who got it before can have changed', async () => {
    const { make } = openCache()
    const given = { list: [1] }
    const first = await make(READ, () => value(given)).ending
    given.list.push(2)
    const second = await make(READ, () => value('other')).ending
    if (second.kind === 'value') (second.value as { list: number[] }).list.push(3)
    expect(await make(READ, () => value('other')).ending).toEqual(value({ list: [1] }))
    expect(first.kind).toBe('value')
  })

  test('with the content and the display that the tool made of it', async () => {
    const { make } = openCache()
    const shown: Ending = {
      kind: 'value',
      value: undefined,
      content: [{ type: 'text', text: 'shown' }],
      display: { kind: 'text', text: 'shown to people' },
    }
    await make(READ, () => shown).ending
    expect(await make(READ, () => value('other')).ending).toEqual(shown)
  })

  test('to callers alike in all but the session, and to everybody where the tool says so', async () => {
    const { make } = openCache()
    await make(READ, () => value('first')).ending
    expect(await make({ ...READ, caller: { ...ANA, session: 's2' } }, () => value('own')).ending).toEqual(
      value('first'),
    )
    const shared = entryOf(cachedTool({ cache: { forMs: 1_000, shared: true } }))
    await make({ entry: shared }, () => value('first')).ending
    expect(await make({ entry: shared, caller: { ...ANA, user: 'bo' } }, () => value('own')).ending).toEqual(
      value('first'),
    )
  })

  test('to all who ask while the first is under way: the tool runs once', async () => {
    const { make } = openCache()
    const run = pending()
    const first = make(READ, () => run.ending)
    const others = Array.from({ length: 5 }, () => make(READ, () => value('own')))
    await settle()
    run.give(value('one for all'))
    for (const { ending } of [first, ...others]) expect(await ending).toEqual(value('one for all'))
    expect(others.map(({ cachedFrom }) => cachedFrom())).toEqual(others.map(() => first.call.id))
  })
})

describe('and not', () => {
  test.each([
    ['other arguments', { args: { a: '1' } }],
    ['another user', { caller: { ...ANA, user: 'bo' } }],
    ['another agent', { caller: { ...ANA, agent: 'b' } }],
    ['another tenant', { caller: { ...ANA, tenant: 'u' } }],
    ['other roles', { caller: { ...ANA, roles: [] } }],
    ['another task', { caller: { ...ANA, task: { name: 'triage' } } }],
    ['another step', { caller: { ...ANA, step: 'one' } }],
    ['other layers', { caller: { ...ANA, layers: ['user' as const] } }],
    ['somebody else whom the caller works for', { caller: { ...ANA, parent: { ...ANA, user: 'chief' } } }],
    ['a call that was decided under other rules', { policyVersion: 'p2' }],
    ['another definition', { fingerprint: 'g', entry: undefined }],
    ['the same definition over other code', { entry: entryOf(cachedTool()) }],
    ['other text that decides what it does', { binds: [{ title: 'script', text: 'b' }] }],
    ['a call that was asked about', { decision: 'ask' as const }],
    ['a call that is more than a read', { effect: 'external' as const }],
  ])('for %s', async (_what, other) => {
    const { make } = openCache()
    await make(READ, () => value('first')).ending
    const next = make({ ...READ, ...other } as typeof READ, () => value('own'))
    expect(await next.ending).toEqual(value('own'))
    expect(next.cachedFrom()).toBeUndefined()
  })

  test('once the rules are others; and what was looked at under both is not kept, though the old ones come back', async () => {
    const { make, reload } = openCache()
    await make(READ, () => value('first')).ending
    reload('p2')
    const run = pending()
    const mixed = make(READ, () => run.ending)
    reload('p3')
    reload('p2')
    run.give(value('seen under two'))
    expect(await mixed.ending).toEqual(value('seen under two'))
    expect(await make(READ, () => value('own')).ending).toEqual(value('own'))
    reload('p1')
    expect(await make(READ, () => value('later')).ending).toEqual(value('first'))
  })

  test('of a tool that does not let it, and such a tool is not concerned', async () => {
    const { guard, make } = openCache()
    const plain = entryOf(cachedTool({ cache: undefined } as never))
    await make({ entry: plain }, () => value('first')).ending
    expect(await make({ entry: plain }, () => value('own')).ending).toEqual(value('own'))
    expect(guard.concerns?.(plain)).toBe(false)
    expect(guard.concerns?.(ENTRY)).toBe(true)
    expect(guard.concerns?.(entryOf(cachedTool({ effect: 'write', cache: undefined } as never)))).toBe(true)
  })

  test('to another caller of a tool that walks, nor in another session, whatever it says of sharing', async () => {
    const { make } = openCache()
    const walks = entryOf(cachedTool({ walks: true, cache: { forMs: 1_000, shared: true } }))
    await make({ entry: walks }, () => value('first')).ending
    for (const caller of [
      { ...ANA, user: 'bo' },
      { ...ANA, session: 's2' },
    ])
      expect(await make({ entry: walks, caller }, () => value('own')).ending).toEqual(value('own'))
    expect(await make({ entry: walks }, () => value('own')).ending).toEqual(value('first'))
  })

  test('when its time is over, counted from before the tool looked', async () => {
    const { clock, make } = openCache()
    const run = pending()
    const first = make(READ, () => run.ending)
    await clock.advance(600)
    run.give(value('first'))
    await first.ending
    await clock.advance(399)
    expect(await make(READ, () => value('own')).ending).toEqual(value('first'))
    await clock.advance(1)
    expect(await make(READ, () => value('own')).ending).toEqual(value('own'))
  })

  test('where the call failed, ran into a bound, or its answer is no JSON data', async () => {
    const { make } = openCache()
    await make(READ, () => failure('tool_error', 'none')).ending
    await make(READ, ({ call }) => {
      call.trail.limitsHit = ['outputBytes']
      return value('cut')
    }).ending
    await make(READ, () => value({ at: new Date(0) })).ending
    expect(await make(READ, () => value('own')).ending).toEqual(value('own'))
  })

  test('where it is larger than an answer that is kept', async () => {
    const { cache, make } = openCache()
    await make(READ, () => value('x'.repeat(1_100_000))).ending
    expect(cache.size).toBe(0)
  })
})

describe('a call that acts', () => {
  const write = (touches: readonly string[] | undefined, effect = 'write') => ({
    entry: entryOf({ name: 'change', effect } as never),
    effect: effect as 'write',
    touches,
  })

  test.each([
    ['the same thing', ['write item:1']],
    ['what is above it', ['write item:*']],
    ['something that it does not name', undefined],
    ['nothing that it names', ['read item:9']],
  ])('that writes %s makes the answer stale', async (_what, touches) => {
    const { make } = openCache()
    await make(READ, () => value('old')).ending
    await make(write(touches), () => value('done')).ending
    expect(await make(READ, () => value('new')).ending).toEqual(value('new'))
  })

  test.each([
    ['another thing', ['write item:2']],
    ['a thing whose name begins alike', ['write item:10']],
  ])('that writes %s leaves it', async (_what, touches) => {
    const { make } = openCache()
    await make(READ, () => value('old')).ending
    await make(write(touches), () => value('done')).ending
    expect(await make(READ, () => value('new')).ending).toEqual(value('old'))
  })

  test.each(['execute', 'external', 'destructive', 'undeclared'])(
    'and is `%s` is taken at its word only where it says that it changes nothing else',
    async (effect) => {
      const { make } = openCache()
      await make(READ, () => value('old')).ending
      const bound = entryOf({ name: 'change', effect, lane: 'touches' } as never)
      await make({ ...write(['write item:2'], effect), entry: bound }, () => value('done')).ending
      expect(await make(READ, () => value('new')).ending).toEqual(value('old'))
      await make(write(['write item:2'], effect), () => value('done')).ending
      expect(await make(READ, () => value('new')).ending).toEqual(value('new'))
    },
  )

  test.each([
    ['a folder above', 'read file:/ws/a/b.txt', 'write file:/ws/a/*'],
    ['the folder itself', 'read file:/ws/a/b.txt', 'write file:/ws/a'],
    ['a file below what was listed', 'read file:/ws/a/*', 'write file:/ws/a/b/c.txt'],
    ['the folder that was listed', 'read file:/ws/a/*', 'write file:/ws/a'],
    ['a file with a star at the end of its name', 'read file:/ws/a*/.', 'write file:/ws/a*/.'],
    ['the whole disk', 'read file:/ws/a', 'write file:/*'],
  ])('on %s makes the answer stale', async (_what, read, touched) => {
    const { make } = openCache()
    const reading = { entry: ENTRY, touches: [read] }
    await make(reading, () => value('old')).ending
    await make(write([touched]), () => value('done')).ending
    expect(await make(reading, () => value('new')).ending).toEqual(value('new'))
  })

  test.each([
    ['read file:/ws/a/b.txt', 'write file:/ws/a/c.txt'],
    ['read file:/ws/a/*', 'write file:/ws/ab/c.txt'],
    ['read file:/ws/a*/.', 'write file:/ws/ab'],
  ])('`%s` does not lie where `%s` does', async (read, touched) => {
    const { make } = openCache()
    const reading = { entry: ENTRY, touches: [read] }
    await make(reading, () => value('old')).ending
    await make(write([touched]), () => value('done')).ending
    expect(await make(reading, () => value('new')).ending).toEqual(value('old'))
  })

  test('while it runs nothing that it overlaps is taken from what is kept, or kept', async () => {
    const { make } = openCache()
    await make(READ, () => value('old')).ending
    const run = pending()
    const writing = make(write(['write item:1']), () => run.ending)
    expect(await make(READ, () => value('between')).ending).toEqual(value('between'))
    run.give(value('done'))
    await writing.ending
    expect(await make(READ, () => value('new')).ending).toEqual(value('new'))
    expect(await make(READ, () => value('newer')).ending).toEqual(value('new'))
  })

  test('a read that was under way when it began is not kept, and nobody waits for it any more', async () => {
    const { make } = openCache()
    const run = pending()
    const first = make(READ, () => run.ending)
    const joined = make(READ, () => value('read again'))
    await settle()
    await make(write(['write item:1']), () => value('done')).ending
    expect(await joined.ending).toEqual(value('read again'))
    const after = make(READ, () => value('new'))
    expect(await after.ending).toEqual(value('new'))
    run.give(value('old'))
    expect(await first.ending).toEqual(value('old'))
    expect(await make(READ, () => value('newer')).ending).toEqual(value('new'))
  })

  test.each(['outcome_unknown', 'timeout', 'cancelled'])(
    'and ends as `%s` with an unknown effect may still act: for a while nothing that it overlaps is kept',
    async (type) => {
      const { clock, make } = openCache()
      await make(write(['write item:1']), () => failure(type, 'unknown')).ending
      await make(READ, () => value('before')).ending
      expect(await make(READ, () => value('after')).ending).toEqual(value('after'))
      await clock.advance(300_000)
      await make(READ, () => value('kept')).ending
      expect(await make(READ, () => value('own')).ending).toEqual(value('kept'))
    },
  )

  test('and goes on after its call acts on: what it may change is not kept until it is over', async () => {
    const { cache, make } = openCache()
    await make(READ, () => value('old')).ending
    const entry = entryOf({ name: 'start', effect: 'execute', lane: 'touches' } as never)
    const touches = { kind: 'known', resources: [{ verb: 'write', key: 'item:*', text: 'write item:*' }] } as const
    const over = writesOn(cache, { entry, input: { effect: 'execute', touches } as never })
    expect(await make(READ, () => value('between')).ending).toEqual(value('between'))
    over()
    over()
    await make(READ, () => value('new')).ending
    expect(await make(READ, () => value('newer')).ending).toEqual(value('new'))
    const reading = writesOn(cache, { entry, input: { effect: 'read', touches } as never })
    expect(await make(READ, () => value('newest')).ending).toEqual(value('new'))
    reading()
  })

  test('and failed without having done anything, or is over for certain, stands in nobody’s way', async () => {
    const { make } = openCache()
    await make(write(['write item:1']), () => failure('timeout', 'none')).ending
    await make(write(['write item:1']), () => failure('tool_error', 'unknown')).ending
    await make(READ, () => value('kept')).ending
    expect(await make(READ, () => value('own')).ending).toEqual(value('kept'))
  })

  test('a fault of what is inside reaches whoever called, and what is kept counts as changed', async () => {
    const { make } = openCache()
    await make(READ, () => value('old')).ending
    const broken = make(write(['write item:1']), () => {
      throw new Error('a bug')
    })
    await expect(broken.ending).rejects.toThrow('a bug')
    expect(await make(READ, () => value('new')).ending).toEqual(value('new'))
  })
})

describe('waiting for an equal call', () => {
  test('ends when that call fails, and each asks for itself', async () => {
    const { make } = openCache()
    const run = pending()
    const first = make(READ, () => run.ending)
    const other = make(READ, () => value('own'))
    await settle()
    run.give(failure('tool_error', 'none'))
    expect((await first.ending).kind).toBe('failure')
    expect(await other.ending).toEqual(value('own'))
    expect(other.call.trail.attempts).toBe(1)
  })

  test('ends when that call is over before its tool is, and what the tool says then is not kept', async () => {
    const { make } = openCache()
    const run = pending()
    const first = make(READ, () => run.ending)
    const other = make(READ, () => value('own'))
    await settle()
    first.abort()
    expect(await other.ending).toEqual(value('own'))
    run.give(value('half of it'))
    await first.ending
    expect(await make(READ, () => value('later')).ending).toEqual(value('later'))
  })

  test('does not begin where that call began too long ago', async () => {
    const { clock, make } = openCache()
    const run = pending()
    const first = make(READ, () => run.ending)
    await clock.advance(1_000)
    expect(await make(READ, () => value('own')).ending).toEqual(value('own'))
    run.give(value('first'))
    await first.ending
  })
})

describe('a validator', () => {
  const validated = (validator: () => unknown) =>
    ({
      entry: entryOf(cachedTool({ cache: { forMs: 10_000, validator: validator as () => string } })),
      touches: ['read item:1'],
    }) as const

  test('that says the same lets the answer be given again, and another one does not', async () => {
    const { make } = openCache()
    let stamp = 'a'
    const read = validated(() => stamp)
    await make(read, () => value(1)).ending
    expect(await make(read, () => value(2)).ending).toEqual(value(1))
    stamp = 'b'
    expect(await make(read, () => value(3)).ending).toEqual(value(3))
    expect(await make(read, () => value(4)).ending).toEqual(value(3))
  })

  test('that says another thing after the tool than before it lets nothing be kept', async () => {
    const { make } = openCache()
    let stamp = 'a'
    const read = validated(() => stamp)
    await make(read, () => {
      stamp = 'b'
      return value('half old, half new')
    }).ending
    expect(await make(read, () => value('new')).ending).toEqual(value('new'))
  })

  test('that says another thing while an equal read is under way: that one is not kept, nor after a write', async () => {
    const { make } = openCache()
    let stamp = 'a'
    const read = validated(() => stamp)
    const run = pending()
    const first = make(read, () => run.ending)
    stamp = 'b'
    await make(read, () => value('second')).ending
    stamp = 'a'
    const entry = entryOf({ name: 'change', effect: 'write' } as never)
    await make({ entry, effect: 'write', touches: ['write item:1'] }, () => value('done')).ending
    run.give(value('of before the write'))
    await first.ending
    expect(await make(read, () => value('new')).ending).toEqual(value('new'))
  })

  test.each([
    ['says nothing', () => undefined],
    ['says no text', () => 7],
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['rejects', async () => Promise.reject(new Error('no'))],
    ['says nothing later', async () => undefined],
  ])('that %s lets nothing be kept, and fails no call', async (_what, validator) => {
    const { make } = openCache()
    const read = validated(validator)
    await make(read, () => value(1)).ending
    expect(await make(read, () => value(2)).ending).toEqual(value(2))
  })

  test('that never answers holds the call up for a second and no longer', async () => {
    const { clock, make } = openCache()
    const read = validated(() => new Promise(() => {}))
    const made = make(read, () => value(1))
    await clock.advance(999)
    expect(made.call.trail.attempts).toBe(0)
    await clock.advance(1)
    expect(await made.ending).toEqual(value(1))
  })

  test('that takes its time, while a write begins, gives nothing away', async () => {
    const { make } = openCache()
    const answers: ((stamp: string) => void)[] = []
    const read = validated(() => new Promise<string>((resolve) => void answers.push(resolve)))
    const answer = async () => {
      await settle()
      for (const give of answers.splice(0)) give('same')
      await settle()
    }
    const first = make(read, () => value('old'))
    await answer()
    await answer()
    await first.ending
    const second = make(read, () => value('between'))
    const run = pending()
    const entry = entryOf({ name: 'change', effect: 'write' } as never)
    const writing = make({ entry, effect: 'write', touches: ['write item:1'] }, () => run.ending)
    await answer()
    expect(await second.ending).toEqual(value('between'))
    run.give(value('done'))
    await writing.ending
  })
})

describe('what a tool calls', () => {
  test('waits for no read under way, which may be that of the tool itself, and is given what is kept', async () => {
    const { make } = openCache()
    const run = pending()
    const outer = make(READ, () => run.ending)
    expect(await make({ ...READ, nested: true }, () => value('own')).ending).toEqual(value('own'))
    run.give(value('outer'))
    await outer.ending
    expect(await make({ ...READ, nested: true }, () => value('own')).ending).toEqual(value('outer'))
  })
})

describe('room', () => {
  const read = (n: number) => ({ entry: ENTRY, args: { n: `${n}` }, touches: ['read item:1'] })

  test('is made for 1,000 answers: what was used longest ago goes first', async () => {
    const { cache, make } = openCache()
    for (let n = 0; n < 1_000; n++) await make(read(n), () => value(n)).ending
    await make(read(0), () => value('own')).ending
    await make(read(1_000), () => value(1_000)).ending
    expect(cache.size).toBe(1_000)
    expect(await make(read(0), () => value('own')).ending).toEqual(value(0))
    expect(await make(read(1), () => value('own')).ending).toEqual(value('own'))
  })

  test('is bounded in bytes, long arguments included', async () => {
    const { cache, make } = openCache()
    for (let n = 0; n < 40; n++) {
      const long = { n: `${n}`, text: 'y'.repeat(500_000) }
      await make({ ...read(n), args: long }, () => value('x'.repeat(900_000))).ending
      expect(cache.bytes).toBeLessThanOrEqual(16 * 1024 * 1024)
    }
    expect(cache.size).toBeGreaterThan(10)
    cache.invalidate({ kind: 'unknown' })
    expect([cache.size, cache.bytes]).toEqual([0, 0])
  })

  test('what touches more, or longer, than is looked at counts as touching everything', async () => {
    const keys = (count: number, name: string) => Array.from({ length: count }, (_, n) => `item:${name}${n}`)
    for (const [touches, holds] of [
      [keys(16, 'a'), true],
      [keys(17, 'a'), false],
      [[`item:${'a'.repeat(9_000)}`], false],
    ] as const) {
      const { cache, make } = openCache()
      await make({ ...READ, touches: touches.map((key) => `read ${key}`) }, () => value('one')).ending
      cache.invalidate({ kind: 'known', resources: [{ verb: 'write', key: 'item:b', text: 'write item:b' }] })
      expect(cache.size).toBe(holds ? 1 : 0)
      await make({ ...READ, args: { a: '2' } }, () => value('two')).ending
      cache.invalidate({
        kind: 'known',
        resources: touches.map((key) => ({ verb: 'write', key, text: `write ${key}` })),
      })
      expect(cache.size).toBe(holds ? 1 : 0)
    }
  })

  test('what is forgotten for touches is what they overlap', async () => {
    const { cache, make } = openCache()
    await make(READ, () => value('one')).ending
    await make({ ...READ, args: { a: '2' }, touches: ['read item:2'] }, () => value('two')).ending
    cache.invalidate({ kind: 'known', resources: [{ verb: 'write', key: 'item:2', text: 'write item:2' }] })
    expect(cache.size).toBe(1)
    expect(await make(READ, () => value('own')).ending).toEqual(value('one'))
  })
})
