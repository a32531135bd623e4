// What an expression looks at and what it may cost, told from its syntax alone: unknown names, functions that are not ours
// to offer, and loops in loops are refused here, before any call. It evaluates nothing.

import { didYouMean } from '../base/did-you-mean.ts'
import { CEL_FUNCTIONS, CEL_LOOPS, CEL_METHODS, CEL_TYPES, type CelNode, linearPattern } from './cel-language.ts'

const VARIABLES: readonly string[] = ['args', 'caller', 'tool', 'resources']
const CALLER_FIELDS: readonly string[] = ['tenant', 'user', 'agent', 'roles', 'session', 'task', 'step']
const TOOL_FIELDS: readonly string[] = ['name', 'source', 'effect', 'version']
const LOOPS_DEEP = 2
/** Each `map` may make a list as long as all that went before, taken as often again. */
const MAPS_MAX = 2
const PATTERN_MAX = 500

/** What an expression looks at. */
export type CelReads = {
  /** Every way into the arguments that it names: `author`, `name`. */
  readonly ways: readonly (readonly string[])[]
  /** It looks at the arguments as a whole: which there are, or one whose name only a call tells. */
  readonly whole: boolean
  readonly resources: boolean
  readonly tool: boolean
  readonly effect: boolean
  readonly caller: boolean
  readonly loops: CelLoops
}

/** `depth`: how often a loop may run within others over the same things; 0 without loops. */
export type CelLoops = {
  readonly depth: number
  /** A loop looks at something besides its own element; which arguments that are, or all. */
  readonly outer: 'none' | 'all' | ReadonlySet<string>
  /** Texts are split, so that a loop may run once for each character. */
  readonly splits: boolean
  /** What stands in the expression itself, which loops may run over as well. */
  readonly own: { readonly values: number; readonly characters: number }
}

export type CelRead =
  | { readonly kind: 'ok'; readonly reads: CelReads }
  | { readonly kind: 'bad'; readonly reason: string }

class Refused extends Error {}
const refuse = (reason: string): never => {
  throw new Refused(reason)
}

/** Loops over what was put together could make it longer again and again, whatever they were given. */
const AGAIN = 'what `+` or `join` has put together cannot be split, nor be made longer again by a loop over it'

const quoted = (text: string): string => `\`${text.slice(0, 60)}\``
const near = (name: string, known: Iterable<string>): string => {
  const meant = didYouMean(name, known)
  return meant === undefined ? '' : `; did you mean \`${meant}\`?`
}

export function readSyntax(root: CelNode): CelRead {
  const walk = new Walk()
  try {
    walk.visit(root, NOWHERE)
  } catch (error) {
    if (error instanceof Refused) return { kind: 'bad', reason: error.message }
    throw error
  }
  return { kind: 'ok', reads: walk.reads() }
}

/** `names`: the variables of the loops around; the last is the innermost. `made`: those that run over texts put together. */
type Scope = { readonly names: readonly string[]; readonly made: readonly string[] }
const NOWHERE: Scope = { names: [], made: [] }

/** Functions and methods whose answer is a number, a boolean or a type, however long what they look at is. */
const SMALL: ReadonlySet<string> = new Set([
  ...['size', 'indexOf', 'lastIndexOf', 'startsWith', 'endsWith', 'contains', 'matches', 'has', 'all', 'exists'],
  ...['exists_one', 'int', 'double', 'bool', 'type', 'timestamp'],
])

/** Whether it may be longer than what it is made of: `fresh` where it is put together here, or what a loop runs over was. */
function isMade(node: CelNode, made: Scope['made'], fresh = true): boolean {
  if (node.op === 'id') return made.includes(node.args)
  if (node.op === '+') return fresh || node.args.some((part) => isMade(part, made, fresh))
  const [name] = node.op === 'rcall' || node.op === 'call' ? node.args : ['']
  if (SMALL.has(name)) return false
  if (name === 'join' && fresh) return true
  // All other methods but `map` answer with no more than what they are asked of.
  const parts = node.op === 'rcall' && name !== 'map' ? node.args[1] : node.args
  return childrenOf([parts]).some((part) => isMade(part, made, fresh))
}

