import type { RunCommand } from './command.ts'
export const serveCommand: RunCommand = async () => 1
