// An argument as a message may show it: short, on one line, in backticks, with everything that hides written out.

const LENGTH_MAX = 60
const HIDING = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}`]|(?! )\p{Zs}/gu

export function shownArgument(text: string): string {
  const characters = [...text.slice(0, LENGTH_MAX * 2)]
  const shown = characters
    .slice(0, LENGTH_MAX)
    .join('')
    .replace(HIDING, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`)
  return `\`${shown}${characters.length > LENGTH_MAX ? '…' : ''}\``
}
