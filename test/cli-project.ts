// A folder with a configuration, a workspace and a state folder, for tests of the command line; removed afterwards.

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Run, type RunOptions, runLockgate } from './run-lockgate.ts'

export class CliProject {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'lockgate-cli-')))
  readonly variables: Readonly<Record<string, string>> = {
    HOME: join(this.folder, 'home'),
    LOCKGATE_STATE: join(this.folder, 'state'),
  }

  constructor(config: string) {
    mkdirSync(join(this.folder, 'home'))
    this.write('ws/hello.txt', 'hello from the workspace\n')
    this.write('outside/secret.txt', 'secret\n')
    this.write('lockgate.yaml', config)
  }

  /** Runs `lockgate --config lockgate.yaml …`. */
  run(argv: readonly string[], options: Partial<RunOptions> = {}): Promise<Run> {
    return this.bare(['--config', 'lockgate.yaml', ...argv], options)
  }

  /** Runs `lockgate …`, with a configuration that is only found. */
  bare(argv: readonly string[], options: Partial<RunOptions> = {}): Promise<Run> {
    return runLockgate(argv, { cwd: this.folder, variables: this.variables, ...options })
  }

  /** The one JSON value that a command prints with `--json`; anything else on stdout throws. */
  async json(
    argv: readonly string[],
    options: Partial<RunOptions> = {},
  ): Promise<{ readonly code: number; readonly value: unknown; readonly stderr: string }> {
    const { code, stdout, stderr } = await this.run([...argv, '--json'], options)
    return { code, value: JSON.parse(stdout) as unknown, stderr }
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true })
    writeFileSync(this.path(name), text)
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8')
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
