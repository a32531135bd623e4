// A value together with the content that the model shall read of it: for tools whose answer already has both faces.

import type { ContentPart, Display } from './content.ts'

export class ToolResult<Value> {
  readonly value: Value
  readonly content: readonly ContentPart[]
  readonly display: Display | undefined
  constructor(value: Value, content: readonly ContentPart[], display?: Display) {
    this.value = value
    this.content = content
    this.display = display
  }
}
