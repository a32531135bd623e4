import { expect, test } from 'vitest'
import { tokenWarnings } from './token-warnings.ts'

const row = (caller: object) => ({ name: 'n', caller })

test('a step that the configuration does not have is told, and one that it has is not', () => {
  const steps = { analyse: {} }
  expect(tokenWarnings(row({ step: 'publish' }), { steps })).toEqual([expect.stringContaining('`publish`')])
  expect(tokenWarnings(row({ step: 'constructor' }), { steps })).toHaveLength(1)
  expect(tokenWarnings(row({ step: 'analyse' }), { steps })).toEqual([])
})

test('a task that allows no list and that no rule can speak of is told', () => {
  expect(tokenWarnings(row({ task: { name: 't' } }), {})).toEqual([expect.stringContaining('`t`')])
  expect(tokenWarnings(row({ task: { name: 't', allow: [] } }), {})).toEqual([])
  expect(tokenWarnings(row({ task: { name: 't' } }), { rules: [{ deny: 'x', for: { task: 't*' } }] })).toEqual([])
  expect(tokenWarnings(row({}), {})).toEqual([])
})
