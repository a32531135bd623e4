// A configuration that does not hold. Thrown before anything starts; nothing else in the public API throws for an expected end.

/** Where in a configuration a problem stands. Lines and columns count from 1. */
export type ConfigPlace = {
  readonly file?: string
  readonly line?: number
  readonly column?: number
  readonly key?: string
}

export type ConfigProblem = ConfigPlace & { readonly message: string }

export class GateConfigError extends Error {
  override readonly name = 'GateConfigError'
  readonly problems: readonly ConfigProblem[]
  constructor(problems: readonly ConfigProblem[], options?: ErrorOptions) {
    super(problems.map(describeProblem).join('\n'), options)
    this.problems = problems
  }
}

export function describeProblem({ file, line, column, key, message }: ConfigProblem): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':')
  return [place, key === undefined ? '' : `\`${key}\``, message].filter((part) => part !== '').join(': ')
}
