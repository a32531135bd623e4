import { describe, expect, test } from 'vitest'
import { readBearer, refuseCaller, refuseScope } from './bearer.ts'
import type { TokenRow } from './token-rows.ts'

const row = (scopes: TokenRow['scopes']): TokenRow => ({
  id: 'tok_0000000000000000',
  name: 'n',
  scopes,
  hash: '',
  createdAt: 0,
})

describe('bearer tokens', () => {
  test.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'lg_x',
    'Basic lg_x',
    'Bearer a b',
    'Bearer lg_x, Bearer lg_y',
    'Bearer\tlg_x',
    'Bearer "lg_x"',
    'Bearerlg_x',
    'x Bearer lg_x',
  ])('`%s` is no token', (header) => {
    expect(readBearer(header)).toBeUndefined()
  })

  test.each(['Bearer lg_a-b_C', 'bearer lg_a-b_C', 'BEARER   lg_a-b_C'])(
    '`%s` is one: the scheme has no case',
    (header) => {
      expect(readBearer(header)).toBe('lg_a-b_C')
    },
  )

  test('a credential that can call answers nothing, whatever else it has', async () => {
    for (const scopes of [['call'], ['call', 'approve'], ['call', 'approve', 'audit', 'admin']] as const) {
      const refused = refuseCaller(row(scopes))
      expect(refused?.status).toBe(403)
      expect(await refused?.json()).toMatchObject({ errorType: 'permission_denied', conflictingScope: 'call' })
    }
    for (const scopes of [['approve'], ['approve', 'audit', 'admin']] as const)
      expect(refuseCaller(row(scopes))).toBeUndefined()
  })

  test('a missing scope is named, in the document and in the header', async () => {
    const refused = refuseScope(row(['call']), ['admin'])
    expect(refused?.status).toBe(403)
    expect(refused?.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="admin"')
    expect(await refused?.json()).toMatchObject({ errorType: 'permission_denied', missingScope: 'admin', status: 403 })
  })

  test('one of the scopes is enough, and no scope is not', () => {
    expect(refuseScope(row(['admin']), ['call', 'admin'])).toBeUndefined()
    expect(refuseScope(row([]), ['call'])?.status).toBe(403)
  })
})
