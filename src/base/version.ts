// The version of this package, as it is told to the other side of a protocol. A test keeps it equal to package.json.

export const VERSION = '0.1.0'
