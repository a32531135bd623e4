// What looks into kept contents inside a worker thread, as the text of a module: a text needs no file of its own, neither in
// the sources nor in the package. It gets the content, what is asked of it and the address of the library that it needs, and
// answers as `artifact-query.ts` says.

export const QUERY_CODE = `
const bad = (code, why) => ({ kind: 'bad', code, why })
const said = (error) => String(error instanceof Error ? error.message : error).slice(0, 300)
const bytesOf = (text) => Buffer.byteLength(text)

export async function answer(ask, context) {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(ask.content)
  const library = ask.library === undefined ? undefined : await import(ask.library)
  return ask.kind === 'lines' ? linesOf(text, ask, library, context) : rowsOf(text, ask, library)
}

function rowsOf(text, ask, library) {
  let value
  try {
    value = JSON.parse(text)
  } catch {
    return bad('no_rows', 'it is no JSON; read it by lines')
  }
  if (ask.expression !== undefined) {
    try {
      const { search } = library.default ?? library
      value = search(value, ask.expression, { enable_legacy_literals: true }) ?? null
    } catch (error) {
      return bad('query_invalid', 'the query does not hold: ' + said(error))
    }
  }
  const list = listOf(value, ask.expression === undefined)
  if (list !== undefined && ask.listed) return page(list, ask)
  if (ask.expression === undefined) return bad('no_rows', 'it holds no list of rows; read it by bytes or lines, or with a query')
  const answer = JSON.stringify(value) ?? 'null'
  if (answer.length > ask.answerCharsMax)
    return bad('query_too_much', 'the answer has over ' + ask.answerCharsMax + ' characters; ask for less')
  return { kind: 'text', text: answer }
}

const listOf = (value, alsoInside) => {
  if (Array.isArray(value)) return value
  const inside = alsoInside && typeof value === 'object' && value !== null && Object.hasOwn(value, 'rows')
  return inside && Array.isArray(value.rows) ? value.rows : undefined
}

function page(list, { from: asked, count, bytesMax }) {
  const from = Math.min(asked, list.length)
  const rows = []
  let bytes = 0
  for (let at = from; at < list.length && rows.length < count; at++) {
    const row = JSON.stringify(list[at]) ?? 'null'
    const more = bytesOf(row) + 1
    if (bytes + more > bytesMax) {
      if (rows.length === 0) return { kind: 'large', row: at, bytes: more - 1 }
      break
    }
    bytes += more
    rows.push(row)
  }
  return { kind: 'rows', from, to: from + rows.length, total: list.length, rows }
}

function linesOf(text, ask, library, context) {
  const { RE2JS } = library.RE2JS === undefined ? library.default : library
  let pattern
  try {
    pattern = RE2JS.compile(ask.expression)
  } catch (error) {
    return bad('query_invalid', 'the pattern does not hold: ' + said(error))
  }
  const all = text.split('\\n')
  if (all.at(-1) === '') all.pop()
  const from = Math.min(ask.from, all.length)
  const lines = []
  let bytes = 0
  let at = from
  // What is found in the time that there is; the reader goes on where this ends.
  for (; at < all.length && lines.length < ask.count; at++) {
    if (at > from && context.leftMs() < 1000) break
    const line = all[at]
    if (!pattern.matcher(line).find()) continue
    const whole = bytesOf(line)
    const isCut = whole > ask.lineBytesMax
    const more = isCut ? ask.lineBytesMax + 80 : whole + 24
    if (bytes + more > ask.bytesMax && lines.length > 0) break
    bytes += more
    lines.push({ line: at, text: line.slice(0, ask.lineBytesMax + 64), ...(isCut ? { cutFromBytes: whole } : {}) })
  }
  return { kind: 'lines', from, to: at, total: all.length, lines }
}
`
