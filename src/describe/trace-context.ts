// The trace that a call belongs to, as W3C Trace Context writes it (https://www.w3.org/TR/trace-context/). It comes from
// outside and goes on to upstreams; nothing is decided by it.

export type TraceContext = {
  /** `version-traceid-parentid-flags`, 55 characters in version 00. */
  readonly traceparent: string
  /** Up to 512 characters. */
  readonly tracestate?: string
}
