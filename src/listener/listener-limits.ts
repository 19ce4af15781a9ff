/** Every bound of a listener with its default. */
export const defaultListenerLimits = {
  maxBodyBytes: 1_024 * 1_024,
  /** Request line and headers together. */
  maxHeaderBytes: 8 * 1_024,
  maxConnections: 256,
  maxConnectionsPerAddress: 50,
  headersTimeoutMs: 10_000,
  /** For the whole request to arrive; answers may stream for as long as they like. */
  requestTimeoutMs: 30_000,
  /** How often Node looks for requests past the two deadlines above. */
  connectionCheckMs: 1_000,
  /** How long a connection may wait for its next request. */
  keepAliveTimeoutMs: 5_000,
  /** What answers still being written get when the listener closes. */
  closeGraceMs: 1_000,
} as const satisfies Record<string, number>;

export type ListenerLimits = { readonly [K in keyof typeof defaultListenerLimits]: number };
