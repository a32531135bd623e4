// Splits a stream of bytes into lines without ever holding more than one line of a bounded length. It repairs nothing:
// a line over the bound is thrown away up to its end, and of it only the first and last bytes are told.

/** Bytes of either end of a line that was too long, enough to see whose answer it was. */
const EDGE_BYTES = 256
const NEWLINE = 0x0a

export type OversizedLine = { readonly head: string; readonly tail: string; readonly bytes: number }

export type CappedLinesOptions = {
  /** Bytes of one line, without its newline. */
  readonly lineBytesMax: number
  /** Bytes of an oversized line that are read and thrown away before the stream counts as endless. */
  readonly discardBytesMax: number
  readonly onLine: (line: Buffer) => void
  readonly onOversized: (line: OversizedLine) => void
  /** Called once; nothing that is pushed after it is looked at. */
  readonly onEndless: () => void
}

export class CappedLines {
  readonly #options: CappedLinesOptions
  #parts: Buffer[] = []
  #bytes = 0
  #dropping: { head: Buffer; tail: Buffer } | undefined
  #ended = false

  constructor(options: CappedLinesOptions) {
    this.#options = options
  }

  push(chunk: Buffer): void {
    let start = 0
    while (!this.#ended && start < chunk.length) {
      const end = chunk.indexOf(NEWLINE, start)
      this.#take(chunk.subarray(start, end < 0 ? chunk.length : end))
      if (end < 0) return
      this.#finish()
      start = end + 1
    }
  }

  #take(part: Buffer): void {
    this.#bytes += part.length
    const { lineBytesMax, discardBytesMax, onEndless } = this.#options
    if (this.#dropping !== undefined) {
      this.#dropping.tail = Buffer.concat([this.#dropping.tail, part.subarray(-EDGE_BYTES)]).subarray(-EDGE_BYTES)
    } else if (this.#bytes > lineBytesMax) {
      const all = Buffer.concat([...this.#parts, part])
      this.#dropping = { head: Buffer.from(all.subarray(0, EDGE_BYTES)), tail: Buffer.from(all.subarray(-EDGE_BYTES)) }
      this.#parts = []
    } else this.#parts.push(part)
    if (this.#bytes <= lineBytesMax + discardBytesMax) return
    this.#ended = true
    onEndless()
  }

  #finish(): void {
    if (this.#ended) return
    const { onLine, onOversized } = this.#options
    const [bytes, parts, dropped] = [this.#bytes, this.#parts, this.#dropping]
    this.#bytes = 0
    this.#parts = []
    this.#dropping = undefined
    if (dropped !== undefined) {
      onOversized({ head: dropped.head.toString('latin1'), tail: dropped.tail.toString('latin1'), bytes })
      return
    }
    const [only] = parts
    const line = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
    onLine(line.at(-1) === 0x0d ? line.subarray(0, -1) : line)
  }
}
