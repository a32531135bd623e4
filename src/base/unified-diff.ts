// The difference of two texts as a unified diff, by lines: what a person sees of a change. It finds a shortest one (Myers) within
// bounds of work; past them what differs is shown as taken out and put in as a whole, which is longer and no less true.

const CONTEXT_LINES = 3
/** Edits that are looked for; the work grows with their square. */
const EDITS_MAX = 400
const LINES_MAX = 20_000

type Line = { readonly mark: ' ' | '-' | '+'; readonly text: string }

/** Hunks with three lines around each change; empty for equal texts. */
export function unifiedDiff(before: string, after: string): string {
  if (before === after) return ''
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1
  let end = 0
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end += 1
  const from = Math.max(0, start - CONTEXT_LINES)
  const around = Math.max(0, end - CONTEXT_LINES)
  const kept = (lines: readonly string[]): readonly Line[] => lines.map((text) => ({ mark: ' ', text }))
  const lines = [
    ...kept(old.slice(from, start)),
    ...changed(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...kept(old.slice(old.length - end, old.length - around)),
  ]
  return hunks(lines, from).join('\n')
}

/** A line holds its line feed, so that a last one without it is another line. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

function changed(old: readonly string[], now: readonly string[]): readonly Line[] {
  const whole = (): readonly Line[] => [
    ...old.map((text): Line => ({ mark: '-', text })),
    ...now.map((text): Line => ({ mark: '+', text })),
  ]
  if (old.length === 0 || now.length === 0 || old.length + now.length > LINES_MAX) return whole()
  return shortest(old, now) ?? whole()
}

/** E. W. Myers, An O(ND) Difference Algorithm and Its Variations (1986). Undefined where it takes too many edits. */
function shortest(old: readonly string[], now: readonly string[]): readonly Line[] | undefined {
  const reached = new Map<number, number>([[1, 0]])
  const steps: Map<number, number>[] = []
  for (let edits = 0; edits <= EDITS_MAX; edits += 1) {
    steps.push(new Map(reached))
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = goesDown(reached, diagonal, edits) ? at(reached, diagonal + 1) : at(reached, diagonal - 1) + 1
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x += 1
      reached.set(diagonal, x)
      if (x >= old.length && x - diagonal >= now.length) return walkBack(old, now, steps)
    }
  }
  return undefined
}

const at = (reached: ReadonlyMap<number, number>, diagonal: number): number => reached.get(diagonal) ?? -1

const goesDown = (reached: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean =>
  diagonal === -edits || (diagonal !== edits && at(reached, diagonal - 1) < at(reached, diagonal + 1))

function walkBack(
  old: readonly string[],
  now: readonly string[],
  steps: readonly ReadonlyMap<number, number>[],
): readonly Line[] {
  const lines: Line[] = []
  let [x, y] = [old.length, now.length]
  for (let edits = steps.length - 1; edits >= 0; edits -= 1) {
    const reached = steps[edits] ?? new Map<number, number>()
    const diagonal = x - y
    const isDown = goesDown(reached, diagonal, edits)
    const before = isDown ? diagonal + 1 : diagonal - 1
    const fromX = edits === 0 ? 0 : at(reached, before)
    const fromY = edits === 0 ? 0 : fromX - before
    while (x > fromX && y > fromY) {
      lines.push({ mark: ' ', text: old[x - 1] ?? '' })
      x -= 1
      y -= 1
    }
    if (edits === 0) break
    lines.push(isDown ? { mark: '+', text: now[y - 1] ?? '' } : { mark: '-', text: old[x - 1] ?? '' })
    x = fromX
    y = fromY
  }
  return lines.reverse()
}

/** `from`: how many lines there are before the first of these. */
function hunks(lines: readonly Line[], from: number): readonly string[] {
  const texts: string[] = []
  let [oldAt, nowAt] = [from, from]
  let index = 0
  while (index < lines.length) {
    const first = lines.findIndex(({ mark }, place) => place >= index && mark !== ' ')
    if (first < 0) break
    const begin = Math.max(index, first - CONTEXT_LINES)
    oldAt += begin - index
    nowAt += begin - index
    const end = hunkEnd(lines, first)
    const hunk = lines.slice(begin, end)
    const olds = hunk.filter(({ mark }) => mark !== '+').length
    const nows = hunk.filter(({ mark }) => mark !== '-').length
    texts.push(`@@ -${range(oldAt, olds)} +${range(nowAt, nows)} @@`, ...hunk.map(lineText))
    oldAt += olds
    nowAt += nows
    index = end
  }
  return texts
}

/** Changes that share their lines around them stand in one hunk. */
function hunkEnd(lines: readonly Line[], first: number): number {
  let last = first
  for (let place = first; place < lines.length && place - last <= 2 * CONTEXT_LINES; place += 1)
    if (lines[place]?.mark !== ' ') last = place
  return Math.min(lines.length, last + 1 + CONTEXT_LINES)
}

const range = (before: number, count: number): string =>
  count === 1 ? `${before + 1}` : `${count === 0 ? before : before + 1},${count}`

const lineText = ({ mark, text }: Line): string =>
  text.endsWith('\n') ? `${mark}${text.slice(0, -1)}` : `${mark}${text}\n\\ No newline at end of file`
