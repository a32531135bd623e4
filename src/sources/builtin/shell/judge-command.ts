// Decides whether a program may be run with these arguments, and what they name. It opens nothing and starts nothing. What is
// not in the grammar of the program is refused, whatever it means; whether the paths that it names may be read is for others.

import { didYouMean } from '../../../base/did-you-mean.ts'
import { type CompiledGrammar, type CompiledSlot, compiledGrammar } from './compiled-grammar.ts'
import { judgeOperand } from './judge-operand.ts'
import type { JudgedOperand, NamedPath } from './judged-operand.ts'
import type { JudgedCommand, JudgedPath, ProgramGrammar } from './program-grammar.ts'
import { type Argument, readArguments } from './read-arguments.ts'
import { shownArgument } from './shown-argument.ts'

const ARGUMENTS_MAX = 1_000
/** Linux passes no argument of 128 KiB, its closing zero counted. */
const ARGUMENT_BYTES_MAX = 131_071
const NAMES_SHOWN_MAX = 40

type Refused = Extract<JudgedCommand, { kind: 'refused' }>
type Ok = Extract<JudgedCommand, { kind: 'ok' }>
type Bounds = Extract<JudgedOperand, { kind: 'ok' }>['bounds']

const refused = (code: Refused['code'], message: string): Refused => ({ kind: 'refused', code, message })
const unsafe = (message: string): Refused => refused('unsafe_args', message)

/** Judges one command by the grammars of the programs that may be run. Never throws for what a caller wrote. */
export function judgeCommand(
  programs: ReadonlyMap<string, ProgramGrammar>,
  program: string,
  args: readonly string[],
): JudgedCommand {
  const grammar = programs.get(program)
  if (grammar === undefined) return refused('permission_denied', unknownProgram(program, programs))
  const unfit = unfitArguments(args)
  if (unfit !== undefined) return unfit
  const judged = judgeLevel(grammar, program, args)
  if (judged.kind === 'refused') return judged
  const { flags: _flags, ...rest } = judged
  return { ...rest, program, before: grammar.before ?? [] }
}

function unknownProgram(program: string, programs: ReadonlyMap<string, ProgramGrammar>): string {
  const names = [...programs.keys()]
  const shown = names.slice(0, NAMES_SHOWN_MAX).map((name) => `\`${name}\``)
  const known = shown.length === 0 ? 'no program may be run here' : `these may be run here: ${shown.join(', ')}`
  if (program === '') return `the name of the program is empty; ${known}`
  if (/[\\/]/.test(program)) return `give the bare name of a program, not the path ${shownArgument(program)}; ${known}`
  const near = didYouMean(program, names)
  const meant = near === undefined ? '' : `; did you mean \`${near}\``
  return `the program ${shownArgument(program)} may not be run${meant}; ${known}`
}

function unfitArguments(args: readonly string[]): Refused | undefined {
  if (args.length > ARGUMENTS_MAX)
    return refused('invalid_args', `there are ${args.length} arguments; at most ${ARGUMENTS_MAX}`)
  for (const text of args) {
    if (text.length > ARGUMENT_BYTES_MAX || Buffer.byteLength(text) > ARGUMENT_BYTES_MAX)
      return refused('invalid_args', `an argument is longer than ${ARGUMENT_BYTES_MAX} bytes`)
    if (text.includes('\0') || !text.isWellFormed())
      return refused(
        'invalid_args',
        `the argument ${shownArgument(text)} holds a character that no program can be given`,
      )
  }
  return undefined
}

type JudgedLevel = (Omit<Ok, 'program' | 'before'> & { readonly flags: ReadonlySet<string> }) | Refused

