// Which names and which web pages may speak to the server. Names are compared whole and with their port, so that a name
// which merely starts like ours, or was bound to our address afterwards, is refused before anything else is looked at.

export type AllowedOrigins = {
  /** Values of `Host`, in lower case. */
  readonly hosts: ReadonlySet<string>
  /** Values of `Origin`. */
  readonly origins: ReadonlySet<string>
}

export type OriginVerdict =
  | { readonly kind: 'ok' }
  | { readonly kind: 'refused'; readonly status: 400 | 403; readonly reason: string }

const HAS_PORT = /:[0-9]{1,5}$/
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

/**
 * The names of a server on this address and port: the loopback ones, the address itself, and those that the operator
 * adds. One that is added as `name:port` holds so and no other way; one without a port holds as it is, as behind a proxy on
 * a default port, and with the port of the server.
 */
export function allowedOrigins(host: string, port: number, added: readonly string[] = []): AllowedOrigins {
  const bound = host === '0.0.0.0' || host === '::' ? [] : [host.includes(':') ? `[${host}]` : host]
  const names = [...LOOPBACK, ...bound].map((name) => `${name}:${port}`.toLowerCase())
  const further = added.flatMap((name) => (HAS_PORT.test(name) ? [name] : [name, `${name}:${port}`]))
  const hosts = new Set([...names, ...further.map((name) => name.toLowerCase())])
  // A default port is left out by clients, and by browsers always.
  if (port === 80) for (const name of [...LOOPBACK, ...bound]) hosts.add(name.toLowerCase())
  const schemes = [...hosts].flatMap((name) =>
    names.includes(name) || LOOPBACK.includes(name) ? [`http://${name}`] : [`http://${name}`, `https://${name}`],
  )
  return { hosts, origins: new Set(schemes) }
}

/** `hosts`: every `Host` header that came; a request has exactly one. `origin`: undefined for callers that are no browser. */
export function judgeOrigin(
  allowed: AllowedOrigins,
  hosts: readonly string[],
  origin: string | undefined,
): OriginVerdict {
  const [host] = hosts
  if (host === undefined || hosts.length > 1)
    return { kind: 'refused', status: 400, reason: 'expected exactly one Host header' }
  if (!allowed.hosts.has(host.trim().toLowerCase()))
    return { kind: 'refused', status: 403, reason: 'this server does not answer to that name' }
  if (origin !== undefined && !allowed.origins.has(origin))
    return { kind: 'refused', status: 403, reason: 'pages of that origin may not speak to this server' }
  return { kind: 'ok' }
}
