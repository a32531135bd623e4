// Finds the keyword that an author meant by a misspelt one. Only the constraints count: a misspelt constraint would leave
// a door open, while a misspelt annotation harms nobody.

const CONSTRAINTS = (
  'type enum const required properties additionalProperties patternProperties propertyNames minProperties maxProperties items ' +
  'prefixItems contains minItems maxItems uniqueItems minLength maxLength pattern format minimum maximum exclusiveMinimum ' +
  'exclusiveMaximum multipleOf dependentRequired dependentSchemas unevaluatedProperties unevaluatedItems allOf anyOf oneOf not'
).split(' ')

/** The constraint that an unknown keyword is a slip of, e.g. `required` for `requierd`; undefined for words of their own. */
export function meantKeyword(keyword: string): string | undefined {
  if (keyword.length < 4 || keyword.length > 30 || keyword.startsWith('x-')) return undefined
  const lower = keyword.toLowerCase()
  return CONSTRAINTS.find((constraint) => {
    if (constraint.length < 4) return false
    const slips = constraint.length < 8 ? 1 : 2
    return lower === constraint.toLowerCase() || isWithin(lower, constraint.toLowerCase(), slips)
  })
}

/** True where at most `slips` letters were left out, added, changed or swapped with their neighbour. */
function isWithin(given: string, meant: string, slips: number): boolean {
  if (given === meant) return true
  if (slips === 0 || Math.abs(given.length - meant.length) > slips) return false
  let same = 0
  while (same < given.length && given[same] === meant[same]) same++
  const left = given.slice(same)
  const right = meant.slice(same)
  const isSwapped = left[0] === right[1] && left[1] === right[0] && left.length > 1 && right.length > 1
  return (
    isWithin(left.slice(1), right, slips - 1) ||
    isWithin(left, right.slice(1), slips - 1) ||
    isWithin(left.slice(1), right.slice(1), slips - 1) ||
    (isSwapped && isWithin(left.slice(2), right.slice(2), slips - 1))
  )
}