/** One program or subcommand. Recursion ends with the nesting of the grammar. */
function judgeLevel(grammar: ProgramGrammar, name: string, args: readonly string[]): JudgedLevel {
  const read = readArguments(grammar, name, args)
  if (read.kind === 'refused') return read
  const { subcommands, ...compiled } = compiledGrammar(grammar)
  if (subcommands.size > 0 && read.found.some(({ kind }) => kind === 'ends'))
    return unsafe(`\`--\` is not allowed before the subcommand of \`${name}\``)
  const own = new LevelJudge(grammar, name, read.found, read.flags).judge()
  const word = args[read.count]
  if (own.kind === 'refused' || word === undefined) return own
  const inner = subcommands.get(word)
  if (inner === undefined) return unsafe(unknownSubcommand(word, name, { subcommands, ...compiled }))
  const below = judgeLevel(inner, `${name} ${word}`, args.slice(read.count + 1))
  if (below.kind === 'refused') return below
  // Only a flag says that it is there already: a file may have the same name.
  const put = (inner.before ?? []).filter((text) => !below.flags.has(text.replace(/=.*/s, '')))
  const lead = [...own.args, word, ...put]
  const moved = below.paths.map((path) => ({ ...path, index: path.index + lead.length }))
  return { ...below, args: [...lead, ...below.args], paths: [...own.paths, ...moved] }
}

