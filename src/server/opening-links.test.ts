import { describe, expect, test } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { COOKIE, OpeningLinks, setCookie } from './opening-links.ts'

describe('links that open the page', () => {
  test('a link is good once', () => {
    const links = new OpeningLinks(new FakeClock())
    const secret = links.make()
    const cookie = links.redeem(secret)
    expect(links.redeem(secret)).toBeUndefined()
    expect(links.admits(`${COOKIE}=${cookie}`)).toBe(true)
  })

  test('a link ends after ten minutes, a cookie after twelve hours', async () => {
    const clock = new FakeClock()
    const links = new OpeningLinks(clock)
    const late = links.make()
    const cookie = links.redeem(links.make())
    await clock.advance(600_000)
    expect(links.redeem(late)).toBeUndefined()
    expect(links.admits(`${COOKIE}=${cookie}`)).toBe(true)
    await clock.advance(12 * 3_600_000)
    expect(links.admits(`${COOKIE}=${cookie}`)).toBe(false)
  })

  test('the secret of a link is no cookie, and a cookie opens no link', () => {
    const links = new OpeningLinks(new FakeClock())
    const secret = links.make()
    expect(links.admits(`${COOKIE}=${secret}`)).toBe(false)
    const cookie = links.redeem(secret) ?? ''
    expect(links.redeem(cookie)).toBeUndefined()
  })

  test.each([undefined, '', 'x=y', `${COOKIE}=`, `${COOKIE}`, `other_${COOKIE}=x`])(
    'the cookies %j open nothing',
    (header) => {
      expect(new OpeningLinks(new FakeClock()).admits(header)).toBe(false)
    },
  )

  test('ours is found among others, and no script and no other site gets it', () => {
    const links = new OpeningLinks(new FakeClock())
    const cookie = links.redeem(links.make()) ?? ''
    expect(links.admits(`a=b; ${COOKIE}=wrong; ${COOKIE}=${cookie}; c=d`)).toBe(true)
    expect(setCookie(cookie)).toContain('HttpOnly; SameSite=Strict')
  })

  test('links that nobody uses do not pile up', () => {
    const links = new OpeningLinks(new FakeClock())
    const first = links.make()
    for (let time = 0; time < 100; time++) links.make()
    expect(links.redeem(first)).toBeUndefined()
  })
})
