// From what a caller asks for to a settled command: split, judged by the grammar of its program, every path made canonical and
// judged again. A program that no grammar names, and an argument that its grammar does not allow, end here.

import type { CommandFacts, Refusal } from '../../../describe/tool.ts'
import { type FilePlace, isRefusal, type Settled } from '../files/file-place.ts'
import { canonicalArguments, operandsOf, repositoryTop } from './command-operands.ts'
import { judgeCommand } from './judge-command.ts'
import type { JudgedCommand, ProgramGrammar } from './program-grammar.ts'
import type { Operand, SettledCommand } from './settled-command.ts'
import { splitCommandLine } from './split-command-line.ts'
import type { TrustedProgram } from './trusted-programs.ts'

export type CommandArgs = {
  readonly program?: string
  readonly args?: readonly string[]
  readonly command?: string
  readonly cwd?: string
  readonly root?: string
  readonly stdin?: string
  readonly timeoutMs?: number
  readonly background?: boolean
}

export type ShellCommandsParts = {
  readonly place: FilePlace
  readonly grammars: ReadonlyMap<string, ProgramGrammar>
  /** Files of those of them that this machine has. */
  readonly programs: ReadonlyMap<string, TrustedProgram>
  /** Whether commands that do more than read reach the network. */
  readonly network: boolean
}

type Judged = JudgedCommand & { readonly kind: 'ok' }

export class ShellCommands {
  readonly #parts: ShellCommandsParts

  constructor(parts: ShellCommandsParts) {
    this.#parts = parts
  }

  /** The canonical form of a call's arguments. */
  resolve(given: CommandArgs): CommandArgs | Refusal {
    const { place, programs } = this.#parts
    const words = wordsOf(given)
    if (isRefusal(words)) return words
    const first = this.#judge(words.program, words.args)
    if (first.kind === 'refused') return { kind: 'refused', code: first.code, message: first.message }
    // What a program would do with it is in no grammar: an interpreter would run it.
    if (given.stdin !== undefined && !first.takesStdin)
      return { kind: 'refused', code: 'unsafe_args', message: `\`${words.program}\` may not be given \`stdin\` so` }
    const cwd = place.locate({ path: given.cwd ?? '.', root: given.root })
    if (isRefusal(cwd)) return { ...cwd, message: `\`cwd\`: ${cwd.message}` }
    const canonical = canonicalArguments({ place, args: first.args, paths: first.paths, cwd }, !first.reads)
    if (isRefusal(canonical)) return canonical
    // INVARIANT last-check: another spelling of a path must not be another command to the program.
    const again = this.#judge(words.program, canonical.args)
    if (again.kind === 'refused' || !samePlaces(first, again))
      return {
        kind: 'refused',
        code: 'unsafe_args',
        message: 'a path in the arguments means something else to this program; name it in another way',
      }
    if (!programs.has(words.program))
      return { kind: 'refused', code: 'unavailable', message: `\`${words.program}\` is not installed on this machine` }
    const { command, cwd: givenCwd, root, ...rest } = given
    const { path, ...inRoot } = place.spot(cwd)
    return { ...rest, program: words.program, args: canonical.args, cwd: path, ...inRoot }
  }

  /** What a program certainly only does; of canonical arguments. */
  facts({ program = '', args = [] }: CommandArgs): CommandFacts {
    const judged = this.#judge(program, args)
    return { program, reads: judged.kind === 'ok' && judged.reads }
  }

  /** The command of canonical arguments, as things stand now. Refused: something is not any more what it was. */
  settle(given: CommandArgs): SettledCommand | Refusal {
    const { program: name = '', args = [], cwd: path = '.', root, stdin } = given
    const { place, programs, network } = this.#parts
    const judged = this.#judge(name, args)
    const program = programs.get(name)
    if (judged.kind === 'refused' || program === undefined) throw new TypeError('this call was not resolved')
    const cwd = place.locate({ path, root })
    if (isRefusal(cwd)) return cwd
    const operands = operandsOf({ place, args: judged.args, paths: judged.paths, cwd })
    if ('kind' in operands) return operands
    const { reads, runsWorkspaceCode, script, benign, before } = judged
    return {
      ...{ program, before, args: judged.args, cwd, operands, reads, runsWorkspaceCode, script, benign, stdin },
      looksAt: looksAt(judged, cwd, place),
      network: network && !reads,
    }
  }

  #judge(program: string, args: readonly string[]): JudgedCommand {
    return judgeCommand(this.#parts.grammars, program, args)
  }
}

type Words = { readonly program: string; readonly args: readonly string[] }

function wordsOf({ program, args, command }: CommandArgs): Words | Refusal {
  const invalid = (message: string): Refusal => ({ kind: 'refused', code: 'invalid_args', message })
  if ((program === undefined) === (command === undefined))
    return invalid('give either `program` with `args`, or `command`, and not both')
  if (command === undefined) {
    if ([program ?? '', ...(args ?? [])].some((word) => !word.isWellFormed()))
      return invalid('an argument holds half of a surrogate pair, which no program can be given')
    return { program: program ?? '', args: args ?? [] }
  }
  if (args !== undefined) return invalid('`args` go with `program`; put everything into `command`, or nothing')
  const split = splitCommandLine(command)
  if (split.kind === 'refused') return { kind: 'refused', code: split.code, message: split.message }
  const [first = '', ...rest] = split.words
  return { program: first, args: rest }
}

const samePlaces = (one: Judged, other: Judged): boolean =>
  one.paths.length === other.paths.length &&
  one.paths.every(({ index, start, below, from }, at) => {
    const same = other.paths[at]
    return same?.index === index && same.start === start && same.below === below && same.from === from
  }) &&
  one.looksAtFolder === other.looksAtFolder &&
  one.reads === other.reads &&
  one.runsWorkspaceCode === other.runsWorkspaceCode

function looksAt({ looksAtFolder }: Judged, cwd: Settled, place: FilePlace): Operand | undefined {
  if (looksAtFolder === 'no') return undefined
  if (looksAtFolder === 'repository') return { settled: repositoryTop(place, cwd), below: true }
  return { settled: cwd, below: looksAtFolder === 'below' }
}
