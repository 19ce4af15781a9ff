import { isJsonObject } from "../../../src/protocol/json-object.ts";
import type { ServerNotification } from "../../../src/protocol/protocol-client.ts";
import type { Rule } from "../rule.ts";
import { messagesOf } from "../said.ts";

/** Exactly the members that a request or notification may have, of the types they may have. */
function isSoundAsking(message: unknown): boolean {
  if (!isJsonObject(message)) return false;
  const { jsonrpc, id, method, params, ...more } = message;
  return (
    jsonrpc === "2.0" &&
    typeof method === "string" &&
    (params === undefined || isJsonObject(params)) &&
    (id === undefined || typeof id === "string" || Number.isInteger(id)) &&
    Object.keys(more).length === 0
  );
}

export const connectionRules: readonly Rule[] = [
  {
    id: "notifications-are-passed-on",
    difference:
      "The core passes on every notification of the server; the SDK keeps `notifications/cancelled` to itself and drops one that has an unknown member or parameters that are no object.",
    reason:
      "Whoever listens decides what matters. The core has no requests of the server in progress that could be cancelled.",
    right: "either",
    explains: ({ pair, aspect, core, sdk }) => {
      if (aspect !== "notifications" || !Array.isArray(core)) return false;
      const odd = messagesOf(pair.transcript).filter((message) => !isSoundAsking(message));
      const left = (core as readonly ServerNotification[]).filter(
        ({ method }) =>
          method !== "notifications/cancelled" &&
          !odd.some((message) => isJsonObject(message) && message["method"] === method),
      );
      return JSON.stringify(left) === JSON.stringify(sdk);
    },
  },
  {
    id: "odd-requests-are-answered",
    difference:
      "A request of the server with an unknown member, a fractional id or parameters that are no object is answered by the core; the SDK drops it without an answer.",
    reason: "Who asks with an id waits for an answer, and the answer is the same for all of them.",
    right: "core",
    explains: ({ pair, aspect, core, sdk }) => {
      if (aspect !== "answers" || !Array.isArray(core) || !Array.isArray(sdk)) return false;
      const odd = messagesOf(pair.transcript).filter((message) => !isSoundAsking(message));
      const oddIds = odd.map((message) => (isJsonObject(message) ? message["id"] : undefined));
      const left = core.filter((text) => !oddIds.includes(JSON.parse(text as string).id));
      return left.every((text) => sdk.includes(text)) && left.length <= sdk.length;
    },
  },
];
