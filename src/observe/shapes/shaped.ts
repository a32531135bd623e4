// The uncut form of what a model reads, in the forms that can be cut in different ways, and what a cut left of it.

import type { ContentPart, Display } from '../../describe/content.ts'
import type { CutUnit, Truncation } from '../../describe/outcome.ts'
import type { Whole } from '../keep-whole.ts'

export type Body =
  /** Content that somebody else has made. `ends`: where a text is cut, its beginning and its end are shown, else the beginning. */
  | {
      readonly kind: 'parts'
      readonly parts: readonly ContentPart[]
      readonly keeps: 'start' | 'ends'
      /** How to ask the tool itself for more, after so many whole lines; undefined where it cannot be asked. */
      readonly more?: (lines: number) => string
    }
  /** A value that has no other form. `rows`: of a list, or of an object with the list `rows`. */
  | { readonly kind: 'json'; readonly text: string; readonly rows: number | undefined }
  /** The first rows of a table, a line each. */
  | {
      readonly kind: 'table'
      readonly header: string
      readonly lines: readonly string[]
      /** Rows that the value has. */
      readonly rows: number
      /** Columns, or what stands beside the rows, are not all in the lines. */
      readonly isPartial: boolean
      /** What is known of rows beyond those of the value. */
      readonly beyond: string
      /** JSON text of the whole value. */
      readonly text: () => string
    }

export type Shown = { readonly body: Body; readonly display?: Display }

/** What is left of a body. */
export type Fitted = {
  readonly content: readonly ContentPart[]
  /** Undefined where nothing was cut. */
  readonly cut: Cut | undefined
}

export type Cut = {
  readonly layer: Truncation['layer']
  readonly originalBytes: number
  readonly keptBytes: number
  readonly unit: CutUnit
  readonly originalUnits: number
  readonly kept: Truncation['kept']
  /** Types of parts that were left out whole. */
  readonly withheld: readonly string[]
  readonly whole: Whole
  /** The tool's own way to more. */
  readonly more?: string
}
