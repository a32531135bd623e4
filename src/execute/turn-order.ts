// Takes what becomes known of the calls of one turn in the order in which the model wrote them, whatever ended first. What comes
// too early is held; it never makes a call wait.

export class TurnOrder<Answer> {
  readonly #held = new Map<number, () => Answer>()
  #next = 0

  /** Does `act` when all before it have been done; the answer is that of `act`, where it was done at once. */
  take(position: number, act: () => Answer): Answer | undefined {
    if (position > this.#next) {
      this.#held.set(position, act)
      return undefined
    }
    const answer = act()
    // One that is made anew, after a person's answer, has had its place.
    if (position < this.#next) return answer
    this.#next += 1
    this.#release()
    return answer
  }

  #release(): void {
    for (;;) {
      const act = this.#held.get(this.#next)
      if (act === undefined) return
      this.#held.delete(this.#next)
      this.#next += 1
      act()
    }
  }
}
