import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { VERSION } from './version.ts'

test('the version that is told to others is the one of the package', () => {
  const packaged: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(packaged).toMatchObject({ version: VERSION })
})
