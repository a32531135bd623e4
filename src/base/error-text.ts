// What was thrown, as text for the operator. Anything can be thrown, also what throws again when it is read.

/** The stack of an error, its message, or whatever else it says. Never throws. */
export function errorText(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error)
    const { stack, message } = error
    return typeof stack === 'string' ? stack : String(message)
  } catch {
    return 'something that cannot be read was thrown'
  }
}

/** The message of an error, without its stack. Never throws. */
export function errorMessage(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error)
  } catch {
    return 'something that cannot be read was thrown'
  }
}
