import { describe, expect, it } from 'vitest'
import { formatDuration, formatSize, parseDurationMs, parseSizeBytes } from './units.ts'

describe('durations and sizes', () => {
  it('a text that is not exactly a number and a unit is nothing', () => {
    for (const text of [
      '',
      '5',
      's',
      '5 s',
      ' 5s',
      '5s ',
      '5S',
      '5sec',
      '1e3s',
      '-1s',
      '+1s',
      '0x10s',
      '.5s',
      '5.s',
      '1,5s',
      '٥s',
      '5s5s',
      'Infinitys',
    ]) {
      expect(parseDurationMs(text), text).toBeUndefined()
    }
    for (const text of ['', '5', 'KB', '5kb', '5 KB', '5K', '5GB', '-1B', '1e3B', '0x1B'])
      expect(parseSizeBytes(text), text).toBeUndefined()
  })

  it('a part of a millisecond or of a byte is nothing: it would have to be rounded', () => {
    expect(parseDurationMs('1.5ms')).toBeUndefined()
    expect(parseDurationMs('0.0001s')).toBeUndefined()
    expect(parseSizeBytes('0.5B')).toBeUndefined()
    expect(parseSizeBytes('0.3KB')).toBeUndefined()
  })

  it('units have their values; a kilobyte is 1,024 bytes', () => {
    expect(['500ms', '45s', '5m', '1h', '7d', '1.5h', '0ms'].map(parseDurationMs)).toEqual([
      500, 45_000, 300_000, 3_600_000, 604_800_000, 5_400_000, 0,
    ])
    expect(['900B', '48KB', '48KiB', '1MB', '1MiB', '1.5KB'].map(parseSizeBytes)).toEqual([
      900, 49_152, 49_152, 1_048_576, 1_048_576, 1_536,
    ])
  })

  it('what is shown reads back as the same', () => {
    for (const amount of [1, 999, 1_000, 60_000, 90_000, 86_400_000])
      expect(parseDurationMs(formatDuration(amount))).toBe(amount)
    for (const bytes of [2, 512, 49_152, 1_048_576, 67_108_864]) expect(parseSizeBytes(formatSize(bytes))).toBe(bytes)
  })
})
