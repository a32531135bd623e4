// Goal: an expression means what its author reads in it, cannot be turned by what a model writes, and costs no more than the
// arguments are long. Method: compile and ask, each condition beside one that must not hold.

import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../base/json-value.ts'
import { type CelCondition, type CelQuestion, compileCel } from './cel-condition.ts'
import { ANA, caller } from './policy.fixture.ts'

const ARGS: JsonObject = {
  ...{ count: 5, ratio: 0.5, whole: 2.0, title: 'hello', nothing: null, flag: true },
  ...{ list: [1, 2.5, 3], tags: ['a', 'b'], author: { name: 'ana', age: 41 }, items: [{ price: 5 }, { price: 50 }] },
}

function compiled(text: string): CelCondition {
  const result = compileCel(text)
  if (result.kind === 'bad') throw new Error(result.reason)
  return result.condition
}

const ask = (text: string, args: JsonObject = ARGS, more: Partial<CelQuestion> = {}): string =>
  compiled(text).ask({
    args,
    caller: ANA,
    effect: 'write',
    tool: { name: 'pay', source: 'bank', version: '1.2.0' },
    resolved: true,
    pathForCel: undefined,
    resourceTexts: () => ['read file:/ws/a.txt', 'write file:/ws/b.txt'],
    ...more,
  }).kind

describe('what an expression means', () => {
  test.each([
    ['args.count > 3', 'args.count > 5'],
    ['args.count == 5', 'args.count == 6'],
    ['args.count == 5.0', 'args.count == 5.5'],
    ['args.ratio > 0.1', 'args.ratio > 0.5'],
    ['args.ratio < 1', 'args.ratio > 1'],
    ['args.whole == 2', 'args.whole == 2.5'],
    ['args.whole * 1.5 == 3.0', 'args.whole * 1.5 == 2.0'],
    ['args.ratio + 1 == 1.5', 'args.ratio + 1 == 1.0'],
    ['args.count % 2 == 1', 'args.count % 2 == 0'],
    ['args.count in [1, 5]', 'args.count in [1, 6]'],
    ['args.list[1] == 2.5', 'args.list[0] == 2'],
    ['args.nothing == null', 'args.title == null'],
    ['args.flag', '!args.flag'],
    ['args.title.size() == 5', 'size(args.title) > 5'],
    ['args.title.startsWith("he")', 'args.title.endsWith("he")'],
    ['args.title.matches("^h.*o$")', 'args.title.matches("^o")'],
    ['args.author.name == "ana"', 'args.author["name"] == "bob"'],
    ['has(args.author.age)', 'has(args.author.email)'],
    ['args.items.exists(i, i.price > 10)', 'args.items.all(i, i.price > 10)'],
    ['args.items.filter(i, i.price < 10).size() == 1', 'args.items.exists_one(i, i.price > 1)'],
    ['args.tags.map(t, t + "!") == ["a!", "b!"]', '"c" in args.tags'],
    ['"title" in args', '"titel" in args'],
    ['type(args.count) == int', 'type(args.count) == string'],
    ['caller.user == "ana" && "dev" in caller.roles', 'caller.agent == "other"'],
    ['tool.name == "pay" && tool.source == "bank" && tool.effect == "write"', 'tool.version == "2.0.0"'],
    ['resources.exists(r, r.startsWith("write "))', 'resources.all(r, r.startsWith("write "))'],
  ])('%s holds, and %s does not', (holds, not) => {
    expect(ask(holds)).toBe('yes')
    expect(ask(not)).toBe('no')
  })

  test('a number from the edge of what is exact compares as it was written', () => {
    expect(ask('args.n == 9007199254740991', { n: 9007199254740991 })).toBe('yes')
    expect(ask('args.n > 1', { n: 1e300 })).toBe('yes')
    expect(ask('args.n == 0', { n: -0 })).toBe('yes')
  })

  test('a task and a step are there where the caller has them', () => {
    const who = caller({ task: { name: 'triage' }, step: 'analyse' })
    expect(ask('caller.task.name == "triage" && caller.step == "analyse"', {}, { caller: who })).toBe('yes')
    expect(ask('has(caller.task)', {}, { caller: who })).toBe('yes')
    expect(ask('has(caller.task) || has(caller.step)')).toBe('no')
    expect(ask('caller.task.name == "triage"')).toBe('failed')
  })
})