class Walk {
  readonly #ways: (readonly string[])[] = []
  readonly #outer = new Set<string>()
  #whole = false
  #resources = false
  #tool = false
  #effect = false
  #caller = false
  #depth = 0
  #outerAll = false
  #outerAny = false
  #splits = false
  #maps = 0
  #values = 0
  #characters = 0

  reads(): CelReads {
    const outer = this.#outerAll ? 'all' : this.#outerAny ? this.#outer : 'none'
    return {
      ways: this.#ways,
      whole: this.#whole,
      resources: this.#resources,
      tool: this.#tool,
      effect: this.#effect,
      caller: this.#caller,
      loops: {
        ...{ depth: this.#depth, outer, splits: this.#splits },
        own: { values: this.#values, characters: this.#characters },
      },
    }
  }

  visit(node: CelNode, scope: Scope): void {
    if (node.op === 'id') this.#name(node.args, [], scope)
    else if (node.op === '.' || node.op === '[]') this.#access(node, scope)
    else if (node.op === 'call') this.#call(node.args[0], node.args[1], scope)
    else if (node.op === 'rcall') this.#method(node.args[0], node.args[1], node.args[2], scope)
    else if (node.op === 'value') this.#value(node.args)
    else {
      if (node.op === '+' && isMade(node, scope.made, false)) refuse(AGAIN)
      for (const child of childrenOf(node.args)) this.visit(child, scope)
    }
  }

  #value(value: unknown): void {
    this.#values += 1
    if (typeof value === 'string') this.#characters += value.length
  }

  /** `args.author.name` and `args["author"]["name"]` are one way, which ends at a place in a list and at what only a call tells. */
  #access(node: CelNode, scope: Scope): void {
    const way: string[] = []
    let at = node
    while (at.op === '.' || at.op === '[]') {
      const [left, right]: readonly [CelNode, CelNode | string] = at.args
      const step = typeof right === 'string' ? right : right.op === 'value' ? right.args : undefined
      if (typeof step === 'string') way.unshift(step)
      else way.length = 0
      if (typeof right !== 'string') this.visit(right, scope)
      at = left
    }
    if (at.op === 'id') this.#name(at.args, way, scope)
    else this.visit(at, scope)
  }

