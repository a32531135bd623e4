// `tools.shell` and `tools.commands`: programs that callers may start, and narrow commands of the operator's own. The form is
// read here; whether it makes sense is for the tools themselves to say, which are asked before anything starts.

import { EFFECTS } from '../../describe/effect.ts'
import { SANDBOX_MODES } from '../../machine/abilities.ts'
import type {
  OperandSlot,
  ProgramGrammar,
  ProgramOption,
  ProgramsOption,
} from '../../sources/builtin/shell/program-grammar.ts'
import type { NarrowCommandOptions, NarrowInput, ShellOptions } from '../../sources/builtin/shell/shell-options.ts'
import { commandLimits as limits } from './process-limits-shape.ts'
import {
  anyText,
  choice,
  duration,
  flag,
  listOf,
  namedValues,
  refined,
  refuse,
  type Shape,
  text,
  whole,
} from './shape.ts'
import { byForm, chosenByKey, fields, needed, optional, whereKey } from './shape-object.ts'

const DAY_MS = 86_400_000
/** `git stash list` is two deep; no program needs more than this. */
const SUBCOMMANDS_DEEP = 2

const mapped = <Value>(
  names: Shape<string>,
  value: Shape<Value>,
  max: number,
): Shape<Readonly<Record<string, Value>>> =>
  refined(namedValues(names, value, max), (values) => Object.fromEntries(values))

/** The word `true` alone: a key that is false is one that should not stand there. */
const yes = refined(flag(), (value, reading): true | undefined =>
  value ? true : refuse(reading, 'expected `true`; leave the key out where it is not meant'),
)

const sandbox = choice(SANDBOX_MODES)

const slot: Shape<OperandSlot> = fields({
  kind: needed(
    choice(['path', 'text', 'number', 'revision', 'none']),
    '`path` stays inside the workspace, and is something that rules on resources see. The others are data.',
  ),
  pattern: optional(text('a pattern'), 'A linear-time regular expression that the whole of it has to fit.'),
  oneOf: optional(listOf(anyText()), 'Exactly these.'),
})

const words = listOf(text('a flag'))

/** `left`: how many levels of subcommands may still follow. */
function grammar(left: number): Shape<ProgramGrammar> {
  const own = {
    reads: needed(
      flag(),
      'Whether it changes nothing, reaches no network and starts nothing, whatever it is given of this.',
    ),
    flags: optional(words, 'Flags without a value, as they are written: `-l`, `--stat`.'),
    clusters: optional(text('letters'), 'Letters of flags without a value that may stand together behind one dash.'),
    values: optional(mapped(text('a flag'), slot, 200), 'Flags with a value, and what that may be.'),
    forms: optional(listOf(text('a pattern')), 'Patterns of whole arguments of other forms, such as `^-[0-9]+$`.'),
    operands: optional(listOf(slot, 50), 'What is no flag, in its order.'),
    least: optional(whole(0, 50), 'The least number of operands. Default: 0.'),
    more: optional(flag(), 'The last operand stands for all further ones.'),
    firstBy: optional(words, 'Flags whose value takes the place of the first operand.'),
    ends: optional(flag(), 'Whether `--` ends the flags. Default: true.'),
    stdin: optional(flag(), 'It may be given text on its standard input, for which `-` stands. Default: false.'),
    walks: optional(flag(), 'It also looks at everything below a folder that it is given.'),
    runsWorkspaceCode: optional(
      flag(),
      'It runs code that the workspace holds: only in a sandbox, or with an approval.',
    ),
    benign: optional(listOf(whole(1, 255)), 'Exit codes besides 0 that are answers and no failures.'),
    before: optional(listOf(anyText()), 'Put before the arguments of the caller.'),
  }
  if (left === 0) return fields(own)
  const below = mapped(text('a subcommand'), grammar(left - 1), 200)
  return fields({ ...own, subcommands: optional(below, 'The first argument that is no flag names one of these.') })
}

const program: Shape<ProgramOption> = byForm({
  flag: yes,
  list: listOf(text('a subcommand')),
  map: whereKey(
    'scripts',
    fields({ scripts: needed(listOf(text('the name of a script')), 'Scripts of `package.json` that may be run.') }),
    grammar(SUBCOMMANDS_DEEP),
  ),
})

const programName = text('the bare name of a program', '[A-Za-z0-9_.+-]{1,64}')

const programs: Shape<ProgramsOption> = byForm({
  text: choice(['inspect']),
  map: mapped(programName, program, 200),
})

