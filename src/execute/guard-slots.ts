// The order of the guards, outermost first. It is one list, so that it can be printed, and checked before anything runs.
// Each place has a reason: the deadline bounds everything that could wait; a twin is told before it queues; a lane is held
// over all tries; a kept answer needs no breaker; the breaker counts what came of all tries; a try has its own deadline; and
// nothing outside `settle` ever holds a raw result.

export const GUARD_SLOTS = [
  'deadline',
  'twin',
  'lane',
  'cache',
  'breaker',
  'tries',
  'own at call',
  'retry',
  'attempt',
  'own at try',
  'place',
  'settle',
] as const

export type GuardSlot = (typeof GUARD_SLOTS)[number]

export const slotRank = (slot: GuardSlot): number => GUARD_SLOTS.indexOf(slot)

/** Why a list of guards is not safe in this order; undefined where it is. */
export function orderProblem(slots: readonly GuardSlot[]): string | undefined {
  if (slots[0] !== 'deadline')
    return 'the deadline must be the outermost guard: whatever stands outside it could wait for ever'
  if (slots.at(-1) !== 'settle')
    return 'settle must be the innermost guard: whatever stands inside it holds a raw result'
  for (const [index, slot] of slots.entries()) {
    const before = index === 0 ? undefined : slots[index - 1]
    if (before !== undefined && slotRank(before) > slotRank(slot)) return `\`${slot}\` must stand outside \`${before}\``
  }
  return undefined
}
