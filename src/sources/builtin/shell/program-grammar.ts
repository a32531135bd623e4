// What a program may be called with, as data: exact flags and operands, everything else is refused. An allow-list only:
// whoever lists what is bad has lost against abbreviations, clusters and the next release of the program.

/**
 * `path`: stays inside the workspace and is a resource. `pathspec`: git's patterns of paths, judged like paths.
 * `revision`: a commit of git; as an operand it may turn out to be a path, and is then judged like one too. The others are
 * data, and never opened by the program.
 */
export type OperandKind = 'path' | 'pathspec' | 'text' | 'number' | 'revision' | 'none'

export type OperandSlot = {
  readonly kind: OperandKind
  /** A linear-time regular expression that the whole operand has to fit. Of a number: up to 9 digits, if absent. */
  readonly pattern?: string
  /** Exactly these. */
  readonly oneOf?: readonly string[]
  /** A pattern that what stands before a path in the same argument has to fit, up to a colon: `^[0-9]+,[0-9]+:$`. */
  readonly behind?: string
}

export type ProgramGrammar = {
  /** Flags without a value, in the exact spelling: `-l`, `--stat`. */
  readonly flags?: readonly string[]
  /** Letters of flags without a value that may stand together behind one dash, such as `rn` of `-rn`. */
  readonly clusters?: string
  /**
   * Flags with a value, apart (`-n 5`) or, for long ones, joined (`--max-count=5`); for short ones joined as `-n5`. A name
   * that ends in `=` takes joined values only. One that stands in `flags` too needs no value where it is the last argument.
   */
  readonly values?: Readonly<Record<string, OperandSlot>>
  /**
   * A value that stands apart may begin with a dash: the program takes whatever follows the flag. Others may take it for a
   * flag, so that it has to be joined. Default: as `getopt`.
   */
  readonly anyValue?: boolean
  /** Anchored patterns of whole arguments of other forms, such as `^-[0-9]+$`. */
  readonly forms?: readonly string[]
  /** Operands in their order; the last one stands for all further ones where `more` is true. */
  readonly operands?: readonly OperandSlot[]
  /** Least number of operands. Default: 0. */
  readonly least?: number
  readonly more?: boolean
  /** One of these flags takes the place of the first operand, as `grep -e` that of the pattern. */
  readonly firstBy?: readonly string[]
  /** Operands are allowed only together with one of these flags: `git branch NAME` makes one, `--list NAME` does not. */
  readonly operandsNeed?: readonly string[]
  /** Whether `--` ends the flags. Default: true. */
  readonly ends?: boolean
  /** What operands behind `--` are, where they are others than those before it. */
  readonly behindEnds?: OperandSlot
  /** Every argument is text, also one that looks like a flag. */
  readonly literal?: boolean
  /** It may be given text on its standard input, for which `-` stands and is no path. Default: none is given, whatever it would do with it. */
  readonly stdin?: boolean
  /**
   * The program reads its arguments as getopt does. They are then put into the one form that no two versions of it read
   * differently: flags first, values joined to them, `--` before the operands. Default: they stay as they are given.
   */
  readonly getopt?: boolean
  /** The first argument that is no flag names one of these; its grammar goes on from there. */
  readonly subcommands?: Readonly<Record<string, ProgramGrammar>>
  /** The program changes nothing, reaches no network and starts nothing, whatever of this grammar it is given. */
  readonly reads: boolean
  /** It also looks at everything below a folder that it is given, and below the working folder where it is given none. */
  readonly walks?: boolean
  /** One of these flags makes it walk. */
  readonly walksBy?: readonly string[]
  /** What it looks at where it is given no path: the working folder itself, or the whole repository around it. */
  readonly looksAt?: 'folder' | 'repository'
  /** It runs code that the workspace holds: only in a sandbox, or with an approval that is for that code too. */
  readonly runsWorkspaceCode?: boolean
  /** The script of `package.json` that it runs. */
  readonly script?: string
  /** Exit codes besides 0 that are answers and no failures. */
  readonly benign?: readonly number[]
  /** Put before the arguments of the caller, and never theirs to give. Of a subcommand: put right behind its name. */
  readonly before?: readonly string[]
  /** What to do instead of using a flag or subcommand that is often asked for and not allowed. */
  readonly instead?: Readonly<Record<string, string>>
}

/** `true`: the shipped grammar. A list: only these of its subcommands. `scripts`: `run NAME` of these package scripts. An object: a grammar of one's own. */
export type ProgramOption = true | readonly string[] | { readonly scripts: readonly string[] } | ProgramGrammar

/** `inspect`: every shipped grammar that only reads. */
export type ProgramsOption = 'inspect' | Readonly<Record<string, ProgramOption>>

/**
 * A part of one argument that names something in the workspace: from character `start` of `args[index]` to its end. What
 * it is replaced by must not begin with a dash.
 */
export type JudgedPath = {
  readonly index: number
  readonly start: number
  /** Where it ends, if before the end of the argument: the part of `src/*.ts` before the pattern. */
  readonly end?: number
  /** Everything below it is looked at too. */
  readonly below: boolean
  /** `top`: named from the top of the git repository around the working folder. Absent: from the working folder. */
  readonly from?: 'top'
  /** A resource like others, but the argument has to stay as it is: it is part of a pattern, a commit, or perhaps one. */
  readonly stays?: true
}

export type JudgedCommand =
  | {
      readonly kind: 'ok'
      readonly program: string
      /** What the program is to be given behind `before`. Judging them again gives the same. */
      readonly args: readonly string[]
      readonly paths: readonly JudgedPath[]
      /**
       * What the program looks at besides `paths`, mostly because no path was given. `repository`: everything below the top
       * of the git repository around the working folder, which may be more than that folder.
       */
      readonly looksAtFolder: 'no' | 'itself' | 'below' | 'repository'
      readonly reads: boolean
      /** Whether it may be given text on its standard input. */
      readonly takesStdin: boolean
      readonly runsWorkspaceCode: boolean
      /** The package script that it runs, where it runs one. */
      readonly script?: string
      readonly benign: readonly number[]
      /** What goes before `args`. */
      readonly before: readonly string[]
    }
  | {
      readonly kind: 'refused'
      readonly code: 'permission_denied' | 'unsafe_args' | 'invalid_args'
      readonly message: string
    }
