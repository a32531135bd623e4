// Well-known credentials by their form, as their issuers document it: a prefix that occurs nowhere else, and after it so many
// characters of an alphabet. Rules whose form also fits harmless texts are here and off.

export type ShapeRule = {
  /** As markers and options call it. */
  readonly name: string
  /** On where nothing is said. */
  readonly isOn: boolean
  /** One of these texts begins each of its secrets: only there the pattern is tried. */
  readonly anchors: readonly string[]
  /** Sticky. Its first group, or else the whole, is the secret. Each of its repetitions is bounded. */
  readonly pattern: RegExp
  /** The prefix may stand in the middle of a word. */
  readonly anywhere?: true
  /** What has the form and is no secret. */
  readonly keeps?: (secret: string) => boolean
}

const rule = (name: string, anchors: string, source: string, more: Partial<ShapeRule> = {}): ShapeRule => ({
  ...{ name, isOn: true, anchors: anchors.split(' '), pattern: new RegExp(source, 'dy') },
  ...more,
})
const off = { isOn: false } as const
const anywhere = { anywhere: true } as const

const hasNoDigit = (secret: string): boolean => !/\d/.test(secret)
const isNoPair = (secret: string): boolean =>
  !/^[^\s:]{1,256}:[\x20-\x7e]{3,}$/.test(Buffer.from(secret, 'base64').toString())
const isWord = (secret: string): boolean =>
  /^(?:pass(?:word|wd)?|pwd|pw|secret|token|key|user(?:name)?|x+)$/i.test(secret) || /^\d{1,5}$/.test(secret)
const isNoKey = (secret: string): boolean => !/[A-Za-z0-9+/=]{24,}/.test(secret)

const PEM = '-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----'
const PEM_END = '-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----'

