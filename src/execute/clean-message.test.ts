// What the message of a failure says to a model, and what stays with the operator.

import { describe, expect, it } from 'vitest'
import { cleanMessage } from './clean-message.ts'

const shown = { roots: ['/srv/project'], argumentsText: '{"path":"/etc/hosts","url":"https://example.test/a"}' }

describe('the message of a failure', () => {
  it.each([
    ['it broke\n    at run (/app/dist/tool.js:10:3)\n    at next (node:internal/x:1:1)', 'it broke'],
    [
      "ENOENT: no such file or directory, open '/app/data/db.sqlite'",
      "ENOENT: no such file or directory, open '[path]'",
    ],
    ['cannot read /root/.ssh/id_rsa', 'cannot read [path]'],
    ['cannot read C:\\Users\\ana\\key.pem', 'cannot read [path]'],
    ['see file:///opt/app/index.js:3:1', 'see [path]'],
    ['connect ECONNREFUSED 10.0.0.5:5432', '[connection error]'],
    ['getaddrinfo ENOTFOUND db.internal', '[connection error]'],
    ['the upstream at db.internal:5432 is gone', 'the upstream at [address] is gone'],
    ['fetch of http://10.1.2.3/admin failed', 'fetch of [address] failed'],
    ['failed: SELECT id, secret FROM users WHERE id = 3', 'failed: [statement]'],
    ['SQLITE_CONSTRAINT: UNIQUE constraint failed: users.email', '[database error]'],
    ['relation "tenants" does not exist', '[database error]'],
  ])('says less than %j', (message, expected) => {
    expect(cleanMessage(message, shown)).toEqual({ message: expected, isWhole: false })
  })

  it.each([
    'the file is not there',
    '`/etc/hosts` lies outside of the workspace',
    '`src/base/clock.ts` is not there; did you mean `src/base/clocks.ts`?',
    'cannot write `/srv/project/a/b.txt`: the disk is full',
    'https://example.test/a answered 404',
    'expected one of `select`, `update`; came `drop`',
    'either/or: read/write is not offered; use 3/4 of it, and/or less',
    'the table has 3 columns, and no column `b`',
    'at 12:30:05 it was too late',
    'git: `origin/main` is not an ancestor of `feature/x/y`',
  ])('stays %j', (message) => {
    expect(cleanMessage(message, shown)).toEqual({ message, isWhole: true })
  })

  it('takes a time linear in the message', () => {
    for (const unit of ['/a', 'SELECT ', 'a.', ' at /', 'E', 'relation "', '1.1.', 'a://'])
      expect(cleanMessage(unit.repeat(20_000), shown).message.length).toBeLessThan(100_000)
  })
})
