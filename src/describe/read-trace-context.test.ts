import { describe, expect, test } from 'vitest'
import { readTraceContext } from './read-trace-context.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`

describe('a trace context from outside', () => {
  test('is taken as it is where it holds, with its state', () => {
    expect(readTraceContext(PARENT, 'congo=t61rcWkgMzE, rojo=00f067aa0ba902b7')).toEqual({
      traceparent: PARENT,
      tracestate: 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7',
    })
    expect(readTraceContext(PARENT)).toEqual({ traceparent: PARENT })
  })

  test.each([
    ['no text', 7],
    ['nothing', ''],
    ['a trace of zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
    ['a parent of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['the forbidden version', `ff-${TRACE}-b7ad6b7169203331-01`],
    ['capital letters', PARENT.toUpperCase()],
    ['more than version 00 has', `${PARENT}-more`],
    ['a line break in it', `${PARENT}\r\nx-evil: 1`],
    ['too much', `01-${TRACE}-b7ad6b7169203331-01-${'x'.repeat(300)}`],
  ])('%s is none', (_, given) => {
    expect(readTraceContext(given)).toBeUndefined()
  })

  test('of a later version only what version 00 knows of is handed on', () => {
    expect(readTraceContext(`cc-${TRACE}-b7ad6b7169203331-ff-what-comes`)).toEqual({ traceparent: PARENT })
  })

  test.each([['no members'], ['k=v\nx: y'], ['=v'], ['k='], [`k=${'v'.repeat(600)}`], [7]])(
    'a state that does not hold is left out alone: %j',
    (state) => {
      expect(readTraceContext(PARENT, state)).toEqual({ traceparent: PARENT })
    },
  )
})
