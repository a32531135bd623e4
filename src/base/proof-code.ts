// One-time codes that a person reads from one screen and types on another. Only a digest is kept of a code, bound to the
// question that it belongs to, and two digests are compared in constant time.

import { randomInt, timingSafeEqual } from 'node:crypto'
import { sha256 } from './digest.ts'

/** No letter or digit that passes for another one, and no vowel that could make a word. */
const ALPHABET = '23456789BCDFGHJKMNPQRSTVWXZ'
const GROUPS = 2
const GROUP_CHARACTERS = 4

/** Eight characters in two groups, `K7QM-2WXB`: one of 2.8 · 10^11. */
export function makeProofCode(): string {
  const character = (): string => ALPHABET.charAt(randomInt(ALPHABET.length))
  const group = (): string => Array.from({ length: GROUP_CHARACTERS }, character).join('')
  return Array.from({ length: GROUPS }, group).join('-')
}

/** SHA-256 (hex) over the question and the code. Small letters, blanks and dashes are what a person types for the same code. */
export const proofDigest = (question: string, code: string): string =>
  sha256(JSON.stringify(['lockgate-proof-1', question, code.toUpperCase().replaceAll(/[\s-]/g, '')]))

/** Whether a code is the one that belongs to a digest. */
export function isProof(question: string, code: string, digest: string): boolean {
  const given = Buffer.from(proofDigest(question, code), 'utf8')
  const kept = Buffer.from(digest, 'utf8')
  return given.length === kept.length && timingSafeEqual(given, kept)
}
