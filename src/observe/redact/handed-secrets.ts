// Which of the settings that are handed to a server or a program are secrets: those whose name says so, and those that look made
// by chance. A folder, an address, a mode or a version is none, whatever it is called.

import type { SecretValue } from './exact-values.ts'
import { isPlaceholder } from './placeholder.ts'
import { SecretKeys } from './secret-keys.ts'

const RANDOM_MIN = 16
/** Bits for each character, of a text of this length: words and names have less. */
const ENTROPY_MIN = 3.2

/** `keys`: further names that say so. A value with a scheme, or a cookie, is one also without what stands around it. */
export function secretsIn(settings: readonly SecretValue[], keys: readonly string[] = []): readonly SecretValue[] {
  const known = new SecretKeys(keys)
  return settings.flatMap(({ name, value }): readonly SecretValue[] => {
    const parts = partsOf(value)
    if (known.nameOf(name) !== undefined)
      return parts.filter((part) => !isPlaceholder(part)).map((part) => ({ name, value: part }))
    return parts.filter(looksMade).map((part) => ({ name, value: part }))
  })
}

function partsOf(value: string): readonly string[] {
  const parts = new Set([value])
  const scheme = /^(Bearer|Basic|Token|ApiKey|Api-Key|Key|GenieKey|Digest) +(\S.*)$/i.exec(value)
  if (scheme?.[2] !== undefined) parts.add(scheme[2])
  if (scheme?.[1]?.toLowerCase() === 'basic') {
    const pair = Buffer.from(scheme[2] ?? '', 'base64').toString('utf8')
    const colon = pair.indexOf(':')
    if (colon > 0) parts.add(pair).add(pair.slice(colon + 1))
  }
  // `a=b; c=d`, and an address with a password or a secret parameter.
  for (const [, part] of value.matchAll(/=([^\s;&=]{16,})/g)) if (part !== undefined) parts.add(part)
  const inside = /:\/\/[^\s/:@]*:([^\s/@]+)@/.exec(value)?.[1]
  if (inside !== undefined) parts.add(inside)
  return [...parts]
}

function looksMade(text: string): boolean {
  if (text.length < RANDOM_MIN || text.length > 4_096 || !/^[A-Za-z0-9_+/=.~-]+$/.test(text)) return false
  if (/^[./~]|^[A-Za-z]:|\/.*\/|\.[a-z]{2,12}$/.test(text) || isPlaceholder(text)) return false
  return /\d/.test(text) && /[A-Za-z]/.test(text) && entropyOf(text) >= ENTROPY_MIN
}

function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}
