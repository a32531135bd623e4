import { describe, expect, test } from 'vitest'
import { createGate } from '../gate.ts'
import { ScriptedSource } from '../testing/scripted-source.ts'
import { closedPage, escapeHtml, openPage, PAGE_POLICY } from './start-page.ts'

describe('the page', () => {
  test('whoever has no link learns nothing but that a gate runs', () => {
    expect(closedPage()).toContain('A Lockgate gate runs here')
    expect(closedPage()).not.toContain('Sources')
  })

  test('what a source says is escaped, and no script can run', async () => {
    const source = new ScriptedSource({ name: 'hostile' })
    const gate = await createGate({ sources: [source] })
    await gate.settled()
    source.offer([], [{ kind: 'problem', name: 'bad', problem: '<img src=x onerror="alert(1)">' }])
    const page = openPage(gate, 'http://127.0.0.1:1/mcp')
    await gate.close()
    expect(page).not.toContain('<img')
    expect(page).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;')
    expect(page).toContain('hostile')
    expect(page).not.toContain('<script')
    expect(PAGE_POLICY).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; /)
  })

  test('every character that means something in HTML is escaped', () => {
    expect(escapeHtml(`<a href="x">'&`)).toBe('&lt;a href=&quot;x&quot;&gt;&#39;&amp;')
  })
})