  #name(name: string, way: readonly string[], scope: Scope): void {
    const index = scope.names.lastIndexOf(name)
    const looping = scope.names.length > 0
    if (index >= 0) {
      if (index < scope.names.length - 1) this.#markOuter(undefined)
    } else if (name === 'args') this.#args(way, looping)
    else if (name === 'resources') {
      this.#resources = true
      if (looping) this.#markOuter(undefined)
    } else if (name === 'caller') this.#callerField(way)
    else if (name === 'tool') this.#toolField(way)
    else if (!CEL_TYPES.has(name))
      refuse(`${quoted(name)} is no variable${near(name, VARIABLES)} (known: ${VARIABLES.join(', ')})`)
  }

  #args(way: readonly string[], looping: boolean): void {
    const [first] = way
    if (first === undefined) this.#whole = true
    else this.#ways.push(way)
    if (looping) this.#markOuter(first)
  }

  /** A loop looks at something that is not its own element: `first` is the argument, undefined anything. */
  #markOuter(first: string | undefined): void {
    this.#outerAny = true
    if (first === undefined) this.#outerAll = true
    else this.#outer.add(first)
  }

  #callerField([first, second, third]: readonly string[]): void {
    this.#caller = true
    if (first !== undefined) knownField('caller', first, CALLER_FIELDS)
    if (first !== 'task' || second === undefined) return
    knownField('caller.task', second, ['name'])
    if (third !== undefined) knownField('caller.task.name', third, [])
  }

  #toolField([first]: readonly string[]): void {
    this.#tool = true
    if (first !== undefined) knownField('tool', first, TOOL_FIELDS)
    if (first === undefined || first === 'effect') this.#effect = true
  }

  #call(name: string, given: readonly CelNode[], scope: Scope): void {
    if (!CEL_FUNCTIONS.has(name))
      refuse(`${quoted(name)} is no function here${near(name, [...CEL_FUNCTIONS, ...CEL_METHODS])}`)
    for (const child of given) this.visit(child, scope)
  }

  #method(name: string, receiver: CelNode, given: readonly CelNode[], scope: Scope): void {
    this.visit(receiver, scope)
    if (!CEL_METHODS.has(name) && !CEL_LOOPS.has(name))
      refuse(`${quoted(name)} is no function here${near(name, [...CEL_METHODS, ...CEL_LOOPS])}`)
    if (name === 'split' && isMade(receiver, scope.made)) refuse(AGAIN)
    if (name === 'join' && (isMade(receiver, scope.made, false) || given.some((one) => isMade(one, scope.made))))
      refuse(AGAIN)
    if (name === 'split') this.#splits = true
    if (name === 'matches') checkPattern(given)
    if (CEL_LOOPS.has(name)) this.#loop(name, given, isMade(receiver, scope.made), scope)
    else for (const child of given) this.visit(child, scope)
  }

  #loop(name: string, [variable, ...bodies]: readonly CelNode[], made: boolean, scope: Scope): void {
    if (variable?.op !== 'id' || bodies.length === 0)
      throw new Refused(`\`${name}\` takes the name of a variable and a condition`)
    if (VARIABLES.includes(variable.args) || scope.names.includes(variable.args))
      refuse(`the variable ${quoted(variable.args)} of \`${name}\` hides another one`)
    const names = [...scope.names, variable.args]
    if (names.length > LOOPS_DEEP) refuse(`loops may stand ${LOOPS_DEEP} deep in each other`)
    this.#depth = Math.max(this.#depth, names.length)
    if (name === 'map') this.#maps += 1
    if (this.#maps > MAPS_MAX) refuse(`\`map\` may stand in an expression ${MAPS_MAX} times`)
    const inside = { names, made: made ? [...scope.made, variable.args] : scope.made }
    for (const body of bodies) this.visit(body, inside)
  }
}

function knownField(of: string, name: string, known: readonly string[]): void {
  if (!known.includes(name))
    refuse(
      `${quoted(`${of}.${name}`)} is not known${near(name, known)} (known: ${known.join(', ') || 'nothing below it'})`,
    )
}

/** The pattern stands in the rule and is matched in linear time, whatever the text is. */
function checkPattern(given: readonly CelNode[]): void {
  const [pattern] = given
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string' || given.length !== 1)
    throw new Refused('`matches` takes one regular expression, which has to stand in the rule as a text')
  if (pattern.args.length > PATTERN_MAX) refuse(`a regular expression is at most ${PATTERN_MAX} characters long`)
  try {
    linearPattern(pattern.args)
  } catch {
    refuse(`${quoted(pattern.args)} is no regular expression that can be matched in linear time`)
  }
}

const isNode = (value: unknown): value is CelNode => typeof value === 'object' && value !== null && 'op' in value

function childrenOf(given: unknown): readonly CelNode[] {
  if (Array.isArray(given)) return given.flatMap(childrenOf)
  return isNode(given) ? [given] : []
}

/** Where the name `matches` stands: from the end of what it is asked of to the beginning of its pattern. */
export function matchesCalls(node: CelNode): readonly { readonly from: number; readonly to: number }[] {
  const below = childrenOf(node.args).flatMap(matchesCalls)
  if (node.op !== 'rcall' || node.args[0] !== 'matches') return below
  const [, receiver, [pattern]] = node.args
  return [...below, { from: receiver.end, to: pattern?.start ?? node.end }]
}
