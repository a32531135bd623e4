// Where file tools work, and what stays out of their reach even there.

/** Files and folders of the gate itself: configuration and all it names, state, keys, lock. Absolute paths. */
export interface OwnFiles {
  /** Each path stands for itself and everything below it. May grow while the gate lives. */
  paths(): readonly string[]
}

export type Workspace = {
  /** Root folders by name, real paths; the first is the default. */
  readonly roots: ReadonlyMap<string, string>
  /** The roots as they were given, absolute: callers may write paths in that spelling too. */
  readonly spellings?: ReadonlyMap<string, string>
  readonly own: OwnFiles
}