const jobs = refined(
  fields({
    perSession: optional(whole(0, 100), 'Of one session at the same time. Default: 4. 0: no jobs.'),
    perGate: optional(whole(0, 1_000), 'Of the whole gate at the same time. Default: 32.'),
    deadline: optional(duration({ min: 1_000, max: DAY_MS }), 'How long a job may take. Default: 30m.'),
    idle: optional(
      duration({ min: 1_000, max: DAY_MS }),
      'After so long without a call about it a job is ended. Default: 15m.',
    ),
  }),
  ({ perSession, perGate, deadline, idle }): NonNullable<ShellOptions['jobs']> => ({
    ...(perSession === undefined ? {} : { perSession }),
    ...(perGate === undefined ? {} : { perGate }),
    ...(deadline === undefined ? {} : { deadlineMs: deadline }),
    ...(idle === undefined ? {} : { idleMs: idle }),
  }),
)

const shellFields: Shape<ShellOptions> = refined(
  fields({
    programs: optional(
      programs,
      'Which programs, and what of them. Default: `inspect`, everything shipped that only reads.',
    ),
    sandbox: optional(
      sandbox,
      'Default: `preferred`: without one commands run all the same, and their records say so.',
    ),
    network: optional(flag(), 'Whether programs reach the network from inside the sandbox. Default: false.'),
    deadline: optional(
      duration({ min: 100, max: 600_000 }),
      'How long a command in the foreground may take. Default: 60s.',
    ),
    limits: optional(limits, 'Bounds of each command with all that it starts.'),
    jobs: optional(jobs, 'Commands that go on after their call.'),
    folders: optional(
      listOf(text('an absolute path', '/.*'), 32),
      'Further folders to find programs in, outside of the workspace and not for everybody to change.',
    ),
  }),
  ({ deadline, ...rest }) => (deadline === undefined ? rest : { ...rest, deadlineMs: deadline }),
)

/** `tools.shell`; false is no shell tools. */
export const shell: Shape<ShellOptions | false> = byForm({
  flag: refined(flag(), (value): ShellOptions | false => (value ? {} : false)),
  map: shellFields,
})

const described = {
  description: optional(text(), 'What it is for; the model reads it.'),
  optional: optional(flag(), 'Where it is not given, the arguments that hold it are left out.'),
}

const input: Shape<NarrowInput> = chosenByKey({
  path: fields({ path: needed(yes, 'A path inside the workspace.'), ...described }),
  text: fields({
    text: needed(yes, 'One line of text.'),
    pattern: optional(text('a pattern'), 'A linear-time regular expression that the whole of it has to fit.'),
    flag: optional(flag(), 'It may begin with `-`.'),
    ...described,
  }),
  oneOf: fields({ oneOf: needed(listOf(anyText(), 200), 'Exactly these.'), ...described }),
  number: fields({
    number: needed(yes, 'A whole number.'),
    min: optional(whole(-9_007_199_254_740_991, 9_007_199_254_740_991), 'This one or a larger one.'),
    max: optional(whole(-9_007_199_254_740_991, 9_007_199_254_740_991), 'This one or a smaller one.'),
    ...described,
  }),
})

const command: Shape<NarrowCommandOptions> = refined(
  fields({
    program: needed(programName, 'The program, by its bare name.'),
    args: needed(
      listOf(anyText(), 1_000),
      'Its arguments. `{name}` stands for an input, and each text stays one argument.',
    ),
    inputs: optional(
      mapped(text('a name: letters, digits and `_`', '[A-Za-z_][A-Za-z0-9_]{0,63}'), input, 64),
      'What a caller may say, and what that may be.',
    ),
    effect: needed(choice(EFFECTS), 'What the command may do. `read` runs with the workspace read-only.'),
    description: optional(text(), 'What it is for; the model reads it.'),
    deadline: optional(duration({ min: 1, max: DAY_MS }), 'How long it may take. Default: 60s.'),
    sandbox: optional(sandbox, 'Default: that of `tools.shell`, else `preferred`.'),
    network: optional(
      flag(),
      'Whether it reaches the network from inside the sandbox. Default: only where the effect is `external`.',
    ),
    limits: optional(limits, 'Bounds of the command with all that it starts.'),
    benign: optional(listOf(whole(1, 255)), 'Exit codes besides 0 that are answers and no failures.'),
    runsWorkspaceCode: optional(
      flag(),
      'Whether it runs code that the workspace holds: then only in a sandbox, or with an approval. Default: true where the effect is more than `read`.',
    ),
  }),
  ({ deadline, ...rest }) => (deadline === undefined ? rest : { ...rest, deadlineMs: deadline }),
)

/** `tools.commands`. */
export const commands: Shape<Readonly<Record<string, NarrowCommandOptions>>> = mapped(
  text('the name of a tool: 1 to 64 letters, digits, `_` and `-`', '[A-Za-z0-9_-]{1,64}'),
  command,
  200,
)