describe('L07 L11 L30: what cannot be evaluated is no answer', () => {
  test.each([
    'args.missing > 3',
    'args.title > 3',
    'args.count.startsWith("5")',
    'args.author.email == "x"',
    'args.list[7] == 1',
    'args.count',
    'args.count / 0 == 1',
    'args.items.all(i, i.weight > 1)',
    'args[caller.user] == 1',
  ])('%s', (text) => {
    expect(ask(text)).toBe('failed')
  })

  test('a part that fails counts only where the rest does not settle it', () => {
    expect(ask('args.missing == 1 || true')).toBe('yes')
    expect(ask('args.missing == 1 && false')).toBe('no')
    expect(ask('args.missing == 1 || false')).toBe('failed')
  })

  test('resources that the tool does not tell are not taken for none', () => {
    expect(ask('resources.all(r, false)', {}, { resourceTexts: () => [] })).toBe('yes')
    expect(ask('resources.all(r, false)', {}, { resourceTexts: () => undefined })).toBe('failed')
  })
})

describe('no member but an argument', () => {
  const own = JSON.parse('{"__proto__": {"admin": true}, "constructor": "c", "toString": 7}') as JsonObject

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'length'])('args.%s is absent', (name) => {
    expect(ask(`has(args.${name})`)).toBe('no')
    expect(ask(`args.${name} == 1`)).toBe('failed')
    expect(ask(`args["${name}"] == 1`)).toBe('failed')
    expect(ask(`"${name}" in args`)).toBe('no')
    expect(ask(`has(args.author.${name})`)).toBe('no')
  })

  test('an argument of such a name is that argument and nothing else', () => {
    expect(ask('args.constructor == "c" && args.toString == 7', own)).toBe('yes')
    expect(ask('has(args.admin)', own)).toBe('no')
    expect(ask('args.__proto__.admin', own)).toBe('yes')
  })
})

describe('refused when it is loaded', () => {
  test.each([
    ['arg.count > 3', '`arg` is no variable; did you mean `args`?'],
    ['call.args.x', '`call` is no variable'],
    ['caller.taks.name == "x"', '`caller.taks` is not known; did you mean `task`?'],
    ['caller.task.nmae == "x"', '`caller.task.nmae` is not known; did you mean `name`?'],
    ['tool.efect == "read"', 'did you mean `effect`?'],
    ['args.title.startswith("h")', '`startswith` is no function here; did you mean `startsWith`?'],
    ['sise(args.title) > 1', 'did you mean `size`?'],
    ['args.count +', 'Unexpected'],
    ['1 + 1', 'has to be true or false'],
    ['args.title.size()', 'has to be true or false'],
    ['caller.user > 3', 'no such overload'],
    ['cel.bind(a, args.title, a == a)', '`cel` is no variable'],
    ['args.title.matches(args.pattern)', 'has to stand in the rule'],
    ['args.title.matches("(a)\\\\1")', 'linear time'],
    ['args.title.matches("(")', 'no regular expression'],
    ['args.title.// here\nmatches("x")', 'beside comments'],
    ['args.a.all(x, args.b.all(y, args.c.all(z, true)))', '2 deep'],
    ['args.a.all(args, true)', 'hides another one'],
    ['args.a.all(x, x.all(x, true))', 'hides another one'],
    [`args.a == ${'('.repeat(40)}1${')'.repeat(40)}`, 'maxDepth'],
    [`true${' && true'.repeat(200)}`, 'maxAstNodes'],
    [`args.a == "${'x'.repeat(2_000)}"`, 'longer than 2000 characters'],
    ['google.protobuf.Timestamp == 1', '`google` is no variable'],
    ['timestamp(args.at).getHours("Europe/Berlin") > 1', '`getHours` is no function here'],
    ['args.title.matchRe("x")', '`matchRe` is no function here'],
    ['args.tags.map(x, x + "a").join("").split("").size() > 1', 'cannot be split'],
    ['args.tags.map(x, x + "a").exists(y, y.trim().split("").size() > 1)', 'cannot be split'],
    ['["x"].map(a, a + a).exists(a, a + a == "x")', 'longer again'],
    ['[args.tags.join("")].exists(x, [x, x].join("") == "x")', 'longer again'],
    ['["a", "b"].join(["c", "d"].join("e")) == ""', 'longer again'],
    ['["x"].map(a, [a, a]).map(a, [a, a]).map(a, [a, a]).size() > 1', '2 times'],
  ])('%s', (text, reason) => {
    expect(compileCel(text)).toEqual({ kind: 'bad', reason: expect.stringContaining(reason) })
  })

  test('expressions that come close to these load', () => {
    expect(ask('args.tags.all(x, args.list.all(y, x != "z" && y < 9))')).toBe('yes')
    expect(ask('(args.title + "!").matches("^hello!$") && !args.title.matches(r"\\d")')).toBe('yes')
    expect(ask('args.title == "// matches"')).toBe('no')
    expect(ask('args.title.substring(args.title.indexOf("e") + 1).split("l").size() == 3')).toBe('yes')
    expect(ask('args.tags.map(t, t + "/").join(",") == "a/,b/"')).toBe('yes')
    expect(ask('["a", "b"].all(p, args.tags.exists(t, t + "/x" == p + "/x"))')).toBe('yes')
    expect(ask('args.items.map(i, i.price + 1).exists(p, p > 50)')).toBe('yes')
  })
})

