// What judging one operand ends in. Only shapes.

import type { JudgedPath } from './program-grammar.ts'

/** A path within an argument, before it is known where the argument will stand. */
export type NamedPath = Omit<JudgedPath, 'index'>

export type JudgedOperand =
  | {
      readonly kind: 'ok'
      readonly paths: readonly NamedPath[]
      /**
       * Where the program looks because of it: only at its paths, below the working folder, in the whole repository; `nothing`
       * where it says nothing of that.
       */
      readonly bounds: 'only' | 'folder' | 'repository' | 'nothing'
    }
  | { readonly kind: 'refused'; readonly message: string }

export const operandRefused = (message: string): JudgedOperand => ({ kind: 'refused', message })
