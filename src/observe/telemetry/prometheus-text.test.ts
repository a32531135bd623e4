import { expect, test } from 'vitest'
import { prometheusText } from './prometheus-text.ts'

test('counters, gauges and histograms come in the text format, cumulative and escaped', () => {
  const text = prometheusText([
    {
      ...{ name: 'a_total', help: 'of\nlines \\', type: 'counter' },
      samples: [{ labels: { tool: 'a "b"\\\n' }, value: 3 }, { value: 0.5 }],
    },
    { name: 'b', help: 'nothing', type: 'gauge', samples: [] },
    {
      ...{ name: 'c_seconds', help: 'times', type: 'histogram' },
      samples: [{ labels: { stage: 'x' }, bounds: [0.1, 1], counts: [2, 0, 1], sum: 7.25 }],
    },
  ])
  expect(text).toBe(
    [
      '# HELP a_total of\\nlines \\\\',
      '# TYPE a_total counter',
      'a_total{tool="a \\"b\\"\\\\\\n"} 3',
      'a_total 0.5',
      '# HELP c_seconds times',
      '# TYPE c_seconds histogram',
      'c_seconds_bucket{stage="x",le="0.1"} 2',
      'c_seconds_bucket{stage="x",le="1"} 2',
      'c_seconds_bucket{stage="x",le="+Inf"} 3',
      'c_seconds_sum{stage="x"} 7.25',
      'c_seconds_count{stage="x"} 3',
      '',
    ].join('\n'),
  )
})
