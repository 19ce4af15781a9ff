interface AnyMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown } | undefined;
}

/** The id of a request; undefined for messages that are never answered. */
export function requestId(message: object): unknown {
  const { id, method } = message as AnyMessage;
  return method === undefined ? undefined : id;
}

/** The id of the request that a response answers; undefined for other messages. */
export function answeredId(message: unknown): unknown {
  const { id, method } = Object(message) as AnyMessage;
  return method === undefined ? id : undefined;
}

/** The id of the request that a message cancels; undefined for other messages. */
export function cancelledId(message: object): unknown {
  const { method, params } = message as AnyMessage;
  return method === "notifications/cancelled" ? params?.requestId : undefined;
}