export const SHAPE_RULES: readonly ShapeRule[] = [
  rule('github-token', 'ghp_ gho_ ghu_ ghs_ ghr_', 'gh[pousr]_[A-Za-z0-9]{36,255}', anywhere),
  rule('github-token', 'github_pat_', 'github_pat_[A-Za-z0-9_]{40,255}', anywhere),
  rule(
    'gitlab-token',
    'glpat- gldt- glrt- glptt- glcbt- glsoat- glagent-',
    'gl[a-z]{2,5}-[A-Za-z0-9_-]{20,255}(?:\\.[a-z0-9.]{2,64})?',
    anywhere,
  ),
  rule('aws-access-key', 'AKIA ASIA ABIA ACCA', 'A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![A-Za-z0-9])'),
  rule('anthropic-key', 'sk-ant-', 'sk-ant-[A-Za-z0-9]{2,16}-[A-Za-z0-9_-]{20,255}'),
  rule('openai-key', 'sk-proj- sk-svcacct- sk-admin-', 'sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{32,255}', {
    keeps: hasNoDigit,
  }),
  rule('openai-key', 'sk-', 'sk-(?:[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48})(?![A-Za-z0-9_-])', {
    keeps: hasNoDigit,
  }),
  rule(
    'slack-token',
    'xoxb- xoxp- xoxa- xoxe- xoxr- xoxs- xoxc- xoxd- xoxe. xapp-',
    '(?:xox[a-z][-.]|xapp-)[A-Za-z0-9.%-]{16,255}',
    { keeps: hasNoDigit },
  ),
  rule(
    'slack-webhook',
    'hooks.slack.com/',
    'hooks\\.slack\\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,255})',
    anywhere,
  ),
  rule('google-api-key', 'AIza', 'AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])'),
  rule('google-oauth', 'GOCSPX- ya29.', '(?:GOCSPX-[A-Za-z0-9_-]{28}|ya29\\.[A-Za-z0-9_-]{30,2048})'),
  rule('npm-token', 'npm_', 'npm_[A-Za-z0-9]{36}(?![A-Za-z0-9_])'),
  rule('pypi-token', 'pypi-AgE', 'pypi-AgE[A-Za-z0-9_-]{50,1024}'),
  rule('stripe-key', 'sk_live_ sk_test_ rk_live_ rk_test_', '[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}'),
  rule('huggingface-token', 'hf_', 'hf_[A-Za-z0-9]{34,64}(?![A-Za-z0-9_])'),
  rule('sendgrid-key', 'SG.', 'SG\\.[A-Za-z0-9_-]{20,24}\\.[A-Za-z0-9_-]{39,50}'),
  rule('digitalocean-token', 'dop_v1_ doo_v1_ dor_v1_', 'do[opr]_v1_[a-f0-9]{64}', anywhere),
  rule('vault-token', 'hvs. hvb. hvr.', 'hv[sbr]\\.[A-Za-z0-9_-]{24,1024}'),
  rule(
    'jwt',
    'eyJ',
    'eyJ[A-Za-z0-9_-]{8,8192}\\.(?:eyJ[A-Za-z0-9_-]{8,16384}\\.[A-Za-z0-9_-]{0,2048}|[A-Za-z0-9_-]{0,2048}(?:\\.[A-Za-z0-9_-]{8,16384}){3})',
  ),
  rule('private-key', '-----BEGIN', `${PEM}(?:(?!-----BEGIN)[^]){0,16384}?${PEM_END}`, { ...anywhere, keeps: isNoKey }),
  // One whose end is missing: all lines that go on with it.
  rule(
    'private-key',
    '-----BEGIN',
    `${PEM}(?:[A-Za-z-]{1,32}: [^\\r\\n]{0,256}|[A-Za-z0-9+/=]{1,512}|[\\r\\n\\t ]|\\\\[nrt]){1,2048}`,
    { ...anywhere, keeps: isNoKey },
  ),
  rule('url-password', '://', '://[^\\s/?#:@"\'<>\\\\]{0,128}:([^\\s/?#"\'<>@\\\\]{1,256})@(?=[A-Za-z0-9_[])', {
    ...anywhere,
    keeps: isWord,
  }),
  rule(
    'bearer-token',
    'Bearer bearer BEARER',
    '[Bb](?:earer|EARER)(?: {1,8}|%20|\\+)([A-Za-z0-9._~+/-]{16,8192}={0,2})',
    { keeps: hasNoDigit },
  ),
  rule('basic-auth', 'Basic basic', '[Bb]asic {1,8}([A-Za-z0-9+/]{8,4096}={0,2})', { keeps: isNoPair }),
  // Of a Docker configuration.
  rule('basic-auth', 'auth" auth\\"', 'auth\\\\?" {0,4}: {0,4}\\\\?"([A-Za-z0-9+/]{8,4096}={0,2})(?=\\\\?")', {
    keeps: isNoPair,
  }),
  rule(
    'netrc-password',
    'machine',
    'machine[ \\t]{1,8}\\S{1,256}[ \\t]{1,8}login[ \\t]{1,8}\\S{1,128}[ \\t]{1,8}password[ \\t]{1,8}(\\S{4,256})',
  ),
  rule('shopify-token', 'shpat_ shpca_ shppa_ shpss_', 'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}', off),
  rule('docker-token', 'dckr_pat_ dckr_oat_', 'dckr_[po]at_[A-Za-z0-9_-]{20,64}', off),
  rule('age-key', 'AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-1[A-Z0-9]{58}', off),
  rule('databricks-token', 'dapi', 'dapi[a-f0-9]{32}(?:-\\d)?(?![A-Za-z0-9])', off),
  rule('telegram-token', ':AA', ':(AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])', { ...off, ...anywhere }),
  rule(
    'discord-webhook',
    'discord.com/api/webhooks/ discordapp.com/api/webhooks/',
    'discord(?:app)?\\.com/api/webhooks/\\d{1,32}/([A-Za-z0-9_-]{60,80})',
    { ...off, ...anywhere },
  ),
  rule('twilio-key', 'SK AC', '(?:SK|AC)[a-f0-9]{32}(?![A-Za-z0-9])', off),
  rule('mailgun-key', 'key-', 'key-[a-f0-9]{32}(?![A-Za-z0-9])', off),
  rule('linear-key', 'lin_api_ lin_oauth_', 'lin_(?:api|oauth)_[A-Za-z0-9]{32,64}', off),
  rule('grafana-token', 'glsa_ glc_', '(?:glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2})', off),
  rule('newrelic-key', 'NRAK-', 'NRAK-[A-Z0-9]{27}', off),
  rule('postman-key', 'PMAK-', 'PMAK-[a-f0-9]{24}-[a-f0-9]{34}', off),
  rule('notion-token', 'ntn_ secret_', '(?:ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43})(?![A-Za-z0-9])', off),
  rule('figma-token', 'figd_', 'figd_[A-Za-z0-9_-]{40,64}', off),
  rule('atlassian-token', 'ATATT3 ATCTT3', 'AT[AC]TT3[A-Za-z0-9_=-]{40,512}', off),
  rule('rubygems-key', 'rubygems_', 'rubygems_[a-f0-9]{48}', off),
  rule('sentry-token', 'sntrys_ sntryu_', 'sntry[su]_[A-Za-z0-9+/=_-]{40,512}', off),
  rule('square-token', 'sq0atp- sq0csp- EAAA', '(?:sq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}|EAAA[A-Za-z0-9+/=_-]{60})', off),
  rule('groq-key', 'gsk_', 'gsk_[A-Za-z0-9]{52}', off),
  rule('replicate-token', 'r8_', 'r8_[A-Za-z0-9]{37}(?![A-Za-z0-9])', off),
  rule('xai-key', 'xai-', 'xai-[A-Za-z0-9]{80}', off),
  rule('azure-sas', 'sig=', 'sig=([A-Za-z0-9%+/]{40,128}(?:%3[dD]|=))', off),
  rule('aws-signature', 'X-Amz-Signature=', 'X-Amz-Signature=([a-f0-9]{64})', off),
]

/** Each name once, in the order above. */
export const SHAPE_NAMES: readonly string[] = [...new Set(SHAPE_RULES.map(({ name }) => name))]