describe('bounded: no argument makes an evaluation take long', () => {
  const many = (length: number): JsonObject => ({ list: Array.from({ length }, () => ({})), text: 'x'.repeat(length) })

  test('a loop runs as often as the bound says, and fails beyond it', () => {
    expect(ask('args.list.all(i, !has(i.price))', many(1_000))).toBe('yes')
    expect(ask('args.list.all(i, !has(i.price))', many(100_000))).toBe('failed')
  })

  test('loops in each other over the same things, and over characters, fail earlier', () => {
    const nested = 'args.list.all(i, args.list.all(j, i == j))'
    expect(ask(nested, many(50))).toBe('yes')
    expect(ask(nested, many(1_000))).toBe('failed')
    expect(ask('args.text.split("").all(c, c == "x")', many(1_000))).toBe('yes')
    expect(ask('args.text.split("").all(c, c == "x")', many(100_000))).toBe('failed')
    expect(ask('args.list.all(i, args.text.contains("x"))', many(100))).toBe('yes')
    expect(ask('args.list.all(i, args.text.contains("y"))', many(9_000))).toBe('failed')
  })

  test('what stands in the expression counts as well, so that a project file cannot make long lists of its own', () => {
    const numbers = Array.from({ length: 100 }, (_, index) => index).join()
    const nested = `[${numbers}].all(i, [${numbers}].all(j, args.text.contains("x")))`
    expect(ask(nested, many(1))).toBe('failed')
    expect(ask(`[${numbers}].all(i, args.text.contains("x"))`, many(1_000))).toBe('yes')
    expect(ask(`[${numbers}].all(i, args.text.contains("x"))`, many(100_000))).toBe('failed')
    expect(ask(`"${'x'.repeat(1_000)}".split("").all(c, args.text.contains(c))`, many(10_000))).toBe('failed')
  })

  test('without loops, large texts are looked at and a hundred thousand values are not', () => {
    expect(ask('args.text.contains("y")', { text: 'x'.repeat(1_000_000) })).toBe('no')
    expect(ask('args.list.size() > 3', many(200_000))).toBe('failed')
  })

  test('a regular expression that would take forever elsewhere ends', () => {
    expect(ask('args.text.matches("^(x+)+$")', { text: `${'x'.repeat(50_000)}y` })).toBe('no')
  })
})

describe('what an expression looks at', () => {
  test('arguments and resources are told apart from caller and tool', () => {
    expect(compiled('caller.user == "ana" && tool.name == "x"').looksAtArguments).toBe(false)
    expect(compiled('tool.effect == "read"').looksAtCall).toBe(true)
    expect(compiled('args.items.all(i, i.price > args.least)').reads.ways).toEqual([['items'], ['least']])
    expect(compiled('size(args) > 1').reads.whole).toBe(true)
    expect(compiled('size(resources) > 1').looksAtArguments).toBe(true)
  })

  test('types of arguments are held against it', () => {
    expect(compiled('args.count.startsWith("5")').misfit({ count: 'int' })).toContain('startsWith')
    expect(compiled('args.title > 3').misfit({ title: 'string' })).toContain('no such overload')
    expect(compiled('args.title.startsWith("5")').misfit({ title: 'string' })).toBeUndefined()
    expect(compiled('args.count > 0.5 && args.count == 1').misfit({ count: 'int' })).toBeUndefined()
    expect(compiled('args.title != null').misfit({ title: 'string' })).toBeUndefined()
  })
})

describe('another spelling of a path or an address changes no answer', () => {
  const raw = (text: string, path: string): string => ask(text, { path }, { resolved: false })

  test('a path with loose parts is asked about as the path that it is', () => {
    expect(raw('args.path.startsWith("secret/")', 'secret/a')).toBe('yes')
    expect(raw('args.path.startsWith("secret/")', './secret//a')).toBe('failed')
    expect(raw('args.path.startsWith("secret/")', 'docs/../secret/a')).toBe('failed')
    expect(raw('args.path.startsWith("secret/")', './docs/a')).toBe('no')
    expect(raw('args.path.startsWith("https://a.test/")', 'https://a.test/x')).toBe('yes')
    expect(raw('args.path.startsWith("https://a.test")', 'https://a.test\\@b.test/')).toBe('failed')
    expect(ask('args.path.startsWith("secret/")', { path: 'docs/../secret/a' })).toBe('no')
  })

  test('long texts and texts of several lines are no paths', () => {
    expect(raw('args.path.contains("x")', 'see a/../b\nx')).toBe('yes')
    expect(raw('args.path.contains("x")', `${'a/../'.repeat(1_000)}`)).toBe('no')
  })
})
