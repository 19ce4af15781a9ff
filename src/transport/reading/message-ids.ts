interface AnyMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown } | undefined;
}

/** The id of a request; undefined for messages that nothing answers. */
export function requestId(message: object): unknown {
  const { id, method } = message as AnyMessage;
  return method === undefined ? undefined : id;
}

/** Which request a response answers. */
export function answeredId(message: unknown): unknown {
  const { id, method } = Object(message) as AnyMessage;
  return method === undefined ? id : undefined;
}

/** Which request a message calls off. */
export function cancelledId(message: object): unknown {
  const { method, params } = message as AnyMessage;
  return method === "notifications/cancelled" ? params?.requestId : undefined;
}
