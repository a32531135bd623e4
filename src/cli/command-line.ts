// The options and arguments of one command, as they were given. What may stand there was checked before.

export type ParsedValue = string | boolean | readonly (string | boolean)[] | undefined

/** The options and arguments of one command. */
export class CommandLine {
  readonly positionals: readonly string[]
  readonly #values: Readonly<Record<string, ParsedValue>>

  constructor(values: Readonly<Record<string, ParsedValue>>, positionals: readonly string[]) {
    this.#values = values
    this.positionals = positionals
  }

  flag(name: string): boolean {
    return this.#values[name] === true
  }

  text(name: string): string | undefined {
    const value = this.#values[name]
    return typeof value === 'string' ? value : undefined
  }

  texts(name: string): readonly string[] {
    const value = this.#values[name]
    return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
  }
}
