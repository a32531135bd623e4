// The names under which an upstream's tools are listed: `mcp__server__tool` within what every model takes. Nobody ever
// reads such a name apart; a call is routed by looking the whole name up.

import { sha256 } from '../../base/digest.ts'

/** What MCP 2026-07-28 lets a tool be called. */
const MCP_NAME = /^[A-Za-z0-9_.-]{1,128}$/
const LISTED_CHARS_MAX = 64
const DIGEST_CHARS = 8

/** Why a server's own tool name cannot be taken; undefined for one that can. */
export function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'its name is no text'
  if (!MCP_NAME.test(name)) return 'its name is not made of 1 to 128 letters, digits, `_`, `-` and `.`'
  // Every object has these; a reader that keeps tools in a plain object would find something that is no tool.
  if (name in Object.prototype || name === 'prototype') return 'its name is that of a part of every object'
  return undefined
}

/** The listed name: dots become `_`, and one that is too long ends in a digest of the whole, always the same. */
export function listedName(server: string, name: string): string {
  const whole = `mcp__${server}__${name.replaceAll('.', '_')}`
  if (whole.length <= LISTED_CHARS_MAX) return whole
  return `${whole.slice(0, LISTED_CHARS_MAX - DIGEST_CHARS - 1)}_${sha256(`${server}\n${name}`).slice(0, DIGEST_CHARS)}`
}

/** A name for the operator's list that stands for one that cannot be listed as it is. */
export function standInName(server: string, name: unknown, index: number): string {
  const text = typeof name === 'string' ? name : ''
  const safe = text.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 20)
  return listedName(
    server,
    `${safe === '' ? 'tool' : safe}_${sha256(JSON.stringify(name) ?? `${index}`).slice(0, DIGEST_CHARS)}`,
  )
}

/** A foreign name in a text for the operator: escaped, and not longer than a line. */
export function shownName(name: unknown): string {
  const text = JSON.stringify(name) ?? 'nothing'
  const escaped = text.replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
  return escaped.length > 120 ? `${escaped.slice(0, 117)}...` : escaped
}
