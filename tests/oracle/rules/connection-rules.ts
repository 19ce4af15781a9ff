import { isJsonObject, type JsonObject } from "../../../src/protocol/json-object.ts";
import type { ServerNotification } from "../../../src/protocol/protocol-client.ts";
import type { Pair } from "../compare.ts";
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
      const odd = oddAskings(pair).map(({ method, params }) => asPassedOn(method, params));
      const left = (core as readonly ServerNotification[]).filter((notification) => {
        if (notification.method === "notifications/cancelled") return false;
        const at = odd.indexOf(JSON.stringify(notification));
        if (at !== -1) odd.splice(at, 1);
        return at === -1;
      });
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
      const odd = oddAskings(pair).filter(({ id }) => id !== undefined);
      const extra = core.filter((answer) => !sdk.includes(answer));
      return sdk.every((answer) => core.includes(answer)) && extra.length <= odd.length;
    },
  },
];

function oddAskings({ transcript }: Pair): readonly JsonObject[] {
  return messagesOf(transcript)
    .filter((message) => isJsonObject(message))
    .filter((message) => "method" in message && !isSoundAsking(message));
}

function asPassedOn(method: unknown, params: unknown): string {
  return JSON.stringify({ method, ...(isJsonObject(params) && { params }) });
}
