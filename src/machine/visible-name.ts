// Whether a person sees a name as it is: no control, direction or invisible character hides part of it or reorders it. It
// refuses hiding, not languages: joiners pass where a script or an emoji needs them. It repairs nothing.

const CONTROL = /[\p{Cc}\u2028\u2029]/u
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
/** Characters without a shape of their own; the joiners and selectors among them are judged by their neighbours. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/u

/** Scripts whose spelling uses the two joiners (Unicode Standard, chapters 9, 12, 13 and 16). */
const JOINING =
  /^[\p{sc=Arab}\p{sc=Syrc}\p{sc=Mong}\p{sc=Nkoo}\p{sc=Adlm}\p{sc=Mand}\p{sc=Deva}\p{sc=Beng}\p{sc=Guru}\p{sc=Gujr}\p{sc=Orya}\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Thaa}]$/u
const PICTURE = /^\p{Extended_Pictographic}$/u
/** What may stand between a picture and its joiner: the emoji presentation and a skin tone. */
const PICTURE_END = /^[\ufe0f\u{1f3fb}-\u{1f3ff}]$/u
const SELECTOR = /^[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]$/u
const FIRST_IDEOGRAPHIC = 0xe0100
/** The flags that are spelled in tag characters: England, Scotland, Wales (Unicode Technical Standard 51). */
const FLAG =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu

/** What hides in a name, in words for a person; undefined for a name that is what it looks like. */
export function hiddenIn(name: string): string | undefined {
  if (CONTROL.test(name)) return 'a control character'
  if (DIRECTION.test(name)) return 'a character that changes the reading direction'
  if (!INVISIBLE.test(name)) return undefined
  const characters = [...name.replace(FLAG, '\u{1f3f4}')]
  return characters
    .map((character, index) => hiddenAt(character, index, characters))
    .find((found) => found !== undefined)
}

/** Joiners and selectors mean something between the right neighbours and hide data everywhere else. */
function hiddenAt(character: string, index: number, characters: readonly string[]): string | undefined {
  if (!INVISIBLE.test(character)) return undefined
  const before = characters[index - 1] ?? ''
  if (character === '\u200c' || character === '\u200d') {
    const after = characters[index + 1] ?? ''
    const spelled = JOINING.test(before) && (character === '\u200d' || JOINING.test(after))
    return spelled || joinsPictures(characters, index) ? undefined : 'a zero-width joiner out of place'
  }
  if (SELECTOR.test(character)) return selects(before, character) ? undefined : 'a variation selector out of place'
  return 'an invisible character'
}

function joinsPictures(characters: readonly string[], index: number): boolean {
  const before = characters[index - 1] ?? ''
  const picture = PICTURE_END.test(before) ? (characters[index - 2] ?? '') : before
  return characters[index] === '\u200d' && PICTURE.test(picture) && PICTURE.test(characters[index + 1] ?? '')
}

/** One selector after one visible character; the ideographic ones only after an ideograph. */
const selects = (before: string, selector: string): boolean =>
  (selector.codePointAt(0) ?? 0) >= FIRST_IDEOGRAPHIC
    ? /^\p{sc=Han}$/u.test(before)
    : /^[\p{L}\p{N}\p{S}\p{P}]$/u.test(before)
