// Adds members to the JSON text of an object without reading it. Nothing is checked: whoever asks has made both texts.

/** `members`: such as `"a":1,"b":2`; they come last. */
export function withMembers(objectText: string, members: string): string {
  if (members === '') return objectText
  const before = objectText.slice(0, objectText.lastIndexOf('}')).trimEnd()
  return `${before}${before.endsWith('{') ? '' : ','}${members}}`
}
