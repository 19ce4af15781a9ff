export interface ScriptedFetch {
  /** For the `fetch` option of a provider's client: there is no network behind it. */
  readonly fetch: typeof fetch;
  /** The JSON bodies that were sent, in order. */
  readonly requests: readonly Readonly<Record<string, unknown>>[];
}

/** A model on the other side of HTTP that answers one body after the other, whatever it is asked. */
export function scriptedFetch(bodies: readonly unknown[]): ScriptedFetch {
  const requests: Readonly<Record<string, unknown>>[] = [];
  return {
    requests,
    fetch: async (_address, init) => {
      init?.signal?.throwIfAborted();
      const answer = bodies[requests.length];
      const sent: unknown = await new Response(init?.body).json();
      requests.push(sent as Readonly<Record<string, unknown>>);
      return Response.json(answer);
    },
  };
}
