// What counts as a secret in a text or a value, and what looks like one and stays.

import { describe, expect, it } from 'vitest'
import { createRedactor } from './create-redactor.ts'

const redactor = createRedactor()
const text = (of: string): string => redactor.text(of).value

const A = (length: number): string => 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7'.repeat(12).slice(0, length)
const H = (length: number): string => '3f9a0c7e5b12d846'.repeat(8).slice(0, length)
const JWT = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbmEifQ.${A(43)}`
const PEM = ['-----BEGIN RSA PRIVATE KEY-----', A(64), A(64), `${A(30)}==`, '-----END RSA PRIVATE KEY-----'].join('\n')

const SECRETS: readonly (readonly [what: string, text: string, secret: string, name: string])[] = [
  ['GitHub', `see ghp_${A(36)} here`, `ghp_${A(36)}`, 'github-token'],
  ['GitHub, fine', `github_pat_${A(22)}_${A(59)}`, `github_pat_${A(22)}_${A(59)}`, 'github-token'],
  ['GitLab', `glpat-${A(20)}`, `glpat-${A(20)}`, 'gitlab-token'],
  ['AWS', 'id AKIAIOSFODNN7EXAMPLF, then', 'AKIAIOSFODNN7EXAMPLF', 'aws-access-key'],
  ['Anthropic', `sk-ant-api03-${A(90)}`, `sk-ant-api03-${A(90)}`, 'anthropic-key'],
  ['OpenAI', `sk-proj-${A(100)}`, `sk-proj-${A(100)}`, 'openai-key'],
  ['Slack', `xoxb-1234567890-${A(24)}`, `xoxb-1234567890-${A(24)}`, 'slack-token'],
  ['Google', `AIza${A(35)}`, `AIza${A(35)}`, 'google-api-key'],
  ['npm', `npm_${A(36)}`, `npm_${A(36)}`, 'npm-token'],
  ['PyPI', `pypi-AgEIcHlwaS5vcmc${A(100)}`, `pypi-AgEIcHlwaS5vcmc${A(100)}`, 'pypi-token'],
  ['Stripe', `sk_live_${A(24)}`, `sk_live_${A(24)}`, 'stripe-key'],
  ['Hugging Face', `hf_${A(34)}`, `hf_${A(34)}`, 'huggingface-token'],
  ['SendGrid', `SG.${A(22)}.${A(43)}`, `SG.${A(22)}.${A(43)}`, 'sendgrid-key'],
  ['a web token', `token is ${JWT}.`, JWT, 'jwt'],
  ['a private key', `x\n${PEM}\ny`, A(64), 'private-key'],
  ['a private key in JSON', JSON.stringify({ note: PEM }), A(64), 'private-key'],
  ['a private key without its end', PEM.slice(0, 120), A(64), 'private-key'],
  ['a password in an address', 'postgres://ana:tr0ub4dor@db:5432/x', 'tr0ub4dor', 'url-password'],
  ['a bearer', `curl -H "X: Bearer ${A(30)}"`, A(30), 'bearer-token'],
  ['a pair', `Basic ${Buffer.from('ana:tr0ub4dor').toString('base64')}`, 'YW5hOn', 'basic-auth'],
  ['a coloured one', `\u001b[32mghp_${A(36)}\u001b[0m`, `ghp_${A(36)}`, 'github-token'],
  ['one in a query', `?a=1%26t%3Dnpm_${A(36)}`, `npm_${A(36)}`, 'npm-token'],
  ['JSON', '{"a": 1, "password": "correct horse"}', 'correct horse', 'password'],
  ['JSON in JSON', JSON.stringify(JSON.stringify({ client_secret: 'correct horse' })), 'correct horse', 'secret'],
  ['a setting', 'DB_PASSWORD=hunter2\nX=1', 'hunter2', 'password'],
  ['a setting of letters', 'export API_TOKEN=correcthorse\n', 'correcthorse', 'token'],
  ['YAML', 'db:\n  password: hunter2\n', 'hunter2', 'password'],
  ['INI', 'password = hunter2\n', 'hunter2', 'password'],
  ['a program', "const apiKey = 'correct-horse-1'", 'correct-horse-1', 'api-key'],
  ['a query', 'GET /x?access_token=abc123def&y=1', 'abc123def', 'token'],
  ['a header', 'Authorization: Bearer abc123', 'abc123', 'authorization'],
  ['a header in a command', 'curl -H "X-Api-Key: abc123def" https://x', 'abc123def', 'api-key'],
  ['a cookie', 'Cookie: sid=abc123; theme=dark', 'sid=abc123; theme=dark', 'cookie'],
  ['a flag', 'login --password hunter2 --user ana', 'hunter2', 'password'],
  ['an element', '<password>correct horse</password>', 'correct horse', 'password'],
  ['one before a semicolon', 'export TOKEN=abc123def; make', 'abc123def', 'token'],
  ['one before a semicolon in quotes', 'TOKEN="abc123def"; make', 'abc123def', 'token'],
]

describe('a secret in a text', () => {
  it.each(SECRETS)('%s', (_what, of, secret, name) => {
    const { value, names } = redactor.text(of)
    expect(value).not.toContain(secret)
    expect(value).toContain(`[redacted:${name}]`)
    expect(names).toEqual([name])
    expect(redactor.text(value)).toEqual({ value, names: [] })
  })
})

describe('what says so beside it, at a distance or in one word', () => {
  const SECRET = 'q8Zr!mK2pLw9'
  it.each([
    ['a list of variables in JSON', `{"name":"API_TOKEN","value":"${SECRET}"}`],
    ['the same within JSON', `{\\"name\\":\\"API_TOKEN\\",\\"value\\":\\"${SECRET}\\"}`],
    ['a list of variables in YAML', `- name: DB_PASSWORD\n  value: ${SECRET}\n`],
    ['a setting in XML', `<add key="DbPassword" value="${SECRET}"/>`],
    ['a compound in capitals', `PGPASSWORD=${SECRET} psql`],
    ['a compound in small letters', `{"dbpassword":"${SECRET}"}`],
    ['the secret of a framework', `SECRET_KEY_BASE=${SECRET}`],
    ['a machine of .netrc', `machine git.test login someone password ${SECRET}`],
  ])('%s', (_what, of) => {
    expect(text(of)).not.toContain(SECRET)
  })

  it('a login of a Docker configuration, and none that is no pair', () => {
    const pair = Buffer.from(`someone:${SECRET}`).toString('base64')
    expect(text(`{"auths":{"registry.test":{"auth": "${pair}"}}}`)).toBe(
      '{"auths":{"registry.test":{"auth": "[redacted:basic-auth]"}}}',
    )
  })

  it('a bare value goes as far as 8,192 characters, and no name is read to the end of a longer word', () => {
    const word = 'a1'.repeat(4_096)
    expect(text(`API_TOKEN=${word}`)).toBe('API_TOKEN=[redacted:token]')
    expect(text(`API_TOKEN=${word}b`)).toBe(`API_TOKEN=${word}b`)
  })

  it('lines that a diff takes away and adds', () => {
    const key = `AKIA${'Q2W3'.repeat(4)}`
    expect(text(`@@ -1 +1 @@\n-${key}\n+${key}\n`)).not.toContain(key)
    expect(text(`a-${key}`)).toBe(`a-${key}`)
  })
})

const LOOKALIKES: readonly string[] = [
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'password: <redacted>, token: ${TOKEN}',
  `commit ${H(40)}`,
  'id 6f1ed002-ab5d-4c4b-9d3a-0e8f1b9d7c11',
  `integrity sha512-${A(86)}==`,
  `data:image/png;base64,iVBORw0KGgo${A(200)}`,
  'AKIAIOSFODNN7EXAMPLE',
  'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'token_count: 512, max_tokens=4096',
  '{"usage":{"input_tokens":120},"token_count":99}',
  'secretary: Ana Maria 42',
  'nextPageToken: CiAKGjBpNDd2Nmp2Zml2cXRwYjBpOXA',
  '"continuation_token": "abc123def456"',
  'interface User { password: string; token?: string }',
  'const token = await getToken(request)',
  'password = os.environ["DB_PASSWORD"]',
  'token = request.headers.authorization',
  'if (password == other1) return token1',
  'if (token === undefined) throw new Error()',
  'const { password, token } = options',
  'password: z.string().min(8)',
  '"password": "Enter your password"',
  '"password": "Password"',
  'fetch(url, { credentials: "include" })',
  'public_key: MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A',
  'primaryKey=a1b2c3d4',
  'password_hash: 5f4dcc3b5aa765d61d8327deb882cf99',
  'Authorization: required',
  'Bearer authentication is described below',
  'a basic understanding of things',
  'https://user@example.org/path',
  'https://docs.example.org:8443/a@b',
  'postgres://user:password@localhost/db',
  'postgres://user:${PASS}@localhost/db',
  "if (text.startsWith('-----BEGIN PRIVATE KEY-----')) return",
  '-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----',
  'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7',
  'npm_config_cache=/tmp/x',
  'sk-fading-circle sk-circle-fade-dot',
  'function a(e,t){return e.token=t.token,e.secret?n(e):{token:t,password:n}}',
  'var n={type:"password",name:"token",value:""}',
  'set the `password:` key',
  'has_password: true1234',
  'PASSWORD=',
  'PASSWORD=$OTHER',
  'API_KEY=your-api-key-here',
  'password: ********',
  'Usage: login --password PASSWORD',
  'TOKEN_URL=https://login.test/oauth2/token',
  '"dependencies": { "cookie": "^0.7.1", "pbkdf2-password": "1.2.1", "csrf-token": ">=2" }',
  '{"PWD":"/home/someone","OLDPWD":"/var/tmp"}',
  '"Authorization": "Bearer {token}"',
  'headers["authorization"] = "Basic " + encoded',
  'headers["Authorization"] = "Bearer %s" % token',
  'authorization: "https://login.test/authorize2"',
  '{"_meta":{"progressToken":"call-123"}}',
  '"Unexpected_token_1012": "Jeton inattendu."',
  'arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbCdEf',
  'RESET_PASSWORD = "reset_password"',
  'DB_CONNECTION_STRING: "db.connection_string",',
  'backend: "Backend", private_key: "_RSAPrivateKey", data: bytes',
  '{"name":"maxTokens","value":"4096 at most"}',
  '{"id":"API_TOKEN","value":"q8Zr9mK2pLw9"}',
  'resetpassword: https://login.test/2',
  '{"auth":"YWJjZGVmZ2hpamtsbW5vcA=="}',
  'the machine has a login page and a password field2',
]

describe('what looks like a secret and is none', () => {
  it.each(LOOKALIKES)('%s', (of) => {
    expect(text(of)).toBe(of)
  })
})
