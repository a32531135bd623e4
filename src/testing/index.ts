// What tests of tools and of gates need, for this package and for its users. No part of it depends on a test runner.

export { FakeClock } from './fake-clock.ts'
export { type MisbehavingSwitches, misbehavingServer, serveMisbehaving } from './misbehaving-server.ts'
export { createRecordingStore, type RecordingStore, type WrittenRecord } from './recording-store.ts'
export { ScriptedSource, type ScriptedSourceOptions } from './scripted-source.ts'
