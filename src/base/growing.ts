// A shape while it is put together; whoever gets it gets it readonly.

export type Growing<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] }