function unknownSubcommand(word: string, name: string, { subcommands, instead }: CompiledGrammar): string {
  const hint = instead.get(word)
  const shown = `\`${name}\` may not be run with ${shownArgument(word)}`
  if (hint !== undefined) return `${shown}; ${hint}`
  const names = [...subcommands.keys()]
  const near = didYouMean(word, names)
  const known = names.slice(0, NAMES_SHOWN_MAX).map((one) => `\`${one}\``)
  return `${shown}${near === undefined ? '' : `; did you mean \`${near}\``}; allowed are ${known.join(', ')}`
}

/** Puts the arguments of one level into their order and judges each. */
class LevelJudge {
  readonly #grammar: ProgramGrammar
  readonly #compiled: CompiledGrammar
  readonly #name: string
  readonly #found: readonly Argument[]
  readonly #flags: ReadonlySet<string>
  readonly #walks: boolean
  readonly #args: string[] = []
  readonly #paths: JudgedPath[] = []
  /** What the operands say of where the program looks: those behind `--` where they are of their own kind, and the others. */
  readonly #behind = new Set<Bounds>()
  readonly #words = new Set<Bounds>()
  /** Whether `--` was given: what stands before it is then no path to git. */
  readonly #hasEnds: boolean
  #operands = 0
  #refused: Refused | undefined

  constructor(grammar: ProgramGrammar, name: string, found: readonly Argument[], flags: ReadonlySet<string>) {
    this.#grammar = grammar
    this.#compiled = compiledGrammar(grammar)
    this.#name = name
    this.#found = found
    this.#flags = flags
    this.#walks = grammar.walks === true || (grammar.walksBy ?? []).some((flag) => flags.has(flag))
    this.#hasEnds = found.some(({ kind }) => kind === 'ends')
  }

  judge(): JudgedLevel {
    for (const argument of this.#ordered()) {
      if (!this.#take(argument)) return this.#refused ?? unsafe(`\`${this.#name}\` may not be run so`)
    }
    const wrong = this.#wrongCount()
    if (wrong !== undefined) return wrong
    const { reads, stdin: takesStdin = false, runsWorkspaceCode = false, script, benign = [] } = this.#grammar
    return {
      kind: 'ok',
      args: this.#args,
      paths: this.#paths,
      looksAtFolder: this.#looksAt(),
      reads,
      takesStdin,
      runsWorkspaceCode,
      benign,
      flags: this.#flags,
      ...(script === undefined ? {} : { script }),
    }
  }

  /** For programs that read as getopt does: flags, `--`, operands. Where flags and operands may mix depends on the version. */
  #ordered(): readonly Argument[] {
    if (this.#grammar.getopt !== true) return this.#found
    const operands = this.#found.filter(({ kind }) => kind === 'operand')
    const flags = this.#found.filter(({ kind }) => kind === 'flag' || kind === 'value')
    return operands.length === 0 ? flags : [...flags, { kind: 'ends' }, ...operands]
  }

  #take(argument: Argument): boolean {
    switch (argument.kind) {
      case 'flag':
        this.#args.push(argument.text)
        return true
      case 'ends':
        this.#args.push('--')
        return true
      case 'value':
        return this.#takeValue(argument)
      case 'operand':
        return this.#takeOperand(argument)
    }
  }

  #takeValue({ lead, isApart, value, slot }: Extract<Argument, { kind: 'value' }>): boolean {
    const joint = lead.startsWith('--') ? '=' : ''
    // An empty value cannot be joined to a letter: the next argument would be taken for it.
    const isJoined = !isApart || (this.#grammar.getopt === true && (joint === '=' || value !== ''))
    if (isJoined) this.#args.push(`${lead}${joint}${value}`)
    else this.#args.push(lead, value)
    const start = isJoined ? lead.length + joint.length : 0
    const judged = judgeOperand(value, { slot, walks: false, stdin: false, mayBePath: false })
    if (judged.kind === 'refused')
      return this.#refuse(`the flag ${shownArgument(lead)} of \`${this.#name}\`: ${judged.message}`)
    this.#addPaths(judged.paths, start)
    return true
  }

  #takeOperand({ text, isBehind }: Extract<Argument, { kind: 'operand' }>): boolean {
    const isPathspec = isBehind && this.#compiled.behindEnds !== undefined
    const slot = isPathspec ? this.#compiled.behindEnds : this.#slotOf(this.#operands)
    if (!isPathspec) this.#operands += 1
    if (slot === undefined) return this.#refuseOperand(text)
    const judged = judgeOperand(text, {
      slot,
      walks: this.#walks,
      stdin: this.#grammar.stdin === true,
      mayBePath: slot.kind === 'revision' && this.#compiled.behindEnds !== undefined && !this.#hasEnds,
    })
    if (judged.kind === 'refused') {
      const hint = this.#compiled.instead.get(text)
      return this.#refuse(`\`${this.#name}\`: ${judged.message}${hint === undefined ? '' : `; ${hint}`}`)
    }
    this.#args.push(text)
    this.#addPaths(judged.paths, 0)
    if (isPathspec) this.#behind.add(judged.bounds)
    else if (slot.kind !== 'text' && slot.kind !== 'number') this.#words.add(judged.bounds)
    return true
  }

  #refuseOperand(text: string): false {
    const hint = this.#compiled.instead.get(text)
    const shown = `\`${this.#name}\` does not take the argument ${shownArgument(text)}`
    return this.#refuse(hint === undefined ? shown : `${shown}; ${hint}`)
  }

  #addPaths(paths: readonly NamedPath[], shift: number): void {
    const index = this.#args.length - 1
    for (const { start, end, ...path } of paths) {
      const moved = end === undefined ? {} : { end: end + shift }
      this.#paths.push({ index, start: start + shift, ...moved, ...path })
    }
  }

  #slotOf(operand: number): CompiledSlot | undefined {
    const all = this.#compiled.operands
    const isFirstTaken = (this.#grammar.firstBy ?? []).some((flag) => this.#flags.has(flag))
    const slots = isFirstTaken ? all.slice(1) : all
    return slots[operand] ?? (this.#grammar.more === true ? slots.at(-1) : undefined)
  }

  #wrongCount(): Refused | undefined {
    const { least = 0, operandsNeed, firstBy = [] } = this.#grammar
    const isFirstTaken = firstBy.some((flag) => this.#flags.has(flag))
    if (this.#operands < least - (isFirstTaken ? 1 : 0))
      return refused(
        'invalid_args',
        `\`${this.#name}\` needs at least ${least} argument${least === 1 ? '' : 's'} besides flags`,
      )
    if (operandsNeed !== undefined && this.#operands > 0 && !operandsNeed.some((flag) => this.#flags.has(flag)))
      return unsafe(
        `\`${this.#name}\` takes a name only together with ${operandsNeed.map((flag) => `\`${flag}\``).join(' or ')}`,
      )
    return undefined
  }

  /** Paths behind `--` bound what is looked at, whatever commits stand before it; one word that is no path unbounds it. */
  #looksAt(): Ok['looksAtFolder'] {
    const isBoundBehind = [...this.#behind].some((bounds) => bounds !== 'nothing')
    const bounds = isBoundBehind ? this.#behind : this.#words
    const isOpen = bounds.size === 0 || (!isBoundBehind && bounds.has('nothing'))
    if (bounds.has('repository')) return 'repository'
    if (isOpen && this.#grammar.looksAt === 'repository') return 'repository'
    if (bounds.has('folder') || (isOpen && this.#walks)) return 'below'
    return isOpen && this.#grammar.looksAt === 'folder' ? 'itself' : 'no'
  }

  #refuse(message: string): false {
    this.#refused = unsafe(message)
    return false
  }
}
